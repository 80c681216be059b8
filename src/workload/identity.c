// SPDX-License-Identifier: Apache-2.0
/*
 * The owners that labels name. Whatever is in no unit is the rest of the system, under the names
 * that dashboards know from classic Kepler. A name that does not fit is cut; its key then ends in a
 * hash of the whole, so that two long names that begin alike stay two owners.
 */
#include "workload/identity.h"

#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "workload/cgroup_unit.h"

static void set_all(struct identity *identity, enum owner_kind kind, const char *name,
		    const char *namespace)
{
	*identity = (struct identity){ .kind = kind };
	(void)snprintf(identity->container_id, IDENTITY_NAME_MAX, "%s", name);
	(void)snprintf(identity->container_name, IDENTITY_NAME_MAX, "%s", name);
	(void)snprintf(identity->pod_name, IDENTITY_NAME_MAX, "%s", name);
	(void)snprintf(identity->container_namespace, IDENTITY_NAME_MAX, "%s", namespace);
}

void identity_kernel(struct identity *ret)
{
	set_all(ret, OWNER_KERNEL, "kernel_processes", "kernel");
}

void identity_system(struct identity *ret)
{
	set_all(ret, OWNER_SYSTEM, "system_processes", "system");
}

static void copy_cut(char buf[static IDENTITY_NAME_MAX], const char *text, size_t len)
{
	size_t kept = len < IDENTITY_NAME_MAX ? len : IDENTITY_NAME_MAX - 1;

	memcpy(buf, text, kept);
	buf[kept] = '\0';
}

/* FNV-1a, 32 bits: to tell cut names apart, nothing more. */
static uint32_t hash_bytes(uint32_t hash, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619U;
	return hash;
}

/* "nginx.service", or for a user's unit "user-1000.slice/foo.service". */
static void set_key(struct identity *identity, const struct cgroup_unit *unit)
{
	char hash[10];
	size_t used = 0, len = unit->unit_len + (unit->scope ? unit->scope_len + 1 : 0);
	char *key = identity->container_id;

	if (unit->scope && unit->scope_len + 1 + sizeof(hash) < IDENTITY_NAME_MAX) {
		memcpy(key, unit->scope, unit->scope_len);
		key[unit->scope_len] = '/';
		used = unit->scope_len + 1;
	}
	if (len < IDENTITY_NAME_MAX) {
		memcpy(key + used, unit->unit, unit->unit_len);
		key[len] = '\0';
		return;
	}
	(void)snprintf(hash, sizeof(hash), "~%08x",
		       hash_bytes(hash_bytes(2166136261U, unit->scope, unit->scope_len), unit->unit,
				  unit->unit_len));
	len = IDENTITY_NAME_MAX - sizeof(hash) - used;
	if (unit->unit_len < len)
		len = unit->unit_len;
	memcpy(key + used, unit->unit, len);
	memcpy(key + used + len, hash, sizeof(hash));
}

void identity_from_unit(const struct cgroup_unit *unit, struct identity *ret)
{
	*ret = (struct identity){ .kind = OWNER_UNIT };
	set_key(ret, unit);
	copy_cut(ret->container_name, unit->unit, unit->unit_len);
	memcpy(ret->pod_name, ret->container_name, IDENTITY_NAME_MAX);
	copy_cut(ret->container_namespace, "system", sizeof("system") - 1);
}

void identity_from_path(const char *cgroup_path, struct identity *ret)
{
	struct cgroup_unit unit;

	if (cgroup_unit_find(cgroup_path, strlen(cgroup_path), &unit))
		identity_from_unit(&unit, ret);
	else
		identity_system(ret);
}

void identity_from_proc_cgroup(const char *text, struct identity *ret)
{
	struct cgroup_unit unit, best = { 0 };

	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n");
		const char *path = memchr(line, ':', len);

		path = path ? memchr(path + 1, ':', len - (size_t)(path + 1 - line)) : NULL;
		if (path && cgroup_unit_find(path + 1, (size_t)(line + len - path - 1), &unit) &&
		    unit.depth > best.depth)
			best = unit;
		line += len + (line[len] == '\n');
	}
	if (best.depth > 0)
		identity_from_unit(&best, ret);
	else
		identity_system(ret);
}

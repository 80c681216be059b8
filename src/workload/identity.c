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

#define FNV_START 2166136261U

/* Copies what fits of @text, terminated; returns how much that was. */
static size_t copy_cut(char *buf, size_t size, const char *text, size_t len)
{
	size_t kept = len < size ? len : size - 1;

	memcpy(buf, text, kept);
	buf[kept] = '\0';
	return kept;
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
	char *key = identity->container_id, hash_text[10];
	size_t scope_len = unit->scope ? unit->scope_len + 1 : 0, used = 0, len;
	uint32_t hash = hash_bytes(FNV_START, unit->unit, unit->unit_len);

	if (unit->scope) {
		hash = hash_bytes(hash, unit->scope, unit->scope_len);
		if (scope_len + sizeof(hash_text) < IDENTITY_NAME_MAX) {
			memcpy(key, unit->scope, unit->scope_len);
			key[unit->scope_len] = '/';
			used = scope_len;
		}
	}
	if (used == scope_len && used + unit->unit_len < IDENTITY_NAME_MAX) {
		(void)copy_cut(key + used, IDENTITY_NAME_MAX - used, unit->unit, unit->unit_len);
		return;
	}
	(void)snprintf(hash_text, sizeof(hash_text), "~%08x", hash);
	len = copy_cut(key + used, IDENTITY_NAME_MAX - used - sizeof(hash_text) + 1, unit->unit,
		       unit->unit_len);
	memcpy(key + used + len, hash_text, sizeof(hash_text));
}

void identity_from_unit(const struct cgroup_unit *unit, struct identity *ret)
{
	*ret = (struct identity){ .kind = OWNER_UNIT };
	set_key(ret, unit);
	(void)copy_cut(ret->container_name, IDENTITY_NAME_MAX, unit->unit, unit->unit_len);
	memcpy(ret->pod_name, ret->container_name, IDENTITY_NAME_MAX);
	(void)snprintf(ret->container_namespace, IDENTITY_NAME_MAX, "system");
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

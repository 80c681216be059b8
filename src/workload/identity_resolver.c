// SPDX-License-Identifier: Apache-2.0
/*
 * cgroup id → owner, remembered. A row of the cache is the kind and the two names that differ,
 * packed in one allocation: a thousand cgroups take some 60 kB. At the limit the cache is emptied,
 * which costs one look-up a cgroup again. What could not be found out is not remembered: the next
 * process of that cgroup may tell.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/map.h"
#include "workload/cgroup_unit.h"
#include "workload/hierarchy.h"
#include "workload/identity.h"

#define PROC_CGROUP_MAX (16U << 10) /* v1: a dozen lines of up to PATH_MAX; what is beyond is cut */
#define CGROUPS_DEFAULT 16384
#define CGROUP_PATH_MAX 4352 /* PATH_MAX and the mount's own path */

struct cached {
	enum owner_kind kind;
	char names[]; /* container id and container name, each terminated */
};

struct identity_resolver {
	struct hierarchy hierarchy;
	int proc_fd;
	struct map map; /* cgroup id → index of rows */
	struct cached **rows;
	uint32_t count, size, limit;
	struct identity current;
	char text[PROC_CGROUP_MAX];
};

static struct map_key key_of(uint64_t cgroup_id)
{
	return (struct map_key){ 0, cgroup_id };
}

static void forget_all(struct identity_resolver *resolver)
{
	for (uint32_t i = 0; i < resolver->count; i++)
		free(resolver->rows[i]);
	resolver->count = 0;
	map_release(&resolver->map);
}

static struct cached *pack(const struct identity *identity)
{
	size_t id_size = strlen(identity->container_id) + 1;
	size_t name_size = strlen(identity->container_name) + 1;
	struct cached *row = malloc(sizeof(*row) + id_size + name_size);

	if (!row)
		return NULL;
	row->kind = identity->kind;
	memcpy(row->names, identity->container_id, id_size);
	memcpy(row->names + id_size, identity->container_name, name_size);
	return row;
}

static void unpack(const struct cached *row, struct identity *ret)
{
	const char *name = row->names + strlen(row->names) + 1;

	if (row->kind == OWNER_SYSTEM) {
		identity_system(ret);
		return;
	}
	ret->kind = row->kind;
	(void)snprintf(ret->container_id, IDENTITY_NAME_MAX, "%s", row->names);
	(void)snprintf(ret->container_name, IDENTITY_NAME_MAX, "%s", name);
	(void)snprintf(ret->pod_name, IDENTITY_NAME_MAX, "%s", name);
	(void)snprintf(ret->container_namespace, IDENTITY_NAME_MAX, "system");
}

static int grow(struct identity_resolver *resolver)
{
	uint32_t size = resolver->size ? resolver->size * 2 : 64;
	struct cached **rows = realloc(resolver->rows, size * sizeof(struct cached *));

	if (!rows)
		return -ENOMEM;
	resolver->rows = rows;
	resolver->size = size;
	return 0;
}

/* Without memory it is simply looked up again the next time. */
static void remember(struct identity_resolver *resolver, uint64_t cgroup_id,
		     const struct identity *identity)
{
	struct cached *row;

	if (resolver->count >= resolver->limit)
		forget_all(resolver);
	if (resolver->count == resolver->size && grow(resolver) < 0)
		return;
	row = pack(identity);
	if (!row)
		return;
	if (map_put(&resolver->map, key_of(cgroup_id), resolver->count) < 0)
		free(row);
	else
		resolver->rows[resolver->count++] = row;
}

static int look_up_by_id(struct identity_resolver *resolver, uint64_t cgroup_id,
			 struct identity *ret)
{
	int r;

	_Static_assert(PROC_CGROUP_MAX >= CGROUP_PATH_MAX, "the buffer serves both");
	if (cgroup_id == 0)
		return -ENODATA;
	r = hierarchy_path(&resolver->hierarchy, cgroup_id, resolver->text, sizeof(resolver->text));
	if (r < 0)
		return r;
	identity_from_path(resolver->text, ret);
	return 0;
}

static int look_up_by_pid(struct identity_resolver *resolver, uint32_t pid, struct identity *ret)
{
	char path[32];
	ssize_t len;

	if (resolver->proc_fd < 0 || pid == 0)
		return -ENODATA;
	(void)snprintf(path, sizeof(path), "%u/cgroup", pid);
	len = read_file_at(resolver->proc_fd, path, resolver->text, sizeof(resolver->text));
	if (len < 0 && len != -EFBIG)
		return (int)len;
	resolver->text[len < 0 ? PROC_CGROUP_MAX - 1 : (size_t)len] = '\0';
	identity_from_proc_cgroup(resolver->text, ret);
	return 0;
}

const struct identity *identity_resolve(struct identity_resolver *resolver, uint64_t cgroup_id,
					uint32_t pid, bool kthread)
{
	struct identity *current = &resolver->current;
	uint32_t row;

	if (kthread) {
		identity_kernel(current);
		return current;
	}
	row = cgroup_id ? map_find(&resolver->map, key_of(cgroup_id)) : MAP_NONE;
	if (row != MAP_NONE) {
		unpack(resolver->rows[row], current);
		return current;
	}
	if (look_up_by_id(resolver, cgroup_id, current) < 0 &&
	    look_up_by_pid(resolver, pid, current) < 0) {
		identity_system(current);
		return current;
	}
	if (cgroup_id)
		remember(resolver, cgroup_id, current);
	return current;
}

const char *identity_resolver_controller(const struct identity_resolver *resolver)
{
	return resolver->hierarchy.controller;
}

void identity_resolver_close(struct identity_resolver *resolver)
{
	if (!resolver)
		return;
	forget_all(resolver);
	free(resolver->rows);
	hierarchy_release(&resolver->hierarchy);
	if (resolver->proc_fd >= 0)
		(void)close(resolver->proc_fd);
	free(resolver);
}

int identity_resolver_open(const struct identity_options *options, struct identity_resolver **ret)
{
	struct identity_resolver *resolver = calloc(1, sizeof(*resolver));

	if (!resolver)
		return -ENOMEM;
	resolver->limit = options->max_cgroups ? options->max_cgroups : CGROUPS_DEFAULT;
	map_init(&resolver->map, resolver->limit);
	resolver->proc_fd = open(options->procfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	hierarchy_open(options->cgroupfs, &resolver->hierarchy);
	*ret = resolver;
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "workload/resident_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/map.h"
#include "base/num.h"
#include "workload/cgroup/hierarchy.h"
#include "workload/numa_stat.h"

#define PATH_BYTES 4096
#define STAT_BYTES 8192
#define NUMA_BYTES 65536 /* lines of v2, each with all nodes */

struct resident_memory {
	struct hierarchy hierarchy;
	int memory_fd; /* root of the hierarchy with the controller; the same as above with v2 */
	uint64_t every_ns;
	struct map places; /* of cgroups in the list */
	struct resident_cgroup *list;
	size_t count, size;
	struct numa_nodes nodes;
	uint64_t (*sockets)[SOCKETS_MAX]; /* [size] of the list, with nodes */
	size_t sockets_size;
	char *numa_text; /* [NUMA_BYTES], with nodes */
	size_t next;     /* where the next refresh goes on */
};

static struct map_key key_of(uint64_t cgroup_id)
{
	return (struct map_key){ 0, cgroup_id };
}

static bool is_v2(const struct resident_memory *memory)
{
	return !memory->hierarchy.controller[0];
}

static void cleanup_memory(struct resident_memory **memory)
{
	resident_memory_close(*memory);
}

int resident_memory_open(const char *cgroupfs, uint64_t every_ns, struct resident_memory **ret)
{
	CLEANUP(cleanup_memory) struct resident_memory *memory = calloc(1, sizeof(*memory));
	char path[PATH_BYTES];

	if (!memory)
		return -ENOMEM;
	memory->memory_fd = -1;
	memory->every_ns = every_ns;
	map_init(&memory->places, RESIDENT_CGROUPS_MAX);
	hierarchy_open(cgroupfs, &memory->hierarchy);
	if (memory->hierarchy.fd < 0)
		return -ENODEV;
	if (is_v2(memory)) {
		memory->memory_fd = fcntl(memory->hierarchy.fd, F_DUPFD_CLOEXEC, 0);
	} else {
		if (path_join(path, sizeof(path), cgroupfs, "memory") < 0)
			return -ENAMETOOLONG;
		memory->memory_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (memory->memory_fd < 0)
		return errno == ENOENT ? -ENODEV : -errno;
	*ret = TAKE_PTR(memory);
	return 0;
}

void resident_memory_close(struct resident_memory *memory)
{
	if (!memory)
		return;
	hierarchy_release(&memory->hierarchy);
	if (memory->memory_fd >= 0)
		(void)close(memory->memory_fd);
	map_release(&memory->places);
	free(memory->list);
	free(memory->sockets);
	free(memory->numa_text);
	free(memory);
}

void resident_memory_follow(struct resident_memory *memory, uint64_t cgroup_id)
{
	uint32_t place = (uint32_t)memory->count;

	if (!cgroup_id || map_find(&memory->places, key_of(cgroup_id)) != MAP_NONE)
		return;
	if (ARRAY_RESERVE(memory->list, memory->size, memory->count + 1) < 0 ||
	    map_put(&memory->places, key_of(cgroup_id), place) < 0)
		return;
	memory->list[place] = (struct resident_cgroup){ .cgroup_id = cgroup_id, .bytes = -1 };
	memory->count++;
}

static void unfollow(struct resident_memory *memory, size_t place)
{
	struct resident_cgroup *last = &memory->list[memory->count - 1];

	(void)map_remove(&memory->places, key_of(memory->list[place].cgroup_id));
	if (place != memory->count - 1) {
		memory->list[place] = *last;
		if (last->is_placed)
			memcpy(memory->sockets[place], memory->sockets[memory->count - 1],
			       sizeof(*memory->sockets));
		/* It is in the map already, so this takes no memory. */
		(void)map_put(&memory->places, key_of(last->cgroup_id), (uint32_t)place);
	}
	memory->count--;
}

/* The number behind @name at the start of a line, or -1. */
static int64_t number_of(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, len) == 0 && line[len] == ' ') {
			char *end;
			long long number = strtoll(line + len + 1, &end, 10);

			return end != line + len + 1 && number >= 0 ? number : -1;
		}
	}
	return -1;
}

int64_t resident_memory_of_stat(const char *text)
{
	int64_t cache = number_of(text, "cache"), rss = number_of(text, "rss");

	return cache < 0 || rss < 0 || cache > INT64_MAX - rss ? -1 : cache + rss;
}

static int64_t read_bytes(const struct resident_memory *memory, const char *path)
{
	char file[PATH_BYTES], text[STAT_BYTES];
	const char *inside = path[1] ? path + 1 : ".";
	int len = snprintf(file, sizeof(file), "%s/%s", inside,
			   is_v2(memory) ? "memory.current" : "memory.stat");
	long long number;
	char *end;

	if (len < 0 || (size_t)len >= sizeof(file) ||
	    read_file_at(memory->memory_fd, file, text, sizeof(text)) <= 0)
		return -1;
	if (!is_v2(memory))
		return resident_memory_of_stat(text);
	number = strtoll(text, &end, 10);
	return end != text && number >= 0 ? number : -1;
}

/* At which sockets the memory of the cgroup at @index of the list is; false: not known. */
static bool read_places(struct resident_memory *memory, const char *path, size_t index)
{
	uint64_t nodes[NUMA_NODES_MAX], sum, bytes = (uint64_t)memory->list[index].bytes;
	char file[PATH_BYTES];
	int len = snprintf(file, sizeof(file), "%s/memory.numa_stat", path[1] ? path + 1 : ".");

	if (!memory->nodes.count || memory->list[index].bytes < 0 || len < 0 ||
	    (size_t)len >= sizeof(file) ||
	    read_file_at(memory->memory_fd, file, memory->numa_text, NUMA_BYTES) <= 0 ||
	    !numa_stat_parse(memory->numa_text, is_v2(memory), nodes, &sum) ||
	    ARRAY_RESERVE(memory->sockets, memory->sockets_size, memory->count) < 0)
		return false;
	memset(memory->sockets[index], 0, sizeof(*memory->sockets));
	for (size_t node = 0; node < NUMA_NODES_MAX; node++) {
		if (memory->nodes.place[node] < SOCKETS_MAX)
			memory->sockets[index][memory->nodes.place[node]] +=
				muldiv_u64(bytes, nodes[node], sum);
	}
	return true;
}

void resident_memory_tell_nodes(struct resident_memory *memory, const struct numa_nodes *nodes)
{
	if (nodes->count && !memory->numa_text)
		memory->numa_text = malloc(NUMA_BYTES);
	memory->nodes = *nodes;
	if (!memory->numa_text)
		memory->nodes.count = 0;
}

void resident_memory_refresh(struct resident_memory *memory, uint64_t now_ns)
{
	int reads = RESIDENT_READS;
	size_t left = memory->count;

	for (; left && reads; left--) {
		struct resident_cgroup *it;
		char path[PATH_BYTES];

		memory->next = memory->next < memory->count ? memory->next : 0;
		it = &memory->list[memory->next];
		if (it->read_ns && now_ns - it->read_ns < memory->every_ns) {
			memory->next++;
			continue;
		}
		reads--;
		if (hierarchy_path(&memory->hierarchy, it->cgroup_id, path, sizeof(path)) < 0) {
			unfollow(memory, memory->next);
			continue;
		}
		it->bytes = read_bytes(memory, path);
		it->is_placed = read_places(memory, path, memory->next);
		it->read_ns = now_ns;
		memory->next++;
	}
}

const struct resident_cgroup *resident_memory_list(const struct resident_memory *memory,
						   size_t *ret_count)
{
	*ret_count = memory->count;
	return memory->list;
}

const uint64_t *resident_memory_places(const struct resident_memory *memory, size_t index)
{
	return memory->sockets[index];
}

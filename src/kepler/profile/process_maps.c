// SPDX-License-Identifier: Apache-2.0
#include "kepler/profile/process_maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void process_maps_release(struct process_maps *maps)
{
	free(maps->maps);
	*maps = (struct process_maps){ .count = 0 };
}

void process_maps_clear(struct process_maps *maps)
{
	maps->count = 0;
}

static bool is_inside(const struct process_map *map, const struct process_map *other)
{
	return map->start >= other->start && map->start + map->len <= other->start + other->len;
}

void process_maps_add(struct process_maps *maps, const struct process_map *map)
{
	size_t kept = 0;

	for (size_t i = 0; i < maps->count; i++) {
		if (!is_inside(&maps->maps[i], map))
			maps->maps[kept++] = maps->maps[i];
	}
	maps->count = kept;
	if (kept < PROCESS_MAPS_MAX && ARRAY_RESERVE(maps->maps, maps->size, kept + 1) == 0)
		maps->maps[maps->count++] = *map;
}

void process_maps_copy(struct process_maps *maps, const struct process_maps *from)
{
	maps->count = 0;
	if (!from->count || ARRAY_RESERVE(maps->maps, maps->size, from->count) < 0)
		return;
	memcpy(maps->maps, from->maps, from->count * sizeof(*maps->maps));
	maps->count = from->count;
}

/* "START-END r-xp OFFSET MAJOR:MINOR INODE    PATH" */
static void read_line(struct process_maps *maps, char *line, struct mapped_files *files)
{
	uint64_t start, end, offset, inode;
	char access[5];
	int path_at = 0;
	struct process_map map;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*x:%*x %" SCNu64 " %n", &start,
		   &end, access, &offset, &inode, &path_at) < 5 ||
	    access[2] != 'x' || end <= start)
		return;
	map = (struct process_map){ start, end - start, offset,
				    mapped_files_add(files, line + path_at, inode) };
	if (map.file != MAPPED_FILE_NONE)
		process_maps_add(maps, &map);
}

void process_maps_read(struct process_maps *maps, uint32_t pid, struct mapped_files *files)
{
	char path[32], *line = NULL;
	size_t size = 0;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	file = fopen(path, "re");
	if (!file)
		return;
	for (unsigned i = 0; i < 65536 && getline(&line, &size, file) > 0; i++)
		read_line(maps, line, files);
	free(line);
	(void)fclose(file);
}

const struct process_map *process_maps_find(const struct process_maps *maps, uint64_t address)
{
	for (size_t i = maps->count; i-- > 0;) {
		if (address - maps->maps[i].start < maps->maps[i].len)
			return &maps->maps[i];
	}
	return NULL;
}

// SPDX-License-Identifier: Apache-2.0
#include "kepler/profile/process_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"

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

/* Moves @text to what follows a number and @end; false: there is something else. */
static bool take(char **text, int base, char end, uint64_t *ret)
{
	char *after;

	errno = 0;
	*ret = strtoull(*text, &after, base);
	if (after == *text || *after != end || errno)
		return false;
	*text = after + 1;
	return true;
}

/* "START-END r-xp OFFSET MAJOR:MINOR INODE    PATH"; returns where the next line may begin. */
static uint64_t read_line(struct process_maps *maps, char *line, struct mapped_files *files)
{
	uint64_t start, end, offset, major, minor, inode;
	struct process_map map;
	bool is_code;

	if (!take(&line, 16, '-', &start) || !take(&line, 16, ' ', &end) || strlen(line) < 5)
		return 0;
	is_code = line[2] == 'x';
	line += 5;
	if (!is_code || end <= start || !take(&line, 16, ' ', &offset) ||
	    !take(&line, 16, ':', &major) || !take(&line, 16, ' ', &minor) ||
	    !take(&line, 10, ' ', &inode))
		return end;
	line += strspn(line, " ");
	map = (struct process_map){ start, end - start, offset,
				    mapped_files_add(files, line, inode, major << 32 | minor) };
	if (map.file != MAPPED_FILE_NONE)
		process_maps_add(maps, &map);
	return end;
}

bool process_maps_read(struct process_maps *maps, uint32_t pid, struct mapped_files *files,
		       struct name_reader *reader)
{
	CLEANUP_FREE char *text = malloc(TIMED_CALL_MAX + 1);
	uint64_t from = 0;
	ssize_t len;

	for (size_t count = 0; text && count < PROCESS_MAPS_MAX;) {
		uint64_t before = from;

		len = name_reader_maps(reader, pid, from, text);
		if (len < 0)
			return false;
		for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1, count++) {
			uint64_t next;

			*end = '\0';
			next = read_line(maps, line, files);
			from = next > from ? next : from;
		}
		if (from == before)
			break;
	}
	return true;
}

const struct process_map *process_maps_find(const struct process_maps *maps, uint64_t address)
{
	for (size_t i = maps->count; i-- > 0;) {
		if (address - maps->maps[i].start < maps->maps[i].len)
			return &maps->maps[i];
	}
	return NULL;
}

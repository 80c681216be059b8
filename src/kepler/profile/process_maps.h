/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a process' address space can be executed: which file is at an address? A later mapping
 * covers the earlier ones. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kepler/profile/mapped_files.h"
#include "kepler/profile/name_reader.h"

#define PROCESS_MAPS_MAX 4096

struct process_map {
	uint64_t start, len, offset;
	uint32_t file;
};

struct process_maps {
	struct process_map *maps; /* [count], the newest last */
	size_t count, size;
};

void process_maps_release(struct process_maps *maps);
void process_maps_clear(struct process_maps *maps);
/* Without room or memory its addresses have no name. */
void process_maps_add(struct process_maps *maps, const struct process_map *map);
void process_maps_copy(struct process_maps *maps, const struct process_maps *from);
/*
 * Adds what /proc/PID/maps has now; nothing if the process is gone. False: it cannot be read,
 * because the process holds its lock.
 */
bool process_maps_read(struct process_maps *maps, uint32_t pid, struct mapped_files *files,
		       struct name_reader *reader);
/* NULL: nothing is known there. */
const struct process_map *process_maps_find(const struct process_maps *maps, uint64_t address);

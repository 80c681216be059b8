/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that sampled processes map, each once, and frames for their functions. A file is opened
 * with the first sample in it, as the process sees it: through /proc/PID/map_files, or the root of
 * the process or of its parent, so that files of containers are found. Another file that has taken
 * its place by then is not read. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

#define MAPPED_FILES_MAX      16384U
#define MAPPED_FILES_OPEN_MAX 600U
#define MAPPED_FILE_NONE      UINT32_MAX

struct mapped_files;

/* How to open a file of a process. */
struct mapped_place {
	uint32_t pid, parent;
	uint64_t start, len; /* of the mapping */
};

int mapped_files_new(struct profile *profile, struct mapped_files **ret); /* 0 or -ENOMEM */
void mapped_files_free(struct mapped_files *files);                       /* NULL is fine */
/* Its number; MAPPED_FILE_NONE if there is no room. @inode: 0, not known. */
uint32_t mapped_files_add(struct mapped_files *files, const char *path, uint64_t inode);
/* Is it memory without a file, in which a runtime may have put what it compiled? */
bool mapped_files_is_memory(const struct mapped_files *files, uint32_t file);
/* Is it the C library or the dynamic linker, in which threads begin? */
bool mapped_files_is_start(const struct mapped_files *files, uint32_t file);
/* The frame of the function at @offset of a file; of one without a name, the frame "[FILE]". */
uint32_t mapped_files_frame(struct mapped_files *files, uint32_t number, uint64_t offset,
			    const struct mapped_place *place);
/* Times that a file was not opened because too many are. */
uint64_t mapped_files_refused(const struct mapped_files *files);

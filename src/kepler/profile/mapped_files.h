/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that sampled processes map, each once, and frames for their functions. A file is opened
 * with the first sample in it, as the process sees it: through /proc/PID/map_files, or the root of
 * the process or of its parent, so that files of containers are found. Another file that has taken
 * its place by then is not read. One thread.
 *
 * A file that does not answer has frames "[unreadable]". The process may be the cause, because it
 * holds the lock of its memory or has a root of its own, so its caller asks for it no more. After
 * the second process, the file system is not asked again, unless one of its files has answered.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kepler/profile/name_reader.h"
#include "profile/profile.h"

#define MAPPED_FILES_MAX NAME_READER_FILES_MAX
#define MAPPED_FILE_NONE UINT32_MAX

struct mapped_files;

/* 0 or -ENOMEM. @reader is borrowed. */
int mapped_files_new(struct profile *profile, struct name_reader *reader,
		     struct mapped_files **ret);
void mapped_files_free(struct mapped_files *files); /* NULL is fine */
/*
 * Its number; MAPPED_FILE_NONE if there is no room. @inode: 0, not known. @device: of its file
 * system, major number << 32 | minor number.
 */
uint32_t mapped_files_add(struct mapped_files *files, const char *path, uint64_t inode,
			  uint64_t device);
/* Is it memory without a file, in which a runtime may have put what it compiled? */
bool mapped_files_is_memory(const struct mapped_files *files, uint32_t file);
/* Is it the C library or the dynamic linker, in which threads begin? */
bool mapped_files_is_start(const struct mapped_files *files, uint32_t file);
/* Frames of an address, the outermost first; valid until the next call. */
struct frame_list {
	const uint32_t *frames; /* [count] */
	size_t count;           /* 1 or more */
};

/*
 * The frame of the function at @offset of a file, and those of functions that are inlined in it
 * there; without a name, the frame "[FILE]". The members of @place that say which file are
 * filled in. @asks: if the name is not known yet. "[unreadable]": the process is not to be asked
 * for any more.
 */
struct frame_list mapped_files_frames(struct mapped_files *files, uint32_t number, uint64_t offset,
				      struct mapped_place *place, bool asks);
/* A list of one frame. */
struct frame_list mapped_files_single(struct mapped_files *files, uint32_t frame);
/*
 * How to find the caller of the function at @offset of a file, as above: UNWIND_UNKNOWN without
 * unwind tables, and if they cannot be read or may not be asked for. 0, or -ETIMEDOUT: the process
 * is not to be asked for any more.
 */
int mapped_files_unwind(struct mapped_files *files, uint32_t number, uint64_t offset,
			struct mapped_place *place, bool asks, struct unwind_rule *ret);
/* The frame "[unreadable]". */
uint32_t mapped_files_unreadable(struct mapped_files *files);
/* Times that a file was not opened because too many are. */
uint64_t mapped_files_refused(const struct mapped_files *files);

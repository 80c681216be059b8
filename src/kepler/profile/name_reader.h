/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions, and the files that a process maps, read by a process of its own. A read of a
 * file of another process may never end: the file is on a file system in user space that does not
 * answer, or the process holds the lock of its memory in a page fault on such a file. Each of that
 * costs the deadline once, and the reading process is abandoned; the next question starts another,
 * up to NAME_READER_HANGS_MAX. Files of the abandoned process are opened again. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/timed_call.h"
#include "kepler/profile/inline_table.h"
#include "kepler/profile/program_file.h"
#include "profile/stack_walk.h"

#define NAME_READER_HANGS_MAX 8U
#define NAME_READER_FILES_MAX 16384U
#define NAME_READER_OPEN_MAX  600U

struct name_reader {
	struct timed_call *call;        /* NULL: not started */
	struct name_question *question; /* in memory that is shared with its process */
	uint32_t hangs;
};

/* A file as a process has mapped it. */
struct mapped_place {
	uint32_t pid, parent;
	uint64_t start, len; /* of the mapping */
	uint64_t inode;      /* 0: not known */
	bool is_start;       /* the C library or the dynamic linker: no inlined functions */
	uint32_t file;       /* the caller's number of the file, below NAME_READER_FILES_MAX */
	const char *path;
};

struct function_name {
	bool is_open;    /* the file has been read, so that its build id is known */
	bool is_refused; /* it has not because too many are open */
	char build_id[PROGRAM_BUILD_ID_MAX]; /* hexadecimal; "": none */
	char name[PROGRAM_NAME_MAX];         /* demangled; "": not known */
	/* Functions that are inlined there, the outermost first. */
	uint32_t inlined_count;
	char inlined[INLINED_MAX][PROGRAM_NAME_MAX];
};

void name_reader_close(struct name_reader *reader);
/* 0; -ETIMEDOUT: the file does not answer, or too many did not; another -errno. */
int name_reader_function(struct name_reader *reader, const struct mapped_place *place,
			 uint64_t offset, struct function_name *ret);
/* How to find the caller of a function at @offset, by its file's unwind tables. As above. */
int name_reader_unwind(struct name_reader *reader, const struct mapped_place *place,
		       uint64_t offset, struct unwind_rule *ret);
/*
 * The function that a runtime compiled at @address; @reads: its list may be read again if it has no
 * such function. As above.
 */
int name_reader_compiled(struct name_reader *reader, uint32_t pid, uint64_t address, bool reads,
			 char ret[static PROGRAM_NAME_MAX]);
/* The process has ended or executes another program: what it compiled is forgotten. */
void name_reader_forget(struct name_reader *reader, uint32_t pid);
/*
 * Lines of /proc/PID/maps of what can be executed, from address @from on, at most TIMED_CALL_MAX
 * bytes of whole lines, terminated. Their length, 0 after the last; an -errno as above.
 */
ssize_t name_reader_maps(struct name_reader *reader, uint32_t pid, uint64_t from,
			 char ret[static TIMED_CALL_MAX + 1]);

// SPDX-License-Identifier: Apache-2.0
/*
 * A question lies in memory that both processes share, and timed_call_make() says that it is there.
 * Each reading process has memory of its own, so that one that is late reads no question that is
 * meant for its successor. No parser of a file's content works in the process that measures.
 */
#include "kepler/profile/name_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/macro.h"
#include "kepler/profile/jit_names.h"
#include "kepler/profile/root_file.h"
#include "kepler/profile/unwind_table.h"

#define RUNTIMES_MAX 1024 /* processes with lists of what they compiled */

enum question_kind { ASK_FUNCTION, ASK_UNWIND, ASK_COMPILED, ASK_FORGET, ASK_MAPS };

struct name_question {
	enum question_kind kind;
	struct mapped_place place; /* its path is not used */
	uint64_t address;          /* or offset */
	bool reads;
	char path[PATH_MAX];
};

/* ---- in the reading process ---- */

struct read_file {
	struct program_file *program; /* NULL: it is not a program */
	struct unwind_table *unwind;  /* NULL: it has none, or it was not asked for */
	struct inline_table *inlined; /* NULL: the same */
	bool is_opened, is_refused, is_unwind_opened, is_inlined_opened;
};

struct runtime {
	uint32_t pid; /* 0: a hole */
	struct jit_names names;
};

struct reading {
	const struct name_question *question;
	struct read_file *files; /* [count], by number */
	size_t count, size, open;
	struct runtime *runtimes; /* [runtime_count] */
	size_t runtime_count, runtime_size;
};

/*
 * @fd, unless it is another file than the one that was mapped. On overlayfs the mapping may have
 * the number of the layer below.
 */
static int keep_same(int fd, const struct stat *status, uint64_t inode)
{
	struct statfs fs;

	if (fd < 0 || !inode || status->st_ino == inode ||
	    (fstatfs(fd, &fs) == 0 && fs.f_type == OVERLAYFS_SUPER_MAGIC))
		return fd;
	(void)close(fd);
	return -ESTALE;
}

static int open_file(const struct mapped_place *place, const char *file)
{
	const uint32_t roots[] = { place->pid, place->parent };
	struct stat status = { 0 };
	char path[80];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, place->pid,
		       place->start, place->start + place->len);
	fd = keep_same(regular_file_open(path, &status), &status, place->inode);
	for (size_t i = 0; fd < 0 && i < ARRAY_SIZE(roots); i++)
		fd = keep_same(root_file_open(roots[i], file, &status), &status, place->inode);
	return fd < 0 ? keep_same(regular_file_open(file, &status), &status, place->inode) : fd;
}

static void open_program(struct reading *reading, struct read_file *file)
{
	int fd;

	file->is_opened = true;
	file->is_refused = reading->open >= NAME_READER_OPEN_MAX;
	if (file->is_refused)
		return;
	fd = open_file(&reading->question->place, reading->question->path);
	if (fd >= 0 && program_file_open(fd, &file->program) == 0)
		reading->open++;
}

/* The file of the question, opened; NULL: no room or memory. */
static struct read_file *asked_file(struct reading *reading)
{
	size_t number = reading->question->place.file;
	struct read_file *file;

	if (number >= NAME_READER_FILES_MAX ||
	    ARRAY_RESERVE(reading->files, reading->size, number + 1) < 0)
		return NULL;
	for (; reading->count <= number; reading->count++)
		reading->files[reading->count] = (struct read_file){ .program = NULL };
	file = &reading->files[number];
	if (!file->is_opened)
		open_program(reading, file);
	return file;
}

/* The debugging information is in the program, or in a file of its own. */
static void open_inlined(const struct name_question *question, struct read_file *file)
{
	int fd = open_file(&question->place, question->path);

	file->is_inlined_opened = true;
	if (fd >= 0 && inline_table_open(fd, &file->inlined) == -ENOENT) {
		fd = program_file_open_debug(file->program);
		if (fd >= 0)
			(void)inline_table_open(fd, &file->inlined);
	}
}

static void find_inlined(const struct name_question *question, struct read_file *file,
			 struct function_name *ret)
{
	uint64_t address;

	if (!file->is_inlined_opened)
		open_inlined(question, file);
	if (file->inlined && program_file_address(file->program, question->address, &address))
		ret->inlined_count =
			(uint32_t)inline_table_find(file->inlined, address, ret->inlined);
}

static ssize_t find_function(struct reading *reading, struct function_name *ret)
{
	struct read_file *file = asked_file(reading);

	if (!file)
		return -ENOMEM;
	ret->is_open = file->program;
	ret->is_refused = file->is_refused;
	if (file->program) {
		const char *build_id = program_file_build_id(file->program);

		(void)snprintf(ret->build_id, sizeof(ret->build_id), "%s",
			       build_id ? build_id : "");
		if (program_file_find(file->program, reading->question->address, ret->name) < 0)
			ret->name[0] = '\0';
		else if (!reading->question->place.is_start)
			find_inlined(reading->question, file, ret);
	}
	return sizeof(*ret);
}

static ssize_t find_unwind_rule(struct reading *reading, struct unwind_rule *ret)
{
	const struct name_question *question = reading->question;
	struct read_file *file = asked_file(reading);
	uint64_t address;

	if (!file)
		return -ENOMEM;
	if (file->program && !file->is_unwind_opened) {
		int fd = open_file(&question->place, question->path);

		file->is_unwind_opened = true;
		if (fd >= 0)
			(void)unwind_table_open(fd, &file->unwind);
	}
	if (file->unwind && program_file_address(file->program, question->address, &address))
		*ret = unwind_table_find(file->unwind, address);
	return sizeof(*ret);
}

static struct runtime *find_runtime(struct reading *reading, uint32_t pid)
{
	for (size_t i = 0; i < reading->runtime_count; i++) {
		if (reading->runtimes[i].pid == pid)
			return &reading->runtimes[i];
	}
	return NULL;
}

/* In a hole, or at the end; NULL: no room. */
static struct runtime *add_runtime(struct reading *reading, uint32_t pid)
{
	struct runtime *runtime = find_runtime(reading, 0);

	if (!runtime) {
		if (reading->runtime_count >= RUNTIMES_MAX ||
		    ARRAY_RESERVE(reading->runtimes, reading->runtime_size,
				  reading->runtime_count + 1) < 0)
			return NULL;
		runtime = &reading->runtimes[reading->runtime_count++];
	}
	*runtime = (struct runtime){ pid, JIT_NAMES_INIT };
	return runtime;
}

static ssize_t find_compiled(struct reading *reading, char *ret)
{
	const struct name_question *question = reading->question;
	struct runtime *runtime = find_runtime(reading, question->place.pid);
	const char *name;

	if (!runtime)
		runtime = add_runtime(reading, question->place.pid);
	if (!runtime)
		return -ENOMEM;
	if (question->reads)
		jit_names_begin_interval(&runtime->names);
	name = jit_names_find(&runtime->names, runtime->pid, question->address);
	(void)snprintf(ret, PROGRAM_NAME_MAX, "%s", name ? name : "");
	return PROGRAM_NAME_MAX;
}

static void forget(struct reading *reading)
{
	struct runtime *runtime = find_runtime(reading, reading->question->place.pid);

	if (!runtime)
		return;
	jit_names_release(&runtime->names);
	runtime->pid = 0;
}

/* "START-END r-xp …": does it begin at @from or later, and can it be executed? */
static bool is_wanted(const char *line, uint64_t from)
{
	const char *flags = strchr(line, ' ');

	return flags && strlen(flags) > 4 && flags[3] == 'x' && strtoull(line, NULL, 16) >= from;
}

static ssize_t read_maps(const struct reading *reading, char *ret)
{
	char path[32], *line = NULL;
	size_t size = 0, len = 0;
	ssize_t n;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%u/maps", reading->question->place.pid);
	file = fopen(path, "re");
	if (!file)
		return 0; /* it has ended */
	while ((n = getline(&line, &size, file)) > 0 && len + (size_t)n <= TIMED_CALL_MAX) {
		if (!is_wanted(line, reading->question->address))
			continue;
		memcpy(ret + len, line, (size_t)n);
		len += (size_t)n;
	}
	free(line);
	(void)fclose(file);
	return (ssize_t)len;
}

/* A timed_call_fn: a struct reading as @state. */
static ssize_t answer(void *state, void *ret)
{
	struct reading *reading = state;

	memset(ret, 0, sizeof(struct function_name));
	switch (reading->question->kind) {
	case ASK_FUNCTION:
		return find_function(reading, ret);
	case ASK_UNWIND:
		return find_unwind_rule(reading, ret);
	case ASK_COMPILED:
		return find_compiled(reading, ret);
	case ASK_MAPS:
		return read_maps(reading, ret);
	case ASK_FORGET:
		break;
	}
	forget(reading);
	return 0;
}

/* ---- in the process that asks ---- */

static void end_process(struct name_reader *reader)
{
	timed_call_free(reader->call);
	reader->call = NULL;
	if (reader->question)
		(void)munmap(reader->question, sizeof(*reader->question));
	reader->question = NULL;
}

void name_reader_close(struct name_reader *reader)
{
	end_process(reader);
	*reader = (struct name_reader){ .call = NULL };
}

static int start_process(struct name_reader *reader)
{
	struct reading reading = { .count = 0 };
	void *shared = mmap(NULL, sizeof(struct name_question), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		return -ENOMEM;
	reader->question = shared;
	reading.question = shared;
	return timed_call_new(answer, &reading, &reader->call);
}

/* The question that is to be filled in; NULL: there is no process to answer it. */
static struct name_question *begin(struct name_reader *reader, enum question_kind kind,
				   uint32_t pid)
{
	if (reader->hangs >= NAME_READER_HANGS_MAX)
		return NULL;
	if (!reader->call && start_process(reader) < 0) {
		end_process(reader);
		return NULL;
	}
	*reader->question = (struct name_question){ .kind = kind, .place.pid = pid };
	return reader->question;
}

static ssize_t ask(struct name_reader *reader, void *ret, size_t size)
{
	ssize_t len = timed_call_make(reader->call, ret, size);

	if (len != -ETIMEDOUT && len != -EPIPE)
		return len;
	end_process(reader);
	reader->hangs++;
	return -ETIMEDOUT;
}

static int ask_of_file(struct name_reader *reader, enum question_kind kind,
		       const struct mapped_place *place, uint64_t offset, void *ret, size_t size)
{
	struct name_question *question = begin(reader, kind, place->pid);
	ssize_t len;

	if (!question)
		return -ETIMEDOUT;
	question->place = *place;
	question->address = offset;
	(void)snprintf(question->path, sizeof(question->path), "%s", place->path);
	len = ask(reader, ret, size);
	return len < 0 ? (int)len : 0;
}

int name_reader_function(struct name_reader *reader, const struct mapped_place *place,
			 uint64_t offset, struct function_name *ret)
{
	return ask_of_file(reader, ASK_FUNCTION, place, offset, ret, sizeof(*ret));
}

int name_reader_unwind(struct name_reader *reader, const struct mapped_place *place,
		       uint64_t offset, struct unwind_rule *ret)
{
	return ask_of_file(reader, ASK_UNWIND, place, offset, ret, sizeof(*ret));
}

int name_reader_compiled(struct name_reader *reader, uint32_t pid, uint64_t address, bool reads,
			 char ret[static PROGRAM_NAME_MAX])
{
	struct name_question *question = begin(reader, ASK_COMPILED, pid);
	ssize_t len;

	if (!question)
		return -ETIMEDOUT;
	question->address = address;
	question->reads = reads;
	len = ask(reader, ret, PROGRAM_NAME_MAX);
	return len < 0 ? (int)len : 0;
}

void name_reader_forget(struct name_reader *reader, uint32_t pid)
{
	if (reader->call && begin(reader, ASK_FORGET, pid))
		(void)ask(reader, NULL, 0);
}

ssize_t name_reader_maps(struct name_reader *reader, uint32_t pid, uint64_t from,
			 char ret[static TIMED_CALL_MAX + 1])
{
	struct name_question *question = begin(reader, ASK_MAPS, pid);
	ssize_t len;

	if (!question)
		return -ETIMEDOUT;
	question->address = from;
	len = ask(reader, ret, TIMED_CALL_MAX);
	ret[len > 0 ? len : 0] = '\0';
	return len;
}

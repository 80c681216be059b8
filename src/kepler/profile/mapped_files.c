// SPDX-License-Identifier: Apache-2.0
#include "kepler/profile/mapped_files.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/macro.h"
#include "kepler/profile/program_file.h"
#include "kepler/profile/root_file.h"

#define FUNCTIONS_MAX 200000U /* addresses whose function is remembered */

struct mapped_file {
	char *path;
	uint64_t inode;
	struct program_file *program; /* NULL: not opened yet, or it has no symbols */
	uint32_t note;                /* the frame "[FILE]" */
	uint32_t module;              /* of the profile; 0: it has not been opened */
	bool is_memory, is_start, is_opened;
};

struct mapped_files {
	struct profile *profile;
	struct mapped_file *files; /* [count] */
	uint32_t count, size, open;
	struct map by_path;
	struct map functions; /* file and offset → frame */
	uint64_t refused;
};

int mapped_files_new(struct profile *profile, struct mapped_files **ret)
{
	struct mapped_files *files = calloc(1, sizeof(*files));

	if (!files)
		return -ENOMEM;
	files->profile = profile;
	map_init(&files->by_path, MAPPED_FILES_MAX);
	map_init(&files->functions, FUNCTIONS_MAX);
	*ret = files;
	return 0;
}

void mapped_files_free(struct mapped_files *files)
{
	if (!files)
		return;
	for (uint32_t i = 0; i < files->count; i++) {
		program_file_close(files->files[i].program);
		free(files->files[i].path);
	}
	free(files->files);
	map_release(&files->by_path);
	map_release(&files->functions);
	free(files);
}

static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static bool is_memory(const char *path)
{
	return !path[0] || begins_with(path, "//anon") || begins_with(path, "[heap]") ||
	       begins_with(path, "[anon") || begins_with(path, "/memfd:") ||
	       begins_with(path, "/dev/zero") || begins_with(path, "/SYSV");
}

static bool is_start(const char *name)
{
	return begins_with(name, "libc.so") || begins_with(name, "libc-") ||
	       begins_with(name, "ld-") || begins_with(name, "libpthread") ||
	       begins_with(name, "[vdso]");
}

uint32_t mapped_files_add(struct mapped_files *files, const char *path, uint64_t inode)
{
	const struct map_key key = { .hi = inode, .lo = hash64_text(HASH64_START, path) };
	uint32_t found = map_find(&files->by_path, key);
	char *copy, note[NAME_MAX + 3];
	const char *name = strrchr(path, '/');

	if (found != MAP_NONE)
		return found;
	if (files->count >= MAPPED_FILES_MAX ||
	    ARRAY_RESERVE(files->files, files->size, files->count + 1) < 0)
		return MAPPED_FILE_NONE;
	copy = strdup(path);
	if (!copy || map_put(&files->by_path, key, files->count) < 0) {
		free(copy);
		return MAPPED_FILE_NONE;
	}
	name = name ? name + 1 : path;
	(void)snprintf(note, sizeof(note), path[0] == '[' ? "%.*s" : "[%.*s]", NAME_MAX,
		       is_memory(path) ? "unknown" : name);
	files->files[files->count] = (struct mapped_file){
		.path = copy,
		.inode = inode,
		.note = profile_frame(files->profile, note, FRAME_NOTE),
		.is_memory = is_memory(path),
		.is_start = is_start(name),
	};
	return files->count++;
}

bool mapped_files_is_memory(const struct mapped_files *files, uint32_t file)
{
	return files->files[file].is_memory;
}

bool mapped_files_is_start(const struct mapped_files *files, uint32_t file)
{
	return files->files[file].is_start;
}

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

static int open_file(const struct mapped_file *file, const struct mapped_place *place)
{
	const uint32_t roots[] = { place->pid, place->parent };
	struct stat status = { 0 };
	uint64_t end = place->start + place->len;
	char path[80];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, place->pid,
		       place->start, end);
	fd = keep_same(regular_file_open(path, &status), &status, file->inode);
	for (size_t i = 0; fd < 0 && i < ARRAY_SIZE(roots); i++)
		fd = keep_same(root_file_open(roots[i], file->path, &status), &status, file->inode);
	return fd < 0 ? keep_same(regular_file_open(file->path, &status), &status, file->inode)
		      : fd;
}

static void open_program(struct mapped_files *files, struct mapped_file *file,
			 const struct mapped_place *place)
{
	int fd;

	if (file->path[0] != '/')
		return;
	if (files->open >= MAPPED_FILES_OPEN_MAX) {
		files->refused++;
		return;
	}
	fd = open_file(file, place);
	if (fd < 0 || program_file_open(fd, &file->program) < 0)
		return;
	files->open++;
	file->module =
		profile_module(files->profile, file->path, program_file_build_id(file->program));
}

uint32_t mapped_files_frame(struct mapped_files *files, uint32_t number, uint64_t offset,
			    const struct mapped_place *place)
{
	const struct map_key key = { .hi = number, .lo = offset };
	struct mapped_file *file = &files->files[number];
	uint32_t frame = map_find(&files->functions, key);
	char name[PROGRAM_NAME_MAX];

	if (frame != MAP_NONE)
		return frame;
	if (!file->is_opened)
		open_program(files, file, place);
	file->is_opened = true;
	frame = file->program && program_file_find(file->program, offset, name) == 0
			? profile_frame(files->profile, name, FRAME_USER)
			: file->note;
	profile_place(files->profile, frame, file->module);
	(void)map_put(&files->functions, key, frame); /* else it is looked up again */
	return frame;
}

uint64_t mapped_files_refused(const struct mapped_files *files)
{
	return files->refused;
}

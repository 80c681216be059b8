// SPDX-License-Identifier: Apache-2.0
#include "kepler/profile/mapped_files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/macro.h"

#define FUNCTIONS_MAX     200000U /* addresses whose function is remembered */
#define HANGS_OF_A_DEVICE 2

struct mapped_file {
	char *path;
	uint64_t inode, device;
	uint32_t note;   /* the frame "[FILE]" */
	uint32_t module; /* of the profile; 0: it has not been opened */
	bool is_memory, is_start, is_asked;
};

struct mapped_files {
	struct profile *profile;
	struct name_reader *reader;
	struct mapped_file *files; /* [count] */
	uint32_t count, size;
	uint64_t hung[NAME_READER_HANGS_MAX]; /* [hung_count]: devices that did not answer, each */
	size_t hung_count;                    /* as often as that */
	struct map by_path;
	struct map functions; /* file and offset → place in frames */
	struct map places;    /* file and offset → rule */
	uint32_t *frames;     /* [frame_count]: a number, and so many frames, again and again */
	uint32_t frame_count, frame_size;
	uint32_t single;
	struct function_name answer;
	struct unwind_rule *rules;
	uint32_t rule_count, rule_size;
	uint64_t refused;
};

int mapped_files_new(struct profile *profile, struct name_reader *reader, struct mapped_files **ret)
{
	struct mapped_files *files = calloc(1, sizeof(*files));

	if (!files)
		return -ENOMEM;
	files->profile = profile;
	files->reader = reader;
	map_init(&files->by_path, MAPPED_FILES_MAX);
	map_init(&files->functions, FUNCTIONS_MAX);
	map_init(&files->places, FUNCTIONS_MAX);
	*ret = files;
	return 0;
}

void mapped_files_free(struct mapped_files *files)
{
	if (!files)
		return;
	for (uint32_t i = 0; i < files->count; i++)
		free(files->files[i].path);
	free(files->files);
	map_release(&files->by_path);
	map_release(&files->functions);
	map_release(&files->places);
	free(files->frames);
	free(files->rules);
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

uint32_t mapped_files_add(struct mapped_files *files, const char *path, uint64_t inode,
			  uint64_t device)
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
		.device = device,
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

uint32_t mapped_files_unreadable(struct mapped_files *files)
{
	return profile_frame(files->profile, "[unreadable]", FRAME_NOTE);
}

static bool is_hung(const struct mapped_files *files, uint64_t device)
{
	size_t times = 0;

	for (size_t i = 0; i < files->hung_count; i++)
		times += files->hung[i] == device;
	for (uint32_t i = 0; times >= HANGS_OF_A_DEVICE && i < files->count; i++) {
		if (files->files[i].module && files->files[i].device == device)
			return false;
	}
	return times >= HANGS_OF_A_DEVICE;
}

/* The file has its module from its first answer on. */
static void take_answer(struct mapped_files *files, struct mapped_file *file,
			const struct function_name *answer)
{
	if (!file->is_asked)
		files->refused += answer->is_refused;
	if (!file->module && answer->is_open)
		file->module = profile_module(files->profile, file->path,
					      answer->build_id[0] ? answer->build_id : NULL);
	file->is_asked = true;
}

/* May the file be asked for? Then @place gets what is known of it. */
static bool place_file(const struct mapped_files *files, uint32_t number, bool asks,
		       struct mapped_place *place)
{
	const struct mapped_file *file = &files->files[number];

	place->file = number;
	place->path = file->path;
	place->inode = file->inode;
	place->is_start = file->is_start;
	return asks && !is_hung(files, file->device);
}

static void note_hang(struct mapped_files *files, uint32_t number)
{
	if (files->hung_count < ARRAY_SIZE(files->hung))
		files->hung[files->hung_count++] = files->files[number].device;
}

struct frame_list mapped_files_single(struct mapped_files *files, uint32_t frame)
{
	files->single = frame;
	return (struct frame_list){ &files->single, 1 };
}

/* Remembers the frames of @key; without memory they are looked up again. */
static struct frame_list keep_frames(struct mapped_files *files, const struct map_key *key,
				     const uint32_t *frames, uint32_t count)
{
	uint32_t at = files->frame_count;

	if (ARRAY_RESERVE(files->frames, files->frame_size, at + 1 + count) < 0 ||
	    map_put(&files->functions, *key, at) < 0)
		return mapped_files_single(files, frames[0]);
	files->frames[at] = count;
	memcpy(&files->frames[at + 1], frames, count * sizeof(*frames));
	files->frame_count += 1 + count;
	return (struct frame_list){ &files->frames[at + 1], count };
}

/* The frames of the function and of those that are inlined in it. */
static struct frame_list make_frames(struct mapped_files *files, const struct map_key *key,
				     const struct mapped_file *file,
				     const struct function_name *answer)
{
	uint32_t frames[1 + INLINED_MAX], count = 1;

	frames[0] = answer->name[0] ? profile_frame(files->profile, answer->name, FRAME_USER)
				    : file->note;
	for (uint32_t i = 0; i < answer->inlined_count && i < INLINED_MAX; i++)
		frames[count++] = profile_frame(files->profile, answer->inlined[i], FRAME_INLINED);
	for (uint32_t i = 0; i < count; i++)
		profile_place(files->profile, frames[i], file->module);
	return keep_frames(files, key, frames, count);
}

struct frame_list mapped_files_frames(struct mapped_files *files, uint32_t number, uint64_t offset,
				      struct mapped_place *place, bool asks)
{
	const struct map_key key = { .hi = number, .lo = offset };
	struct mapped_file *file = &files->files[number];
	uint32_t at = map_find(&files->functions, key);
	struct function_name *answer = &files->answer;
	int r = 0;

	if (at != MAP_NONE)
		return (struct frame_list){ &files->frames[at + 1], files->frames[at] };
	if (!place_file(files, number, asks, place) && file->path[0] == '/')
		return mapped_files_single(files, mapped_files_unreadable(files));
	*answer = (struct function_name){ .name = "" };
	if (file->path[0] == '/')
		r = name_reader_function(files->reader, place, offset, answer);
	if (r == -ETIMEDOUT) {
		note_hang(files, number);
		return mapped_files_single(files, mapped_files_unreadable(files));
	}
	take_answer(files, file, answer);
	return make_frames(files, &key, file, answer);
}

int mapped_files_unwind(struct mapped_files *files, uint32_t number, uint64_t offset,
			struct mapped_place *place, bool asks, struct unwind_rule *ret)
{
	const struct map_key key = { .hi = number, .lo = offset };
	uint32_t at = map_find(&files->places, key);
	int r;

	*ret = (struct unwind_rule){ .kind = UNWIND_UNKNOWN };
	if (at != MAP_NONE)
		*ret = files->rules[at];
	if (at != MAP_NONE || files->files[number].path[0] != '/' ||
	    !place_file(files, number, asks, place))
		return 0;
	r = name_reader_unwind(files->reader, place, offset, ret);
	if (r == -ETIMEDOUT) {
		note_hang(files, number);
		return r;
	}
	if (r == 0 && ARRAY_RESERVE(files->rules, files->rule_size, files->rule_count + 1) == 0 &&
	    map_put(&files->places, key, files->rule_count) >= 0)
		files->rules[files->rule_count++] = *ret;
	return 0;
}

uint64_t mapped_files_refused(const struct mapped_files *files)
{
	return files->refused;
}

// SPDX-License-Identifier: Apache-2.0
#include "fake_directory.h"

#include <errno.h>
#include <string.h>

#include "base/macro.h"

#define ENTRIES_MAX 64

struct directory {
	struct container_names entries[ENTRIES_MAX];
	size_t count, room, puts;
};

struct directory *fake_directory_new(size_t room)
{
	struct directory *directory = calloc(1, sizeof(*directory));

	if (directory)
		directory->room = room;
	return directory;
}

static void release(struct container_names *names)
{
	for (size_t i = 0; i < LABEL_KEY_COUNT; i++)
		free((void *)(uintptr_t)names->names.text[i]);
}

void fake_directory_free(struct directory *directory)
{
	for (size_t i = 0; i < directory->count; i++)
		release(&directory->entries[i]);
	free(directory);
}

static size_t find(const struct directory *directory, const char *id)
{
	size_t i = 0;

	while (i < directory->count &&
	       strcmp(directory->entries[i].names.text[LABEL_CONTAINER_ID], id) != 0)
		i++;
	return i;
}

const struct container_names *fake_directory_find(const struct directory *directory, const char *id)
{
	size_t i = find(directory, id);

	return i < directory->count ? &directory->entries[i] : NULL;
}

size_t fake_directory_count(const struct directory *directory)
{
	return directory->count;
}

size_t fake_directory_puts(const struct directory *directory)
{
	return directory->puts;
}

void fake_directory_set_room(struct directory *directory, size_t room)
{
	directory->room = room;
}

int directory_put(struct directory *directory, enum directory_source source,
		  const struct container_names *names)
{
	size_t i = find(directory, names->names.text[LABEL_CONTAINER_ID]);

	directory->puts++;
	if (source != DIRECTORY_KUBERNETES)
		return -EINVAL;
	if (i == directory->count) {
		if (directory->count == directory->room || directory->count == ENTRIES_MAX)
			return -ENOSPC;
		directory->count++;
	} else {
		release(&directory->entries[i]);
	}
	directory->entries[i] = *names;
	for (size_t s = 0; s < LABEL_KEY_COUNT; s++) {
		const char **text = &directory->entries[i].names.text[s];

		*text = strdup(*text ? *text : "");
	}
	return 0;
}

void directory_remove(struct directory *directory, enum directory_source source,
		      const char *container_id, uint64_t now_ns)
{
	size_t i = find(directory, container_id);

	(void)source;
	(void)now_ns;
	if (i == directory->count)
		return;
	release(&directory->entries[i]);
	directory->entries[i] = directory->entries[--directory->count];
}

// SPDX-License-Identifier: Apache-2.0
#include "kepler/profile/kernel_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/macro.h"

void kernel_names_init(struct kernel_names *names, const char *path)
{
	*names = (struct kernel_names){ .path = path };
	map_init(&names->by_address, KERNEL_ADDRESSES_MAX);
}

void kernel_names_release(struct kernel_names *names)
{
	symbol_table_release(&names->table);
	map_release(&names->by_address);
	free(names->frames);
	*names = (struct kernel_names){ .count = 0 };
}

static void read_names(struct kernel_names *names)
{
	FILE *file = fopen(names->path, "re");
	char *line = NULL;
	size_t size = 0;

	names->is_read = true;
	if (!file)
		return;
	while (getline(&line, &size, file) > 0)
		(void)symbol_table_add_kallsyms(&names->table, line);
	free(line);
	(void)fclose(file);
}

static const char *name_of(struct kernel_names *names, uint64_t address)
{
	const struct symbol *symbol;

	if (!names->is_read)
		read_names(names);
	symbol = symbol_table_find(&names->table, address);
	return symbol ? symbol_table_name(&names->table, symbol) : "[kernel]";
}

/* The frame of an address that is named later; 0: it has to be named now. */
static uint32_t later_frame(struct kernel_names *names, struct profile *profile, uint64_t address)
{
	const struct map_key key = { .lo = address };
	uint32_t at = map_find(&names->by_address, key), frame;
	char text[32];

	if (at != MAP_NONE)
		return names->frames[at].frame;
	if (names->is_read || names->count >= KERNEL_ADDRESSES_MAX ||
	    ARRAY_RESERVE(names->frames, names->size, names->count + 1) < 0)
		return 0;
	(void)snprintf(text, sizeof(text), "[kernel %" PRIx64 "]", address);
	frame = profile_frame(profile, text, FRAME_KERNEL);
	if (!frame || map_put(&names->by_address, key, names->count) < 0)
		return 0;
	names->frames[names->count++] = (struct kernel_frame){ address, frame };
	return frame;
}

uint32_t kernel_names_frame(struct kernel_names *names, struct profile *profile, uint64_t address)
{
	uint32_t frame = later_frame(names, profile, address);

	return frame ? frame : profile_frame(profile, name_of(names, address), FRAME_KERNEL);
}

int kernel_names_settle(struct kernel_names *names, struct profile *profile)
{
	CLEANUP_FREE const char **named = calloc(profile->frame_count, sizeof(*named));

	if (!named)
		return -ENOMEM;
	for (uint32_t i = 0; i < names->count; i++)
		named[names->frames[i].frame] = name_of(names, names->frames[i].address);
	return names->count ? profile_rename(profile, named) : 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/macro.h"
#include "base/text/utf8.h"

/* Cleans @name into @ret; its length. */
static size_t clean(const char *name, char ret[static PROFILE_NAME_MAX + 1])
{
	size_t len = strnlen(name, PROFILE_NAME_MAX + 4), out = 0;

	for (size_t i = 0; i < len;) {
		size_t n = utf8_char_len(name + i, len - i);
		unsigned char c = (unsigned char)name[i];

		if (out + (n ? n : 1) > PROFILE_NAME_MAX)
			break;
		if (n > 1) {
			memcpy(ret + out, name + i, n);
			out += n;
			i += n;
			continue;
		}
		ret[out++] = (char)(n == 0 || c < 0x20 || c == 0x7f ? '?' : c == ';' ? ':' : c);
		i++;
	}
	ret[out] = '\0';
	return out;
}

int profile_init(struct profile *profile, uint32_t limit)
{
	*profile = (struct profile){ .limit = limit };
	map_init(&profile->frame_map, limit);
	map_init(&profile->node_map, limit);
	if (ARRAY_RESERVE(profile->frames, profile->frame_size, 1) < 0 ||
	    ARRAY_RESERVE(profile->nodes, profile->node_size, 1) < 0)
		return -ENOMEM;
	profile->frames[0].kind = FRAME_NOTE;
	profile->frames[0].name = strdup("all");
	if (!profile->frames[0].name)
		return -ENOMEM;
	profile->frame_count = 1;
	profile->nodes[PROFILE_ROOT] = (struct profile_node){ .parent = PROFILE_ROOT };
	profile->node_count = 1;
	return 0;
}

void profile_release(struct profile *profile)
{
	for (uint32_t i = 0; i < profile->frame_count; i++)
		free((char *)(uintptr_t)profile->frames[i].name);
	for (uint32_t i = 0; i < profile->module_count; i++) {
		free((char *)(uintptr_t)profile->modules[i].path);
		free((char *)(uintptr_t)profile->modules[i].build_id);
	}
	free(profile->modules);
	free(profile->frames);
	free(profile->nodes);
	map_release(&profile->frame_map);
	map_release(&profile->node_map);
	*profile = (struct profile){ .limit = 0 };
}

uint32_t profile_frame(struct profile *profile, const char *name, enum frame_kind kind)
{
	char text[PROFILE_NAME_MAX + 1];
	size_t len = clean(name, text);
	struct map_key key = { .hi = (uint64_t)kind, .lo = hash64_bytes(HASH64_START, text, len) };
	uint32_t found = map_find(&profile->frame_map, key);
	char *copy;

	/* Texts with the same hash stand one after the other. */
	while (found != MAP_NONE && strcmp(profile->frames[found].name, text) != 0) {
		key.hi += FRAME_KINDS;
		found = map_find(&profile->frame_map, key);
	}
	if (found != MAP_NONE)
		return found;
	if (profile->frame_count >= profile->limit ||
	    ARRAY_RESERVE(profile->frames, profile->frame_size, profile->frame_count + 1) < 0)
		return 0;
	copy = strdup(text);
	if (!copy || map_put(&profile->frame_map, key, profile->frame_count) < 0) {
		free(copy);
		return 0;
	}
	profile->frames[profile->frame_count] =
		(struct profile_frame){ .name = copy, .kind = kind };
	return profile->frame_count++;
}

uint32_t profile_module(struct profile *profile, const char *path, const char *build_id)
{
	char *own_path, *own_id;

	if (profile->module_count >= profile->limit ||
	    ARRAY_RESERVE(profile->modules, profile->module_size, profile->module_count + 1) < 0)
		return 0;
	own_path = strdup(path);
	own_id = build_id ? strdup(build_id) : NULL;
	if (!own_path || (build_id && !own_id)) {
		free(own_path);
		free(own_id);
		return 0;
	}
	profile->modules[profile->module_count] = (struct profile_module){ own_path, own_id };
	return ++profile->module_count;
}

void profile_place(struct profile *profile, uint32_t frame, uint32_t module)
{
	struct profile_frame *placed = &profile->frames[frame];

	placed->module = !placed->is_placed || placed->module == module ? module : 0;
	placed->is_placed = true;
}

uint32_t profile_child(struct profile *profile, uint32_t parent, uint32_t frame)
{
	const struct map_key key = { .hi = parent, .lo = frame };
	uint32_t found = map_find(&profile->node_map, key);

	if (found != MAP_NONE)
		return found;
	if (frame == 0 || profile->node_count >= profile->limit ||
	    ARRAY_RESERVE(profile->nodes, profile->node_size, profile->node_count + 1) < 0 ||
	    map_put(&profile->node_map, key, profile->node_count) < 0) {
		profile->cut++;
		return parent;
	}
	profile->nodes[profile->node_count] =
		(struct profile_node){ .parent = parent, .frame = frame };
	return profile->node_count++;
}

/* The frames of @profile in @renamed, with the place of each. False: no memory. */
static bool rename_frames(const struct profile *profile, const char *const *names,
			  struct profile *renamed, uint32_t *frame_of)
{
	for (uint32_t i = 1; i < profile->frame_count; i++) {
		const struct profile_frame *frame = &profile->frames[i];

		frame_of[i] =
			profile_frame(renamed, names[i] ? names[i] : frame->name, frame->kind);
		if (!frame_of[i])
			return false;
		if (frame->is_placed)
			profile_place(renamed, frame_of[i], frame->module);
	}
	return true;
}

static bool rename_nodes(const struct profile *profile, const uint32_t *frame_of,
			 struct profile *renamed, uint32_t *node_of)
{
	for (uint32_t i = 1; i < profile->node_count; i++) {
		const struct profile_node *node = &profile->nodes[i];
		struct profile_node *to;

		node_of[i] = profile_child(renamed, node_of[node->parent], frame_of[node->frame]);
		to = &renamed->nodes[node_of[i]];
		to->samples += node->samples;
		to->cpu_ns += node->cpu_ns;
		for (unsigned run = 0; run < PROFILE_RUNS; run++)
			to->energy_uj[run] += node->energy_uj[run];
	}
	return renamed->cut == 0;
}

/* Takes what is not a frame or a node. */
static void move_rest(struct profile *profile, struct profile *renamed)
{
	renamed->modules = profile->modules;
	renamed->module_count = profile->module_count;
	renamed->module_size = profile->module_size;
	renamed->cut = profile->cut;
	renamed->is_compared = profile->is_compared;
	profile->modules = NULL;
	profile->module_count = 0;
}

int profile_rename(struct profile *profile, const char *const *names)
{
	CLEANUP_FREE uint32_t *frame_of = calloc(profile->frame_count, sizeof(*frame_of));
	CLEANUP_FREE uint32_t *node_of = calloc(profile->node_count, sizeof(*node_of));
	CLEANUP(profile_release) struct profile renamed = { .limit = 0 };
	struct profile old;

	if (!frame_of || !node_of || profile_init(&renamed, profile->limit) < 0)
		return -ENOMEM;
	renamed.nodes[PROFILE_ROOT] = profile->nodes[PROFILE_ROOT];
	if (!rename_frames(profile, names, &renamed, frame_of) ||
	    !rename_nodes(profile, frame_of, &renamed, node_of))
		return -ENOMEM;
	move_rest(profile, &renamed);
	old = *profile;
	*profile = renamed;
	renamed = old;
	return 0;
}

size_t profile_stack(const struct profile *profile, uint32_t node, uint32_t ret[PROFILE_DEPTH_MAX])
{
	size_t depth = 0;

	for (; node != PROFILE_ROOT && depth < PROFILE_DEPTH_MAX;
	     node = profile->nodes[node].parent)
		ret[depth++] = profile->nodes[node].frame;
	return depth;
}

uint64_t profile_sum_uj(const struct profile *profile, enum profile_run run)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < profile->node_count; i++)
		sum += profile->nodes[i].energy_uj[run];
	return sum;
}

// SPDX-License-Identifier: Apache-2.0
#include "profile/folded.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "base/text/ascii.h"

static const char *const suffixes[FRAME_KINDS] = {
	[FRAME_KERNEL] = "_[k]",
	[FRAME_JIT] = "_[j]",
	[FRAME_INLINED] = "_[i]",
};

static void add_stack(const struct profile *profile, uint32_t node, struct strbuf *out)
{
	uint32_t path[PROFILE_DEPTH_MAX];
	size_t depth = profile_stack(profile, node, path);

	if (!depth)
		strbuf_add_str(out, profile->frames[0].name);
	while (depth) {
		const struct profile_frame *frame = &profile->frames[path[--depth]];

		strbuf_add_str(out, frame->name);
		if (suffixes[frame->kind])
			strbuf_add_str(out, suffixes[frame->kind]);
		if (depth)
			strbuf_add_char(out, ';');
	}
}

void folded_write(const struct profile *profile, struct strbuf *out)
{
	for (uint32_t i = 0; i < profile->node_count; i++) {
		const struct profile_node *node = &profile->nodes[i];

		if (!node->energy_uj[RUN_NOW] && !node->energy_uj[RUN_BEFORE])
			continue;
		add_stack(profile, i, out);
		if (profile->is_compared) {
			strbuf_add_char(out, ' ');
			strbuf_add_u64(out, node->energy_uj[RUN_BEFORE]);
		}
		strbuf_add_char(out, ' ');
		strbuf_add_u64(out, node->energy_uj[RUN_NOW]);
		strbuf_add_char(out, '\n');
	}
}

/* Removes the suffix that says the kind, and returns it; of a first frame it is an owner's. */
static enum frame_kind take_kind(char *name, size_t *len, bool is_first)
{
	for (enum frame_kind kind = 0; kind < FRAME_KINDS; kind++) {
		size_t n = suffixes[kind] ? strlen(suffixes[kind]) : 0;

		if (n && *len > n && memcmp(name + *len - n, suffixes[kind], n) == 0) {
			*len -= n;
			name[*len] = '\0';
			return kind;
		}
	}
	if (*len > 1 && name[0] == '[' && name[*len - 1] == ']' && !memchr(name, '.', *len))
		return FRAME_NOTE;
	return is_first ? FRAME_OWNER : FRAME_USER;
}

static uint32_t add_path(struct profile *profile, const char *stack, size_t len)
{
	uint32_t node = PROFILE_ROOT;
	size_t depth = 0;

	for (size_t at = 0; at <= len && depth < PROFILE_DEPTH_MAX; depth++) {
		const char *end = memchr(stack + at, ';', len - at);
		size_t n = end ? (size_t)(end - stack) - at : len - at;
		char name[PROFILE_NAME_MAX + 8];
		size_t cut = n < sizeof(name) ? n : sizeof(name) - 1;
		enum frame_kind kind;

		memcpy(name, stack + at, cut);
		name[cut] = '\0';
		kind = take_kind(name, &cut, depth == 0);
		node = profile_child(profile, node, profile_frame(profile, name, kind));
		at += n + 1;
	}
	return node;
}

/* Cuts a number off the end of the line; false: there is none. */
static bool cut_number(const char *line, size_t *len, uint64_t *ret)
{
	size_t at = *len;

	while (at && ascii_is_digit(line[at - 1]))
		at--;
	if (at == *len || at < 2 || line[at - 1] != ' ' || parse_u64(line + at, *len - at, ret) < 0)
		return false;
	*len = at - 1;
	return true;
}

/* Adds the energy to *sum_uj as well, which must not overflow: no profile has so much. */
static int read_line(struct profile *profile, enum profile_run run, const char *line, size_t len,
		     uint64_t *sum_uj)
{
	uint64_t energy_uj, before_uj;
	uint32_t node;

	if (len && line[len - 1] == '\r')
		len--;
	if (!len)
		return 0;
	if (!cut_number(line, &len, &energy_uj) ||
	    __builtin_add_overflow(*sum_uj, energy_uj, sum_uj))
		return -EINVAL;
	(void)cut_number(line, &len, &before_uj);
	node = add_path(profile, line, len);
	profile->nodes[node].energy_uj[run] += energy_uj;
	return 0;
}

int folded_read(struct profile *profile, enum profile_run run, const char *text, size_t len,
		struct diag *diag)
{
	uint64_t sum_uj = profile_sum_uj(profile, run);
	size_t number = 1;

	for (size_t at = 0; at < len; number++) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end ? (size_t)(end - text) - at : len - at;

		if (read_line(profile, run, text + at, n, &sum_uj) < 0)
			return diag_set(diag, -EINVAL,
					"%zu: must be a stack and a whole number of microjoules, "
					"as kepler profile --format=folded writes them",
					number);
		at += n + 1;
	}
	return 0;
}

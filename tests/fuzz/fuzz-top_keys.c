// SPDX-License-Identifier: Apache-2.0
/* Bytes of a terminal, as keys that change the display: the bar and the first line stay in it. */
#include <stdlib.h>

#include "top/top_state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void begin(struct top_state *state)
{
	static const char text[] =
		"{\"time\":1,\"total_watts\":6,\"rows\":["
		"{\"pid\":1,\"command\":\"a\",\"owner\":\"x\",\"watts\":3},"
		"{\"pid\":2,\"command\":\"b\",\"owner\":\"y\",\"watts\":2},"
		"{\"pid\":3,\"command\":\"c\",\"owner\":\"x\",\"watts\":1},"
		"{\"pid\":null,\"command\":\"other\",\"owner\":\"\",\"watts\":0}]}";
	struct now_reading reading = { 0 };

	if (now_reading_parse(text, sizeof(text) - 1, &reading, NULL) < 0 ||
	    top_state_resize(state, 9, 80) < 0 || top_state_take(state, &reading) < 0)
		abort();
}

static void check(const struct top_state *state)
{
	uint32_t limit = top_state_limit(state);

	if ((state->line_count && state->selected >= state->line_count) ||
	    state->first > state->line_count || limit < 1 || limit >= NOW_ROWS_MAX)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct top_state state = { .rows = 0 };
	struct top_keys keys = { .len = 0 };
	struct top_event event;

	begin(&state);
	for (size_t i = 0; i < size; i++) {
		if (top_keys_add(&keys, (char)data[i], &event))
			(void)top_state_key(&state, &event);
		check(&state);
	}
	(void)top_keys_flush(&keys, &event);
	top_state_release(&state);
	return 0;
}

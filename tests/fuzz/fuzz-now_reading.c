// SPDX-License-Identifier: Apache-2.0
/*
 * Any answer from the local socket, shown by `kepler top`: a frame of it has no byte that commands
 * the terminal, except for the sequences of the frame itself.
 */
#include <stdlib.h>
#include <string.h>

#include "top/top_frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_frame(const struct strbuf *frame)
{
	for (size_t i = 0; i < frame->len; i++) {
		unsigned char byte = (unsigned char)frame->data[i];

		if ((byte < 0x20 && byte != '\n') || byte == 0x7f)
			abort();
	}
}

static void show(struct now_reading *reading)
{
	static const struct top_style style = { .utf8 = true, .clock = "" };
	struct top_state state = { .is_tree = reading->row_count % 2 };
	struct strbuf frame = STRBUF_INIT;

	(void)top_state_resize(&state, 24, 20 + (unsigned)(reading->row_count * 37 % 150));
	if (top_state_take(&state, reading) == 0 && top_frame_draw(&state, &style, &frame) == 0)
		check_frame(&frame);
	strbuf_release(&frame);
	top_state_release(&state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct now_reading reading = { 0 };

	if (now_reading_parse((const char *)data, size, &reading, NULL) == 0)
		show(&reading);
	now_reading_release(&reading);
	return 0;
}

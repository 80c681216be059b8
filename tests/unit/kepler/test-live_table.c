// SPDX-License-Identifier: Apache-2.0
#include "kepler/live_table.h"

#include <string.h>

#include "base/macro.h"
#include "made_up_machine.h"

#define URL "http://127.0.0.1:28282/metrics"

static size_t columns_of(const char *line, size_t len)
{
	size_t columns = 0;

	for (size_t i = 0; i < len; i++)
		columns += ((unsigned char)line[i] & 0xc0) != 0x80;
	return columns;
}

/* A machine with one process that ran, on a terminal of so many columns. */
static void draw(unsigned columns, struct strbuf *frame)
{
	const struct live_table_view view = {
		.url = URL,
		.source = "estimated, no meter here: a model of so many servers",
		.rows = 24,
		.columns = columns,
	};
	struct machine machine;

	machine_start(&machine, true);
	(void)pass(&machine, 100, 0, 0);
	(void)pass(&machine, 101, 0, NSEC_PER_SEC);
	strbuf_reset(frame);
	assert_int_equal(live_table_draw(machine.engine, &view, frame), 0);
	machine_stop(&machine);
}

static void no_line_is_wider_than_the_terminal(void **state)
{
	CLEANUP(strbuf_release) struct strbuf frame = STRBUF_INIT;

	(void)state;
	for (unsigned columns = 40; columns <= 200; columns++) {
		draw(columns, &frame);
		for (const char *line = frame.data; *line;) {
			size_t len = strcspn(line, "\n");

			assert_true(columns_of(line, len) <= columns);
			line += len + (line[len] == '\n');
		}
		assert_non_null(strstr(frame.data, "burner"));
		assert_non_null(strstr(frame.data, "100.0"));
	}
}

static void a_narrow_terminal_has_no_owners(void **state)
{
	CLEANUP(strbuf_release) struct strbuf frame = STRBUF_INIT;

	(void)state;
	draw(80, &frame);
	assert_non_null(strstr(frame.data, "OWNER"));
	draw(50, &frame);
	assert_null(strstr(frame.data, "OWNER"));
}

static void what_is_cut_shows_it(void **state)
{
	CLEANUP(strbuf_release) struct strbuf frame = STRBUF_INIT;

	(void)state;
	draw(80, &frame);
	assert_non_null(strstr(frame.data, "a model of so many servers\n"));
	draw(40, &frame);
	assert_non_null(strstr(frame.data, "\nestimated, no meter here: a model of so…\n"));
	assert_non_null(strstr(frame.data, URL "\n")); /* it fits exactly */
}

/* Where the shell's prompt follows. */
static void the_last_line_is_ended(void **state)
{
	CLEANUP(strbuf_release) struct strbuf frame = STRBUF_INIT;

	(void)state;
	draw(80, &frame);
	assert_string_equal(frame.data + frame.len - strlen("Ctrl-C stops it.\n"),
			    "Ctrl-C stops it.\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_line_is_wider_than_the_terminal),
		cmocka_unit_test(a_narrow_terminal_has_no_owners),
		cmocka_unit_test(what_is_cut_shows_it),
		cmocka_unit_test(the_last_line_is_ended),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

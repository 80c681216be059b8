// SPDX-License-Identifier: Apache-2.0
#include "export/live_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../engine/made_up_machine.h"
#include "base/macro.h"

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
	assert_int_equal(live_table_draw(interval_engine_power(machine.engine), &view, frame), 0);
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

/* The numbers of a column that ends with " W", in lines from @from on. */
static double sum_of_rows(const char *from)
{
	double sum = 0;

	for (const char *line = strchr(from, '\n'); line && line[1] && line[1] != '\n';
	     line = strchr(line + 1, '\n')) {
		const char *end = line + 1 + strcspn(line + 1, "\n") - strlen(" W");

		while (end[-1] != ' ')
			end--;
		sum += strtod(end, NULL);
	}
	return sum;
}

/* What is written in the head, before the word. */
static double number_after(const char *frame, const char *word)
{
	const char *at = strstr(frame, word);

	assert_non_null(at);
	return strtod(at + strlen(word), NULL);
}

static void rows_idle_and_unattributed_make_the_headline(void **state)
{
	const struct live_table_view view = { .url = "", .source = "", .rows = 15, .columns = 90 };
	CLEANUP(strbuf_release) struct strbuf frame = STRBUF_INIT;
	struct power_row rows[20] = { { 0 } };
	const struct power_picture picture = {
		.elapsed_ns = NSEC_PER_SEC,
		.is_known = true,
		.total_uw = 198000000,
		.has_idle = true,
		.idle_uw = 26000000,
		.unattributed_uw = 1000000,
		.level[LEVEL_PROCESS] = { .count = 20, .left_out = 3, .other_uw = 1000000 },
		.row_count = 20,
		.rows = rows,
	};
	double sum;

	(void)state;
	for (uint32_t i = 0; i < 20; i++)
		rows[i].power_uw = 8500000;
	assert_int_equal(live_table_draw(&picture, &view, &frame), 0);
	assert_non_null(strstr(frame.data, "… and 19 more"));
	assert_true(fabs(number_after(frame.data, "Node: ") - 198) < 0.01);
	sum = sum_of_rows(strstr(frame.data, "PID"));
	assert_true(fabs(number_after(frame.data, "processes ") - sum) < 0.05);
	sum += number_after(frame.data, "idle ") + number_after(frame.data, "unattributed ");
	assert_true(fabs(sum - 198) < 0.05);
}

static void power_that_is_not_known_is_not_0(void **state)
{
	const struct live_table_view view = { .url = "", .source = "" };
	const struct power_picture picture = {
		.level[LEVEL_PROCESS] = { .count = 1 },
		.row_count = 1,
		.rows = &(struct power_row){ .pid = 7, .command = "burner", .cpu_ns = 1 },
	};
	CLEANUP(strbuf_release) struct strbuf frame = STRBUF_INIT;

	(void)state;
	assert_int_equal(live_table_draw(&picture, &view, &frame), 0);
	assert_non_null(strstr(frame.data, "Node: not known\n"));
	assert_non_null(strstr(frame.data, "–"));
	assert_null(strstr(frame.data, " W\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_line_is_wider_than_the_terminal),
		cmocka_unit_test(a_narrow_terminal_has_no_owners),
		cmocka_unit_test(what_is_cut_shows_it),
		cmocka_unit_test(the_last_line_is_ended),
		cmocka_unit_test(rows_idle_and_unattributed_make_the_headline),
		cmocka_unit_test(power_that_is_not_known_is_not_0),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include "top/top_frame.h"

#include "base/text/utf8.h"
#include "readings.h"

static const struct top_style plain = { .utf8 = true, .clock = "14:03:22" };
static const struct top_style screen = { .utf8 = true, .is_screen = true, .clock = "14:03:22" };

static void draw(const struct top_state *state, const struct top_style *style, struct strbuf *frame)
{
	strbuf_reset(frame);
	assert_int_equal(top_frame_draw(state, style, frame), 0);
}

/* Without the escape sequences, which this file's styles have at the ends of lines only. */
static size_t width_of(const char *line, size_t len)
{
	size_t width = 0;

	for (size_t i = 0; i < len && line[i] != '\033' && line[i] != '\r'; width++) {
		size_t n = utf8_char_len(line + i, len - i);

		assert_true(n > 0);
		i += n;
	}
	return width;
}

static void no_line_is_wider_than_the_terminal(void **state)
{
	CLEANUP(strbuf_release) struct strbuf frame = STRBUF_INIT;

	for (unsigned columns = 20; columns < 200; columns++) {
		for (unsigned level = 0; level < VIEW_COUNT; level++) {
			struct top_state top;
			unsigned lines = 1;

			begin_state(&top, 15, columns);
			top.view = level;
			draw(&top, &screen, &frame);
			for (const char *at = frame.data; at; lines++) {
				const char *end = strchr(at, '\n');

				assert_true(width_of(at, end ? (size_t)(end - at) : strlen(at)) <=
					    columns);
				at = end ? end + 1 : NULL;
			}
			assert_int_equal(lines - 1, 15);
			top_state_release(&top);
		}
	}
}

static void narrow_terminals_keep_what_matters(void **state)
{
	CLEANUP(strbuf_release) struct strbuf frame = STRBUF_INIT;
	struct top_state top;

	begin_state(&top, 24, 30);
	draw(&top, &plain, &frame);
	assert_non_null(strstr(frame.data, "burner"));
	assert_non_null(strstr(frame.data, "90.00 W"));
	assert_null(strstr(frame.data, "shop/web"));
	top_state_release(&top);
	begin_state(&top, 24, 60);
	draw(&top, &plain, &frame);
	assert_non_null(strstr(frame.data, "shop/web"));
	assert_non_null(strstr(frame.data, "150.0"));
	top_state_release(&top);
	begin_state(&top, 24, 110);
	draw(&top, &plain, &frame);
	assert_non_null(strstr(frame.data, "65.75")); /* kWh a month of 90 W */
	assert_non_null(strstr(frame.data, "45.5"));  /* % of 198 W */
	assert_non_null(strstr(frame.data, "90.0k"));
	assert_non_null(strstr(frame.data, "… and 3 more"));
	top_state_release(&top);
}

/* Hints that do not fit are left out, with the way out before them. */
static void hints_are_whole_words(void **state)
{
	CLEANUP(strbuf_release) struct strbuf frame = STRBUF_INIT;

	for (unsigned columns = 20; columns < 100; columns++) {
		struct top_state top;
		const char *last;

		begin_state(&top, 15, columns);
		draw(&top, &screen, &frame);
		last = strrchr(frame.data, '\n');
		assert_non_null(strstr(last, "? help  q quit"));
		assert_null(strstr(last, "…"));
		assert_true(columns < 72 || strstr(last, "p pause"));
		top_state_release(&top);
	}
}

/* 90 and 50 W are on the screen, and 20, 10 and 1 W are not. */
static void rows_without_room_have_their_sum(void **state)
{
	CLEANUP(strbuf_release) struct strbuf frame = STRBUF_INIT;
	struct top_state top;
	const char *last;

	begin_state(&top, TOP_HEAD_LINES + 2 + TOP_FOOT_LINES, 80);
	draw(&top, &screen, &frame);
	assert_non_null(strstr(strrchr(frame.data, '\n'), "Below: 31.00 W  ? help  q quit"));
	(void)top_state_resize(&top, TOP_HEAD_LINES + 2 + TOP_FOOT_LINES, 28);
	draw(&top, &screen, &frame);
	last = strrchr(frame.data, '\n');
	assert_null(strstr(last, "Below"));
	assert_non_null(strstr(last, "? help  q quit"));
	(void)top_state_resize(&top, TOP_HEAD_LINES + 5 + TOP_FOOT_LINES, 80);
	draw(&top, &screen, &frame);
	assert_null(strstr(frame.data, "Below"));
	top_state_release(&top);
}

/* The level, the pause and the sign of an error can be read on any terminal. */
static void a_narrow_title_has_the_level_and_the_pause(void **state)
{
	static const struct top_style ascii = { .is_screen = true, .clock = "14:03:22" };
	CLEANUP(strbuf_release) struct strbuf frame = STRBUF_INIT;

	for (unsigned level = 0; level < VIEW_COUNT; level++) {
		struct top_state top;
		char shown[24];

		begin_state(&top, 15, 60);
		top.view = level;
		top.is_paused = true;
		top.reading.error_watts = 2;
		top.reading.is_estimated = true;
		(void)snprintf(shown, sizeof(shown), "[%s]", view_name(level));
		draw(&top, &ascii, &frame);
		*strchr(frame.data, '\n') = '\0';
		assert_non_null(strstr(frame.data, shown));
		assert_null(strchr(frame.data, '.')); /* for "…": nothing is cut */
		assert_non_null(strstr(frame.data, "PAUSED"));
		assert_non_null(strstr(frame.data + strlen(frame.data) + 1, "+- 2"));
		top_state_release(&top);
	}
}

static void names_cannot_command_the_terminal(void **state)
{
	CLEANUP(strbuf_release) struct strbuf frame = STRBUF_INIT;
	struct top_state top;

	begin_state(&top, 24, 100);
	draw(&top, &plain, &frame);
	assert_non_null(strstr(frame.data, "a?]0;x?b"));
	assert_null(strchr(frame.data, '\033'));
	top_state_release(&top);
}

static void the_head_makes_the_total(void **state)
{
	CLEANUP(strbuf_release) struct strbuf frame = STRBUF_INIT;
	struct top_state top;

	begin_state(&top, 24, 100);
	draw(&top, &plain, &frame);
	assert_non_null(
		strstr(frame.data, "Node: 198.0 W   = package 101.0 · rest of psys 97.0\n"));
	assert_non_null(strstr(frame.data, "processes 171.0 · unattributed 1.0 · idle 26.0\n"));
	assert_null(strstr(frame.data, "~"));
	top_state_release(&top);
}

static void what_is_estimated_is_marked(void **state)
{
	CLEANUP(strbuf_release) struct strbuf frame = STRBUF_INIT;
	struct top_state top;

	begin_state(&top, 24, 100);
	take_text(&top, "{\"time\":1001,\"total_watts\":5,\"error_watts\":1,\"estimated\":true,"
			"\"rows\":[{\"pid\":7,\"command\":\"x\",\"watts\":null},"
			"{\"pid\":8,\"command\":\"y\",\"watts\":4}]}");
	draw(&top, &plain, &frame);
	assert_non_null(strstr(frame.data, "Node: 5.00 W ± 1.0 W, estimated"));
	assert_non_null(strstr(frame.data, "~4.00 W"));
	assert_non_null(strstr(frame.data, "– W")); /* not known, and not 0 */
	top_state_release(&top);
}

static void a_terminal_without_utf8_gets_ascii(void **state)
{
	const struct top_style ascii = { .is_screen = true, .clock = "14:03:22" };
	CLEANUP(strbuf_release) struct strbuf frame = STRBUF_INIT;
	struct top_state top;

	begin_state(&top, 24, 140);
	draw(&top, &ascii, &frame);
	for (size_t i = 0; i < frame.len; i++)
		assert_true((unsigned char)frame.data[i] < 0x80);
	assert_non_null(strstr(frame.data, "package 101.0 | rest of psys 97.0"));
	top_state_release(&top);
}

static void an_answer_is_shown_below_titles(void **state)
{
	const char *const titles[] = { "Kepler  http://127.0.0.1:1/metrics", "a\033source", NULL };
	const char *const none[] = { NULL };
	struct top_style style = { .utf8 = true, .titles = titles };
	CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT;
	CLEANUP(strbuf_release) struct strbuf frame = STRBUF_INIT;

	strbuf_add_str(&answer, a_reading);
	assert_int_equal(top_frame_of(&answer, &style, 80, &frame), 0);
	assert_int_equal(
		strncmp(frame.data, "Kepler  http://127.0.0.1:1/metrics\na?source\n\nNode: 198.0 W",
			strlen("Kepler  http://127.0.0.1:1/metrics\na?source\n\nNode: 198.0 W")),
		0);
	strbuf_reset(&frame);
	style.titles = none;
	assert_int_equal(top_frame_of(&answer, &style, 80, &frame), 0);
	assert_int_equal(strncmp(frame.data, "Node: 198.0 W", strlen("Node: 198.0 W")), 0);
	strbuf_reset(&answer);
	strbuf_add_str(&answer, "{}");
	assert_int_equal(top_frame_of(&answer, &style, 80, &frame), -EINVAL);
}

static void a_total_that_is_not_known_is_not_0(void **state)
{
	CLEANUP(strbuf_release) struct strbuf frame = STRBUF_INIT;
	struct top_state top;

	begin_state(&top, 24, 100);
	take_text(&top,
		  "{\"time\":1001,\"total_watts\":null,\"rows\":[{\"pid\":7,\"command\":\"x\","
		  "\"watts\":null,\"joules\":0,\"cpu_percent\":null}]}");
	draw(&top, &plain, &frame);
	assert_non_null(strstr(frame.data, "Node: not known\n"));
	assert_non_null(strstr(frame.data, "– W"));
	assert_null(strstr(frame.data, "0.00 W"));
	top_state_release(&top);
}

static void help_and_notices_have_their_place(void **state)
{
	struct top_style style = screen;
	CLEANUP(strbuf_release) struct strbuf frame = STRBUF_INIT;
	struct top_state top;

	begin_state(&top, 24, 100);
	style.notice = "the exporter does not answer";
	draw(&top, &style, &frame);
	assert_non_null(strstr(frame.data, "the exporter does not answer"));
	(void)snprintf(top.filter, sizeof(top.filter), "db");
	draw(&top, &style, &frame);
	assert_non_null(strstr(frame.data, "Filter: db"));
	top.shows_help = true;
	draw(&top, &style, &frame);
	assert_non_null(strstr(frame.data, "sort by power"));
	assert_null(strstr(frame.data, "burner"));
	top_state_release(&top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_line_is_wider_than_the_terminal),
		cmocka_unit_test(narrow_terminals_keep_what_matters),
		cmocka_unit_test(hints_are_whole_words),
		cmocka_unit_test(rows_without_room_have_their_sum),
		cmocka_unit_test(a_narrow_title_has_the_level_and_the_pause),
		cmocka_unit_test(names_cannot_command_the_terminal),
		cmocka_unit_test(the_head_makes_the_total),
		cmocka_unit_test(what_is_estimated_is_marked),
		cmocka_unit_test(a_terminal_without_utf8_gets_ascii),
		cmocka_unit_test(an_answer_is_shown_below_titles),
		cmocka_unit_test(a_total_that_is_not_known_is_not_0),
		cmocka_unit_test(help_and_notices_have_their_place),
	};

	return unit_run(tests);
}

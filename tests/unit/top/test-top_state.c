// SPDX-License-Identifier: Apache-2.0
#include "top/top_state.h"

#include "readings.h"

static bool press(struct top_state *state, char character)
{
	const struct top_event event = { .key = KEY_CHARACTER, .character = character };

	return top_state_key(state, &event);
}

static bool push(struct top_state *state, enum top_key key)
{
	const struct top_event event = { .key = key };

	return top_state_key(state, &event);
}

static void type_text(struct top_state *state, const char *text)
{
	for (; *text; text++)
		(void)press(state, *text);
}

static uint32_t pid_at(const struct top_state *state, size_t line)
{
	assert_true(line < state->line_count);
	return state->lines[line].row->pid;
}

static void rows_are_in_the_order_asked_for(void **state)
{
	struct top_state top;

	begin_state(&top, 24, 100);
	assert_int_equal(pid_at(&top, 0), 7);
	assert_true(press(&top, 'J'));
	assert_int_equal(pid_at(&top, 0), 8);
	assert_true(press(&top, 'N'));
	assert_int_equal(pid_at(&top, 0), 10); /* "a…" */
	assert_true(press(&top, 'W'));
	assert_true(press(&top, 'r')); /* the exporter has the largest only: all are needed */
	assert_int_equal(top_state_limit(&top), NOW_ROWS_MAX - 1);
	assert_int_equal(pid_at(&top, 0), 10);
	assert_true(top.lines[4].row->is_other); /* last in any order */
	top_state_release(&top);
}

static void a_filter_takes_names_owners_and_pids(void **state)
{
	struct top_state top;

	begin_state(&top, 24, 100);
	(void)press(&top, '/');
	type_text(&top, "DB");
	assert_int_equal(top.line_count, 3);
	assert_false(top.quits); /* "q" would be a letter, too */
	(void)push(&top, KEY_BACKSPACE);
	(void)push(&top, KEY_BACKSPACE);
	type_text(&top, "9");
	assert_int_equal(top.line_count, 1);
	assert_int_equal(pid_at(&top, 0), 9);
	(void)push(&top, KEY_ENTER);
	assert_false(top.is_typing);
	assert_int_equal(top.line_count, 1);
	(void)push(&top, KEY_ESCAPE);
	assert_int_equal(top.line_count, 5);
	top_state_release(&top);
}

static void a_tree_has_the_sums_of_owners(void **state)
{
	struct top_state top;

	begin_state(&top, 24, 100);
	assert_true(press(&top, 't'));
	assert_int_equal(top.line_count, 7);
	assert_true(top.lines[0].is_owner); /* 90 W of one process, then 80 W of three */
	assert_string_equal(top.lines[0].row->owner, "shop/web");
	assert_true(top.lines[2].is_owner);
	assert_true(top.lines[2].watts > 79.99 && top.lines[2].watts < 80.01);
	assert_int_equal(pid_at(&top, 3), 8);
	assert_true(top.lines[3].is_indented);
	assert_true(top.lines[6].row->is_other && !top.lines[6].is_indented);
	top_state_release(&top);
}

static void the_bar_stays_on_the_screen(void **state)
{
	struct top_state top;

	begin_state(&top, TOP_HEAD_LINES + TOP_FOOT_LINES + 2, 100); /* two rows */
	(void)push(&top, KEY_UP);
	assert_int_equal(top.selected, 0);
	(void)push(&top, KEY_DOWN);
	(void)push(&top, KEY_DOWN);
	assert_int_equal(top.selected, 2);
	assert_int_equal(top.first, 1);
	(void)push(&top, KEY_END);
	assert_int_equal(top.selected, 4);
	assert_int_equal(top.first, 3);
	(void)push(&top, KEY_PAGE_UP);
	assert_int_equal(top.first, 2);
	(void)push(&top, KEY_HOME);
	assert_int_equal(top.first, 0);
	(void)top_state_resize(&top, 0, 0); /* a terminal that does not say */
	assert_int_equal(top.columns, 80);
	top_state_release(&top);
}

/* The exporter is asked for rows of the screen: more of them would be made for nothing. */
static void only_pages_that_are_shown_are_asked_for(void **state)
{
	struct top_state top;

	begin_state(&top, TOP_HEAD_LINES + TOP_FOOT_LINES + 2, 100); /* two rows, of five */
	assert_int_equal(top_state_limit(&top), 2);
	assert_false(push(&top, KEY_DOWN));
	assert_true(push(&top, KEY_DOWN));
	assert_int_equal(top_state_limit(&top), 4);
	assert_false(push(&top, KEY_DOWN));
	assert_true(push(&top, KEY_END));
	assert_int_equal(top_state_limit(&top), NOW_ROWS_MAX - 1);
	take_text(&top, "{\"time\":1001,\"rows\":[{\"pid\":1},{\"pid\":2},{\"pid\":3},"
			"{\"pid\":4},{\"pid\":5},{\"pid\":6},{\"pid\":7}]}");
	assert_int_equal(top.selected, 6); /* the last of all */
	assert_true(push(&top, KEY_HOME));
	assert_int_equal(top_state_limit(&top), 2);
	top_state_release(&top);
}

static void the_bar_follows_its_row(void **state)
{
	struct top_state top;

	begin_state(&top, 24, 100);
	(void)push(&top, KEY_DOWN);
	(void)press(&top, 'F');
	assert_int_equal(pid_at(&top, top.selected), 8);
	(void)press(&top, 'J');
	assert_int_equal(top.selected, 0);
	assert_int_equal(pid_at(&top, top.selected), 8);
	top_state_release(&top);
}

static void a_click_selects_a_row(void **state)
{
	const struct top_event third = { .key = KEY_CLICK, .row = TOP_HEAD_LINES + 3, .column = 9 };
	const struct top_event head = { .key = KEY_CLICK, .row = TOP_HEAD_LINES, .column = 9 };
	struct top_state top;

	begin_state(&top, 24, 100);
	(void)top_state_key(&top, &third);
	assert_int_equal(top.selected, 2);
	assert_true(top_state_key(&top, &head));
	assert_int_equal(top.sort, TOP_BY_JOULES);
	top_state_release(&top);
}

static void a_pause_keeps_the_reading(void **state)
{
	struct top_state top;

	begin_state(&top, 24, 100);
	(void)press(&top, 'p');
	take_text(&top, "{\"time\":1001,\"rows\":[]}");
	assert_int_equal(top.line_count, 5);
	assert_true(press(&top, 'p')); /* the newest is needed */
	take_text(&top, "{\"time\":1002,\"rows\":[]}");
	assert_int_equal(top.line_count, 0);
	assert_int_equal(top.history_count, 2);
	take_text(&top, "{\"time\":1002,\"rows\":[]}"); /* the same */
	assert_int_equal(top.history_count, 2);
	(void)push(&top, KEY_DOWN);
	top_state_release(&top);
}

static void levels_turn_round(void **state)
{
	struct top_state top;

	begin_state(&top, 24, 100);
	assert_true(push(&top, KEY_LEFT));
	assert_int_equal(top.view, VIEW_GPU);
	assert_true(push(&top, KEY_TAB));
	assert_int_equal(top.view, LEVEL_PROCESS);
	assert_true(press(&top, '3'));
	assert_int_equal(top.view, LEVEL_POD);
	(void)press(&top, 'q');
	assert_true(top.quits);
	top_state_release(&top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_in_the_order_asked_for),
		cmocka_unit_test(a_filter_takes_names_owners_and_pids),
		cmocka_unit_test(a_tree_has_the_sums_of_owners),
		cmocka_unit_test(the_bar_stays_on_the_screen),
		cmocka_unit_test(only_pages_that_are_shown_are_asked_for),
		cmocka_unit_test(the_bar_follows_its_row),
		cmocka_unit_test(a_click_selects_a_row),
		cmocka_unit_test(a_pause_keeps_the_reading),
		cmocka_unit_test(levels_turn_round),
	};

	return unit_run(tests);
}

// SPDX-License-Identifier: Apache-2.0
#include "kube/poll_turn.h"

#include "tests/unit/unit.h"

#define MS 1000000ULL
#define S  (1000 * MS)

static uint64_t due_ms(struct poll_turn turn, uint64_t demanded_ms)
{
	return poll_turn_due_ns(&turn, demanded_ms * MS) / MS;
}

static void just_before_the_next_lookup(void **state)
{
	struct poll_turn turn = {
		.took_ns = 20 * MS, .pause_ns = S, .poll_ns = 15 * S, .interval_ns = S
	};

	/* Looked for at 10 s, and again at 11 s. */
	assert_int_equal(due_ms(turn, 10000), 10860);
	/* From then on once in each interval, at the same moment of it. */
	turn.began_ns = 10860 * MS;
	assert_int_equal(due_ms(turn, 11000), 11860);
	/* A slow kubelet is asked earlier, but not in the first half. */
	turn.began_ns = 0;
	turn.took_ns = 150 * MS;
	assert_int_equal(due_ms(turn, 10000), 10600);
	turn.took_ns = 2 * S;
	assert_int_equal(due_ms(turn, 10000), 10500);
}

static void at_most_once_a_second(void **state)
{
	struct poll_turn turn = { .pause_ns = S, .poll_ns = 15 * S, .interval_ns = 100 * MS };

	turn.began_ns = 10 * S;
	assert_int_equal(due_ms(turn, 10100), 11000);
	assert_int_equal(due_ms(turn, 12000), 12050);
	turn.pause_ns = 8 * S; /* after demands that brought nothing */
	assert_int_equal(due_ms(turn, 10100), 18000);
}

static void never_later_than_the_ordinary_poll(void **state)
{
	struct poll_turn turn = { .pause_ns = S, .poll_ns = 15 * S, .interval_ns = 60 * S };

	turn.began_ns = 10 * S;
	assert_int_equal(due_ms(turn, 11000), 25000);
	assert_int_equal(due_ms(turn, 25000), 25000);
}

static void at_once_if_a_lookup_may_come_at_any_time(void **state)
{
	struct poll_turn turn = { .pause_ns = S, .poll_ns = 15 * S };

	assert_int_equal(due_ms(turn, 7777), 7777);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(just_before_the_next_lookup),
		cmocka_unit_test(at_most_once_a_second),
		cmocka_unit_test(never_later_than_the_ordinary_poll),
		cmocka_unit_test(at_once_if_a_lookup_may_come_at_any_time),
	};

	return unit_run(tests);
}

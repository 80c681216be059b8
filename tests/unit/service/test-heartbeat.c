// SPDX-License-Identifier: Apache-2.0
#include "service/heartbeat.h"

#include "base/num.h"
#include "tests/unit/unit.h"

#define S NSEC_PER_SEC

static void silence_beyond_the_limit_is_not_life(void **state)
{
	struct heartbeat heartbeat;
	struct heartbeat_state look;

	heartbeat_init(&heartbeat, 100 * S, 30 * S);
	assert_true(heartbeat_look(&heartbeat, 130 * S).alive);
	look = heartbeat_look(&heartbeat, 130 * S + 1);
	assert_false(look.alive);
	assert_int_equal(look.limit_ns, 30 * S);
	assert_int_equal(look.silence_ns, 30 * S + 1);
	heartbeat_beat(&heartbeat, 131 * S);
	assert_true(heartbeat_look(&heartbeat, 161 * S).alive);
}

static void a_beat_after_the_question_is_life(void **state)
{
	struct heartbeat heartbeat;

	heartbeat_init(&heartbeat, 100 * S, 30 * S);
	assert_true(heartbeat_look(&heartbeat, 100 * S - 1).alive);
	assert_int_equal(heartbeat_look(&heartbeat, 100 * S - 1).silence_ns, 0);
}

static void the_limit_follows_the_interval(void **state)
{
	struct heartbeat heartbeat;

	assert_int_equal(heartbeat_limit_ns(30 * S, S), 30 * S);
	assert_int_equal(heartbeat_limit_ns(30 * S, 10 * S), 30 * S);
	assert_int_equal(heartbeat_limit_ns(30 * S, 60 * S), 180 * S);
	heartbeat_init(&heartbeat, 0, heartbeat_limit_ns(30 * S, S));
	heartbeat_set_limit(&heartbeat, heartbeat_limit_ns(30 * S, 60 * S));
	assert_true(heartbeat_look(&heartbeat, 180 * S).alive);
	assert_false(heartbeat_look(&heartbeat, 181 * S).alive);
}

static void it_says_what_is_done(void **state)
{
	struct heartbeat heartbeat;

	heartbeat_init(&heartbeat, 0, S);
	heartbeat_doing(&heartbeat, "reading the meters");
	assert_string_equal(heartbeat_look(&heartbeat, 0).doing, "reading the meters");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(silence_beyond_the_limit_is_not_life),
		cmocka_unit_test(a_beat_after_the_question_is_life),
		cmocka_unit_test(the_limit_follows_the_interval),
		cmocka_unit_test(it_says_what_is_done),
	};

	return unit_run(tests);
}

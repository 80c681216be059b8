// SPDX-License-Identifier: Apache-2.0
#include "net/backoff.h"

#include "tests/unit/unit.h"

static const struct backoff_limits limits = {
	.refused_min_ms = 2000,
	.refused_max_ms = 9000,
	.resume_ms = 1000,
	.retry_ms = 10000,
	.spread_ms = 2000,
	.denied_max_ms = 40000,
};
static const struct backoff_failure absent = { .kind = BACKOFF_ABSENT };
static const struct backoff_failure failed = { .kind = BACKOFF_FAILED };
static const struct backoff_failure denied = { .kind = BACKOFF_DENIED };

static uint64_t after(struct backoff *backoff, const struct backoff_failure *failure,
		      uint32_t chance)
{
	uint64_t wait_ms = backoff_failed(backoff, failure, chance);

	return wait_ms;
}

static void an_absent_peer_is_tried_within_ten_seconds(void **state)
{
	struct backoff backoff;

	backoff_init(&backoff, &limits);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(after(&backoff, &absent, 0), 2000);
		assert_int_equal(after(&backoff, &absent, UINT32_MAX), 9000);
		assert_in_range(after(&backoff, &absent, UINT32_MAX / 2), 5499, 5500);
	}
}

/* However long it lasts: never sooner than 10 s, and the names 10 s after its end. */
static void a_failing_peer_is_asked_each_ten_seconds(void **state)
{
	struct backoff backoff;

	backoff_init(&backoff, &limits);
	assert_int_equal(after(&backoff, &failed, UINT32_MAX), 12000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(after(&backoff, &failed, UINT32_MAX), 10000);
	backoff_succeeded(&backoff);
	assert_int_equal(after(&backoff, &failed, 0), 10000);
	assert_int_equal(after(&backoff, &absent, 0), 2000);
	assert_int_equal(after(&backoff, &failed, UINT32_MAX), 12000);
}

static void what_took_long_has_waited_already(void **state)
{
	struct backoff_failure slow = { .kind = BACKOFF_FAILED, .lasted_ms = 10000 };
	struct backoff backoff;

	backoff_init(&backoff, &limits);
	assert_int_equal(after(&backoff, &slow, 0), 1000);
	assert_int_equal(after(&backoff, &slow, UINT32_MAX), 2000);
	slow.lasted_ms = 9999;
	assert_int_equal(after(&backoff, &slow, 0), 10000);
	assert_int_equal(backoff_resume(&backoff, 0), 1000);
	assert_int_equal(backoff_resume(&backoff, UINT32_MAX), 2000);
}

static void who_denies_us_is_left_alone_longer_and_longer(void **state)
{
	static const uint64_t expected[] = { 10000, 20000, 40000, 40000, 40000 };
	struct backoff backoff;

	backoff_init(&backoff, &limits);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		assert_int_equal(after(&backoff, &denied, 0), expected[i]);
	assert_int_equal(after(&backoff, &denied, UINT32_MAX), 60000);
	backoff_succeeded(&backoff);
	assert_int_equal(after(&backoff, &denied, UINT32_MAX), 15000);
	assert_int_equal(after(&backoff, &absent, 0), 2000);
	assert_int_equal(after(&backoff, &denied, 0), 10000);
}

/* A peer's earlier behaviour in another way does not matter. */
static void another_kind_begins_again(void **state)
{
	struct backoff backoff;

	backoff_init(&backoff, &limits);
	assert_int_equal(after(&backoff, &failed, UINT32_MAX), 12000);
	assert_int_equal(after(&backoff, &failed, UINT32_MAX), 10000);
	assert_int_equal(after(&backoff, &denied, UINT32_MAX), 15000);
	assert_int_equal(after(&backoff, &denied, UINT32_MAX), 30000);
	assert_int_equal(after(&backoff, &failed, UINT32_MAX), 12000);
	assert_int_equal(after(&backoff, &failed, UINT32_MAX), 10000);
	assert_int_equal(after(&backoff, &denied, 0), 10000);
	assert_int_equal(after(&backoff, &denied, 0), 20000);
}

static void of_two_peers_neither_is_asked_too_soon(void **state)
{
	const struct backoff_failure slow = { .kind = BACKOFF_FAILED, .lasted_ms = 30000 };
	const struct backoff_failure told = { .kind = BACKOFF_FAILED, .retry_after_ms = 5000 };
	struct backoff_failure both = backoff_both(&absent, &absent);

	assert_int_equal(both.kind, BACKOFF_ABSENT);
	both = backoff_both(&denied, &denied);
	assert_int_equal(both.kind, BACKOFF_DENIED);
	both = backoff_both(&absent, &denied);
	assert_int_equal(both.kind, BACKOFF_FAILED);
	both = backoff_both(&denied, &slow);
	assert_int_equal(both.kind, BACKOFF_FAILED);
	assert_int_equal(both.lasted_ms, 0);
	both = backoff_both(&absent, &slow); /* an absent server was not asked */
	assert_int_equal(both.lasted_ms, 30000);
	both = backoff_both(&slow, &absent);
	assert_int_equal(both.lasted_ms, 30000);
	both = backoff_both(&slow, &told);
	assert_int_equal(both.retry_after_ms, 5000);
	both = backoff_both(&told, &slow);
	assert_int_equal(both.retry_after_ms, 5000);
}

static void what_the_peer_says_counts(void **state)
{
	struct backoff_failure told = { .kind = BACKOFF_FAILED, .retry_after_ms = 30000 };
	struct backoff backoff;

	backoff_init(&backoff, &limits);
	assert_int_equal(after(&backoff, &told, 0), 30000);
	assert_int_equal(after(&backoff, &told, UINT32_MAX), 40000);
	told.retry_after_ms = 1000; /* sooner than we would */
	assert_int_equal(after(&backoff, &told, 0), 10000);
	told.retry_after_ms = 86400000;
	assert_int_equal(after(&backoff, &told, 0), BACKOFF_TOLD_MAX_MS);
}

/* A thousand nodes that are sent away together come back evenly over ten seconds. */
static void many_spread(void **state)
{
	const struct backoff_failure told = { .kind = BACKOFF_FAILED, .retry_after_ms = 1000 };
	unsigned per_second[32] = { 0 };
	struct backoff backoff;

	for (uint32_t node = 0; node < 1000; node++) {
		uint64_t wait_ms;

		backoff_init(&backoff, &limits);
		wait_ms = after(&backoff, &told, node * 4294967U);
		assert_in_range(wait_ms, 10000, 20000);
		per_second[wait_ms / 1000]++;
	}
	for (size_t second = 10; second < 20; second++)
		assert_in_range(per_second[second], 90, 110);
}

/* So do those that boot together; one that starts later asks at once. */
static void many_that_boot_spread(void **state)
{
	unsigned per_second[10] = { 0 };

	for (uint32_t node = 0; node < 1000; node++) {
		uint64_t wait_ms = backoff_first(20000, 300000, 9999, node * 4294967U);

		assert_in_range(wait_ms, 0, 9999);
		per_second[wait_ms / 1000]++;
		assert_int_equal(backoff_first(300000, 300000, 9999, node * 4294967U), 0);
	}
	for (size_t second = 0; second < 10; second++)
		assert_in_range(per_second[second], 90, 110);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_absent_peer_is_tried_within_ten_seconds),
		cmocka_unit_test(a_failing_peer_is_asked_each_ten_seconds),
		cmocka_unit_test(what_took_long_has_waited_already),
		cmocka_unit_test(who_denies_us_is_left_alone_longer_and_longer),
		cmocka_unit_test(another_kind_begins_again),
		cmocka_unit_test(of_two_peers_neither_is_asked_too_soon),
		cmocka_unit_test(what_the_peer_says_counts),
		cmocka_unit_test(many_spread),
		cmocka_unit_test(many_that_boot_spread),
	};

	return unit_run(tests);
}

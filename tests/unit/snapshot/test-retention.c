// SPDX-License-Identifier: Apache-2.0
/* The rule of settling and keeping, moment by moment. */
#include "snapshot/retention.h"

#include "tests/unit/unit.h"

static const struct publisher_options options = { .settle_ns = 10, .keep_ns = 50 };

static struct moment moment(uint64_t now_ns)
{
	return (struct moment){ .now_ns = now_ns, .boottime_ms = 7 };
}

static enum retention at_time(const struct series_age *age, uint64_t last_ns,
			      const struct publisher_options *given, uint64_t now_ns)
{
	const struct moment at = moment(now_ns);

	return retention_of(age, last_ns, given, &at);
}

static void test_settles(void **state)
{
	const struct moment birth = moment(100), before = moment(109), then = moment(110);
	struct series_age age = series_age_born(&birth);

	assert_int_equal(age.born_ms, 7);
	assert_false(series_age_settle(&age, &options, &before));
	assert_int_equal(at_time(&age, 100, &options, 1000), RETENTION_HIDDEN);
	assert_true(series_age_settle(&age, &options, &then));
	assert_int_equal(age.since_ns, 110);
}

static void test_first_has_settled(void **state)
{
	const struct moment birth = { .now_ns = 100, .first = true };
	struct series_age age = series_age_born(&birth);

	assert_true(series_age_settle(&age, &options, &birth));
	assert_int_equal(age.since_ns, 100);
}

/* A series that is born while no snapshot can be made is seen later than it is born. */
static void test_hidden_does_not_count(void **state)
{
	struct moment at = moment(100);
	struct series_age age = series_age_born(&at), older = { .since_ns = 80 };

	at = (struct moment){ .now_ns = 130, .hidden_ns = 90, .visible_ns = 130 };
	assert_false(series_age_settle(&age, &options, &at));
	assert_int_equal(age.since_ns, 130);
	assert_true(series_age_settle(&older, &options, &at));
	at = moment(140);
	assert_true(series_age_settle(&age, &options, &at));
}

static void test_is_kept(void **state)
{
	const struct series_age age = { .since_ns = 200, .settled = true };

	assert_int_equal(at_time(&age, 300, &options, 309), RETENTION_SHOWN);
	assert_int_equal(at_time(&age, 300, &options, 310), RETENTION_EARLY);
	assert_int_equal(at_time(&age, 300, &options, 349), RETENTION_EARLY);
	assert_int_equal(at_time(&age, 300, &options, 350), RETENTION_OVER);
	/* It ended while it was hidden: it is kept from when it settled. */
	assert_int_equal(at_time(&age, 150, &options, 209), RETENTION_SHOWN);
	assert_int_equal(at_time(&age, 150, &options, 249), RETENTION_EARLY);
	assert_int_equal(at_time(&age, 150, &options, 250), RETENTION_OVER);
}

/* A last value that no snapshot could show is kept from the first one on that shows it. */
static void test_is_kept_after_it_could_be_seen(void **state)
{
	const struct series_age age = { .since_ns = 200, .settled = true };
	struct moment at = { .now_ns = 400, .hidden_ns = 300, .visible_ns = 400 };

	assert_int_equal(retention_of(&age, 300, &options, &at), RETENTION_SHOWN);
	at.now_ns = 449; /* there have been snapshots since */
	assert_int_equal(retention_of(&age, 300, &options, &at), RETENTION_EARLY);
	assert_int_equal(retention_of(&age, 399, &options, &at), RETENTION_EARLY);
	assert_int_equal(retention_of(&age, 299, &options, &at), RETENTION_OVER);
	at.now_ns = 450;
	assert_int_equal(retention_of(&age, 300, &options, &at), RETENTION_OVER);
}

static void test_keeps_at_least_as_long_as_it_settles(void **state)
{
	const struct publisher_options less = { .settle_ns = 10, .keep_ns = 3 };
	const struct series_age age = { .since_ns = 200, .settled = true };

	assert_int_equal(at_time(&age, 300, &less, 309), RETENTION_SHOWN);
	assert_int_equal(at_time(&age, 300, &less, 310), RETENTION_OVER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_settles),
		cmocka_unit_test(test_first_has_settled),
		cmocka_unit_test(test_hidden_does_not_count),
		cmocka_unit_test(test_is_kept),
		cmocka_unit_test(test_is_kept_after_it_could_be_seen),
		cmocka_unit_test(test_keeps_at_least_as_long_as_it_settles),
	};

	return unit_run(tests);
}

// SPDX-License-Identifier: Apache-2.0
#include "meter/zone_samples.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/num.h"

#define RANGE_UJ     1000000000ULL /* 1 kJ */
#define POWER_UW     280000000ULL
#define MAX_POWER_UW 2000000000ULL
#define BEGIN_NS     NSEC_PER_SEC

/* A counter of constant power that is read at @time_ns. */
static int take_at(struct zone_samples *samples, int error, uint64_t time_ns)
{
	uint64_t truth_uj = muldiv_u64(POWER_UW, time_ns - BEGIN_NS, NSEC_PER_SEC);
	const struct raw_reading raw = { truth_uj % (RANGE_UJ + 1), RANGE_UJ, 1 };
	const struct reading_time when = { time_ns, time_ns, time_ns };

	return zone_samples_take(samples, error, &raw, &when);
}

/* One hour, turned a thousand times: who reads when it is due misses nothing. */
static void test_reading_when_due_misses_no_turn(void **state)
{
	const uint64_t end_ns = BEGIN_NS + 3600 * NSEC_PER_SEC;
	struct zone_samples samples = { .max_power_uw = MAX_POWER_UW };
	uint64_t time_ns = BEGIN_NS;

	(void)state;
	assert_int_equal(zone_samples_due_ns(&samples), UINT64_MAX);
	while (time_ns < end_ns) {
		assert_int_equal(take_at(&samples, 0, time_ns), 0);
		time_ns = zone_samples_due_ns(&samples);
	}
	assert_int_equal(take_at(&samples, 0, end_ns), 0);
	assert_int_equal(samples.counter.energy_uj, POWER_UW * 3600);
	assert_int_equal(samples.counter.wraps, 1007); /* of 1,008,000 J: a turn has 1 uJ more */
	assert_int_equal(samples.counter.dropped, 0);
	assert_int_equal(samples.reads, 3600 * 4 + 1); /* 250 ms, half of a turn at 2 kW */
}

/* What happened between two passes is known until it was passed on. */
static void test_an_outage_is_remembered(void **state)
{
	struct zone_samples samples = { .max_power_uw = MAX_POWER_UW };
	struct energy_span span;

	(void)state;
	take_at(&samples, 0, BEGIN_NS);
	assert_false(samples.refused); /* a first reading follows nothing */
	span = zone_samples_span(&samples);
	assert_true(!span.known && span.from_ns == 0 && span.to_ns == BEGIN_NS);
	take_at(&samples, 0, BEGIN_NS + 5 * NSEC_PER_SEC); /* 1,400 J, of which 399 show */
	take_at(&samples, 0, BEGIN_NS + 5250000000);
	assert_true(samples.refused);
	assert_int_equal(samples.counter.dropped, 1);
	span = zone_samples_span(&samples);
	assert_true(!span.known && span.from_ns == BEGIN_NS);
	assert_int_equal(span.energy_uj, 0);
	take_at(&samples, 0, BEGIN_NS + 5500000000);
	take_at(&samples, 0, BEGIN_NS + 5750000000);
	assert_false(samples.refused);
	span = zone_samples_span(&samples);
	assert_true(span.known && span.from_ns == BEGIN_NS + 5250000000);
	assert_int_equal(span.to_ns - span.from_ns, NSEC_PER_SEC / 2);
	assert_int_equal(span.energy_uj, POWER_UW / 2);
}

static void test_attempts_that_fail_are_not_repeated_at_once(void **state)
{
	struct zone_samples samples = { .max_power_uw = MAX_POWER_UW };
	uint64_t due_ns;

	(void)state;
	take_at(&samples, 0, BEGIN_NS);
	due_ns = zone_samples_due_ns(&samples);
	assert_int_equal(take_at(&samples, -EIO, due_ns), -EIO);
	assert_int_equal(zone_samples_due_ns(&samples) - due_ns, due_ns - BEGIN_NS);
	assert_int_equal(samples.counter.dropped, 0);
	assert_int_equal(take_at(&samples, -EBADMSG, due_ns), -EBADMSG);
	assert_int_equal(samples.counter.dropped, 1);
	assert_int_equal(samples.reads, 3);
}

static void test_zones_read_together_stay_together(void **state)
{
	struct zone_samples samples = { .max_power_uw = MAX_POWER_UW };

	(void)state;
	assert_false(zone_samples_may_join(&samples, BEGIN_NS));
	take_at(&samples, 0, BEGIN_NS);
	assert_false(zone_samples_may_join(&samples, BEGIN_NS + 124 * NSEC_PER_MSEC));
	assert_true(zone_samples_may_join(&samples, BEGIN_NS + 125 * NSEC_PER_MSEC));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reading_when_due_misses_no_turn),
		cmocka_unit_test(test_an_outage_is_remembered),
		cmocka_unit_test(test_attempts_that_fail_are_not_repeated_at_once),
		cmocka_unit_test(test_zones_read_together_stay_together),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

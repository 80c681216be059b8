// SPDX-License-Identifier: Apache-2.0
#include "meter/zone_samples.h"

#include "base/num.h"
#include "tests/unit/unit.h"

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

/* The largest number of a field does not stand for a power: 4,295 W could be one of a machine. */
static void test_an_unknown_power_is_not_zero(void **state)
{
	static const uint64_t unknown_uw[] = {
		4294967295, 2147483647, 4294967295000, 4294967295000000, 65535000000, UINT64_MAX,
	};
	struct zone_samples samples = { .max_power_uw = 20000000000, .bridge_ns = NSEC_PER_SEC };
	struct reading_time when = { BEGIN_NS, BEGIN_NS, BEGIN_NS };
	struct raw_reading raw = { .kind = SAMPLE_POWER, .value = 4294967294 };

	assert_int_equal(zone_samples_take(&samples, 0, &raw, &when), 0);
	for (size_t i = 0; i < sizeof(unknown_uw) / sizeof(*unknown_uw); i++) {
		raw.value = unknown_uw[i];
		when.begun_ns = when.time_ns = when.boottime_ns = BEGIN_NS + i + 1;
		assert_int_equal(zone_samples_take(&samples, 0, &raw, &when), -ENODATA);
		assert_int_equal(samples.counter.refusals, 0);
	}
}

/* One hour, a thousand wraps: a reader that reads when it is due misses nothing. */
static void test_reading_when_due_misses_no_turn(void **state)
{
	const uint64_t end_ns = BEGIN_NS + 3600 * NSEC_PER_SEC;
	struct zone_samples samples = { .max_power_uw = MAX_POWER_UW };
	uint64_t time_ns = BEGIN_NS;

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

/* Events between two passes are known until they are passed on. */
static void test_an_outage_is_remembered(void **state)
{
	struct zone_samples samples = { .max_power_uw = MAX_POWER_UW };
	struct energy_span span;

	take_at(&samples, 0, BEGIN_NS);
	assert_false(samples.refused); /* a first reading follows nothing */
	span = zone_samples_span(&samples);
	assert_true(!span.known && span.from_ns == 0 && span.to_ns == BEGIN_NS);
	take_at(&samples, 0, BEGIN_NS + 5 * NSEC_PER_SEC); /* 1,400 J, and 399 of them show */
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

	assert_false(zone_samples_may_join(&samples, BEGIN_NS));
	take_at(&samples, 0, BEGIN_NS);
	assert_false(zone_samples_may_join(&samples, BEGIN_NS + 124 * NSEC_PER_MSEC));
	assert_true(zone_samples_may_join(&samples, BEGIN_NS + 125 * NSEC_PER_MSEC));
}

#define SLOW_NS (10 * NSEC_PER_SEC)

static int take_raw(struct zone_samples *samples, const struct raw_reading *raw, uint64_t time_ns)
{
	const struct reading_time when = { time_ns, time_ns, time_ns };

	return zone_samples_take(samples, 0, raw, &when);
}

/* A source that reports the state of 3 s ago, and repeats it until it knows something newer. */
static void test_a_total_is_of_when_its_source_says(void **state)
{
	struct zone_samples samples = { .max_power_uw = MAX_POWER_UW };
	struct raw_reading raw = { .value = 5, .kind = SAMPLE_TOTAL, .to_ns = BEGIN_NS };
	struct energy_span span;

	assert_int_equal(take_raw(&samples, &raw, BEGIN_NS + 3 * NSEC_PER_SEC), 0);
	assert_false(zone_samples_span(&samples).known);
	assert_int_equal(take_raw(&samples, &raw, BEGIN_NS + 9 * NSEC_PER_SEC), -EAGAIN);
	raw = (struct raw_reading){ 5 + POWER_UW * 10, .kind = SAMPLE_TOTAL,
				    .to_ns = BEGIN_NS + SLOW_NS };
	assert_int_equal(take_raw(&samples, &raw, BEGIN_NS + 13 * NSEC_PER_SEC), 0);
	span = zone_samples_span(&samples);
	assert_true(span.known && span.from_ns == BEGIN_NS && span.to_ns == BEGIN_NS + SLOW_NS);
	assert_int_equal(span.energy_uj, POWER_UW * 10);
	assert_true(zone_samples_due_ns(&samples) > UINT64_MAX / 8); /* nothing turns */
}

static void test_a_total_that_falls_was_reset(void **state)
{
	struct zone_samples samples = { .max_power_uw = MAX_POWER_UW };
	struct raw_reading raw = { .value = 1000, .kind = SAMPLE_TOTAL };

	assert_int_equal(take_raw(&samples, &raw, BEGIN_NS), 0);
	raw.value = 999;
	assert_int_equal(take_raw(&samples, &raw, BEGIN_NS + SLOW_NS), 0);
	assert_true(samples.refused && samples.counter.dropped == 1 && samples.counter.wraps == 0);
	(void)zone_samples_span(&samples);
	raw.value = 1009;
	assert_int_equal(take_raw(&samples, &raw, BEGIN_NS + 2 * SLOW_NS), 0);
	assert_int_equal(zone_samples_span(&samples).energy_uj, 10);
}

static int take_power_at(struct zone_samples *samples, uint64_t watts, uint64_t from_s,
			 uint64_t to_s)
{
	const struct raw_reading raw = { .value = watts * 1000000,
					 .kind = SAMPLE_POWER,
					 .from_ns = from_s * NSEC_PER_SEC,
					 .to_ns = to_s * NSEC_PER_SEC };

	return take_raw(samples, &raw, to_s * NSEC_PER_SEC);
}

/* A source that knows the idle part, and has checked its values itself. */
static void test_a_total_has_its_idle_part(void **state)
{
	struct zone_samples samples = { .max_power_uw = 1000 };
	struct raw_reading raw = { .kind = SAMPLE_TOTAL, .value = 500, .idle_uj = 100 };
	struct reading_time when = { BEGIN_NS, BEGIN_NS, BEGIN_NS };
	struct energy_span span;

	assert_int_equal(zone_samples_take(&samples, 0, &raw, &when), 0);
	(void)zone_samples_span(&samples);
	for (unsigned i = 0; i < 2; i++) {
		raw.value += 300000;
		raw.idle_uj += 7;
		raw.is_plausible = i == 0;
		when.begun_ns = when.time_ns = when.boottime_ns += NSEC_PER_SEC;
		assert_int_equal(zone_samples_take(&samples, 0, &raw, &when), 0);
		span = zone_samples_span(&samples);
		assert_int_equal(span.known, raw.is_plausible);
		assert_int_equal(span.energy_uj, raw.is_plausible ? 300000 : 0);
		assert_int_equal(span.idle_uj, raw.is_plausible ? 7 : 0);
	}
	/* Refused energy is in no later span. */
	raw.value += 30;
	raw.idle_uj += 3;
	raw.generation = 0;
	when.begun_ns = when.time_ns = when.boottime_ns += NSEC_PER_SEC;
	assert_int_equal(zone_samples_take(&samples, 0, &raw, &when), 0);
	span = zone_samples_span(&samples);
	assert_true(span.known);
	assert_int_equal(span.energy_uj, 30);
	assert_int_equal(span.idle_uj, 3);
}

static void test_power_is_energy_over_its_time(void **state)
{
	struct zone_samples samples = { .max_power_uw = MAX_POWER_UW, .bridge_ns = 3 * SLOW_NS };
	struct energy_span span;

	assert_int_equal(take_power_at(&samples, 100, 90, 100), 0);
	assert_false(zone_samples_span(&samples).known); /* since when it is counted */
	assert_int_equal(take_power_at(&samples, 100, 100, 110), 0);
	assert_int_equal(take_power_at(&samples, 200, 110, 120), 0);
	span = zone_samples_span(&samples);
	assert_true(span.known && span.to_ns - span.from_ns == 2 * SLOW_NS);
	assert_int_equal(span.energy_uj, 3000000000);
	assert_int_equal(take_power_at(&samples, 100, 0, 130), 0); /* of a moment: from 200 W */
	assert_int_equal(zone_samples_span(&samples).energy_uj, 1500000000);
}

static void test_a_hole_of_more_than_three_periods_is_not_bridged(void **state)
{
	struct zone_samples samples = { .max_power_uw = MAX_POWER_UW, .bridge_ns = 3 * SLOW_NS };

	(void)take_power_at(&samples, 100, 0, 100);
	(void)zone_samples_span(&samples);
	(void)take_power_at(&samples, 100, 0, 130);
	assert_int_equal(zone_samples_span(&samples).energy_uj, 3000000000);
	(void)take_power_at(&samples, 100, 0, 161);
	assert_false(zone_samples_span(&samples).known);
	(void)take_power_at(&samples, 100, 0, 171);
	assert_int_equal(zone_samples_span(&samples).energy_uj, 1000000000);
	(void)take_power_at(&samples, 2001, 0, 181); /* more than the zone can draw */
	assert_true(samples.refused && samples.counter.dropped == 1);
	assert_false(zone_samples_span(&samples).known);
	samples.bridge_ns = 0; /* a source that is read in each pass reports no power */
	assert_int_equal(take_power_at(&samples, 100, 0, 191), -ENOTSUP);
}

/* A BMC whose mean is over a minute has a value once a minute. */
static void test_a_mean_stands_for_all_of_its_time(void **state)
{
	struct zone_samples samples = { .max_power_uw = MAX_POWER_UW, .bridge_ns = NSEC_PER_SEC };
	struct energy_span span;

	(void)take_power_at(&samples, 100, 40, 100);
	(void)zone_samples_span(&samples);
	(void)take_power_at(&samples, 300, 100, 160);
	span = zone_samples_span(&samples);
	assert_true(span.known);
	assert_int_equal(span.energy_uj, 18000000000);
	assert_int_equal(span.since_ns, 0); /* of the span alone */
	(void)take_power_at(&samples, 300, 130, 190);
	span = zone_samples_span(&samples);
	assert_true(span.known && span.to_ns - span.from_ns == 30 * NSEC_PER_SEC);
	assert_true(span.from_ns - span.since_ns == 30 * NSEC_PER_SEC);
	(void)take_power_at(&samples, 100, 191, 250); /* nothing is known of a second */
	span = zone_samples_span(&samples);
	assert_true(!span.known && !span.since_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_unknown_power_is_not_zero),
		cmocka_unit_test(test_reading_when_due_misses_no_turn),
		cmocka_unit_test(test_an_outage_is_remembered),
		cmocka_unit_test(test_attempts_that_fail_are_not_repeated_at_once),
		cmocka_unit_test(test_zones_read_together_stay_together),
		cmocka_unit_test(test_a_total_is_of_when_its_source_says),
		cmocka_unit_test(test_a_total_that_falls_was_reset),
		cmocka_unit_test(test_a_total_has_its_idle_part),
		cmocka_unit_test(test_power_is_energy_over_its_time),
		cmocka_unit_test(test_a_hole_of_more_than_three_periods_is_not_bridged),
		cmocka_unit_test(test_a_mean_stands_for_all_of_its_time),
	};

	return unit_run(tests);
}

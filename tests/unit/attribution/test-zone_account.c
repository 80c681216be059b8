// SPDX-License-Identifier: Apache-2.0
#include "attribution/zone_account.h"

#include "base/num.h"
#include "tests/unit/unit.h"

#define SETTLE_NS (15 * NSEC_PER_SEC)

static const struct zone package0 = {
	.kind = ZONE_PACKAGE,
	.instance = "0",
	.source = "rapl-sysfs",
};

static const struct zone modelled = {
	.kind = ZONE_PLATFORM,
	.source = "trained_power_model",
	.quality = QUALITY_ESTIMATED,
	.knows_idle = true,
};

static const struct zone virtual_machine = {
	.kind = ZONE_PLATFORM,
	.quality = QUALITY_ESTIMATED,
	.scope = SCOPE_VM_DYNAMIC,
};

static const struct zone_activity busy = { .dt_ns = NSEC_PER_SEC, .utilisation = 0.5 };

static const struct zone_status up = { .state = ZONE_UP };

/* The energy that flowed from one time to the other; 0: from a first reading on. */
static struct energy_span flow(uint64_t energy_uj, uint64_t from_s, uint64_t to_s)
{
	return (struct energy_span){
		.known = from_s > 0,
		.from_ns = from_s * NSEC_PER_SEC,
		.to_ns = to_s * NSEC_PER_SEC,
		.energy_uj = energy_uj,
	};
}

/* A reading that only reports a starting time is counted again. */
static struct energy_span unknown(uint64_t from_s, uint64_t to_s)
{
	return (struct energy_span){
		.from_ns = from_s * NSEC_PER_SEC,
		.to_ns = to_s * NSEC_PER_SEC,
	};
}

static struct zone_interval advance(struct zone_account *account, struct energy_span span)
{
	return zone_account_advance(account, &up, &span, &busy, SETTLE_NS);
}

/* An interval without a span. */
static struct zone_interval missed(struct zone_account *account, enum zone_state state)
{
	const struct zone_status status = { .state = state, .error = -5 };

	return zone_account_advance(account, &status, NULL, &busy, SETTLE_NS);
}

static void test_energy_is_what_flowed_in_a_span(void **state)
{
	const struct idle_options config = { .mode = IDLE_MODE_OFF };
	struct zone_account account;
	struct zone_interval interval;

	zone_account_init(&account, &package0, &config, 0);
	interval = advance(&account, unknown(0, 10));
	assert_int_equal(interval.energy_uj, 0);
	interval = advance(&account, flow(40, 10, 11));
	assert_int_equal(interval.energy_uj, 40);
	interval = missed(&account, ZONE_ERROR);
	assert_int_equal(interval.energy_uj, 0);
	assert_true(isnan(account.watts[MODE_DYNAMIC]));
	interval = advance(&account, flow(60, 11, 13)); /* covers the gap */
	assert_int_equal(interval.energy_uj, 60);
	assert_int_equal(interval.dt_ns, 2 * NSEC_PER_SEC);
	assert_int_equal(account.span_ns, 2 * NSEC_PER_SEC);
}

/* Energy from before a zone was adopted is not counted. */
static void test_the_first_span_counts_nothing(void **state)
{
	const struct idle_options config = { .mode = IDLE_MODE_OFF };
	struct zone_account account;

	zone_account_init(&account, &package0, &config, 0);
	assert_int_equal(advance(&account, flow(40, 10, 11)).energy_uj, 0);
	assert_int_equal(advance(&account, flow(40, 11, 12)).energy_uj, 40);
}

/* A refused reading counts nothing, and the next one counts from it. */
static void test_a_refused_reading_is_a_baseline(void **state)
{
	const struct idle_options config = { .mode = IDLE_MODE_OFF };
	const struct zone_status refused = { .state = ZONE_REFUSED };
	const struct energy_span lost = unknown(11, 111);
	struct zone_account account;
	struct zone_interval interval;

	zone_account_init(&account, &package0, &config, 0);
	(void)advance(&account, unknown(0, 10));
	(void)advance(&account, flow(40, 10, 11));
	interval = zone_account_advance(&account, &refused, &lost, &busy, SETTLE_NS);
	assert_int_equal(interval.energy_uj, 0);
	assert_true(isnan(account.watts[MODE_DYNAMIC]));
	assert_int_equal(account.up_time_ns, 11 * NSEC_PER_SEC);
	interval = advance(&account, flow(30, 111, 112));
	assert_int_equal(interval.energy_uj, 30);
	assert_int_equal(interval.dt_ns, NSEC_PER_SEC);
}

/* A counter that was reset or opened again says nothing of the time before: not even 0 W. */
/* The rival has counted up to 4 s, and the zone is read at 3 s and each second from then on. */
static void test_no_time_of_a_rival_counts_again(void **state)
{
	(void)state;
	const struct idle_options config = { .mode = IDLE_MODE_OFF };
	struct zone_account account;

	zone_account_init(&account, &package0, &config, 0);
	(void)advance(&account, unknown(0, 1));
	zone_account_follow_rival(&account, true, 2 * NSEC_PER_SEC);
	zone_account_follow_rival(&account, false, 4 * NSEC_PER_SEC);
	zone_account_follow_rival(&account, false, 5 * NSEC_PER_SEC);
	assert_int_equal(advance(&account, flow(7, 3, 5)).energy_uj, 0);
	assert_int_equal(advance(&account, flow(7, 5, 6)).energy_uj, 7);
	zone_account_init(&account, &package0, &config, 0);
	(void)advance(&account, unknown(0, 3));
	zone_account_follow_rival(&account, false, 4 * NSEC_PER_SEC);
	assert_int_equal(advance(&account, flow(7, 3, 5)).energy_uj, 7);
}

static void test_a_restarted_counter_has_no_power(void **state)
{
	const struct idle_options config = { .mode = IDLE_MODE_LEARNED };
	struct zone_account account;

	zone_account_init(&account, &package0, &config, 0);
	(void)advance(&account, unknown(0, 10));
	(void)advance(&account, flow(40, 10, 11));
	assert_int_equal(advance(&account, unknown(11, 12)).energy_uj, 0);
	assert_true(isnan(account.watts[MODE_DYNAMIC]));
	assert_int_equal(account.span_ns, 0);
	assert_int_equal(account.learner.time_ns, NSEC_PER_SEC);
	assert_int_equal(advance(&account, flow(50, 12, 13)).energy_uj, 50);
	assert_int_equal(account.span_ns, NSEC_PER_SEC);
}

static void test_fixed_idle_is_power_times_measured_time(void **state)
{
	const struct idle_options config = {
		.mode = IDLE_MODE_FIXED,
		.watts = { { "package-0", 2.5 } },
		.watts_count = 1,
	};
	struct zone_account account;
	struct zone_interval interval;

	zone_account_init(&account, &package0, &config, 0);
	assert_int_equal(account.idle_state, IDLE_FIXED);
	(void)advance(&account, unknown(0, 1));
	interval = advance(&account, flow(10000000, 1, 3));
	assert_int_equal(interval.idle_uj, 5000000);
	interval =
		advance(&account, flow(1, 3, 4)); /* less than idle: never more than was measured */
	assert_int_equal(interval.idle_uj, 1);
}

static void test_fixed_without_a_figure_for_the_zone_is_off(void **state)
{
	const struct idle_options config = {
		.mode = IDLE_MODE_FIXED,
		.watts = { { "dram", 2.5 } },
		.watts_count = 1,
	};
	struct zone_account account;

	zone_account_init(&account, &package0, &config, 0);
	assert_int_equal(account.idle_state, IDLE_OFF);
	assert_false(zone_account_has_idle(&account));
}

static void test_a_model_says_its_own_idle_part(void **state)
{
	const struct idle_options config = { .mode = IDLE_MODE_LEARNED };
	struct zone_account account;
	struct energy_span span = flow(100, 1, 2);
	struct zone_interval interval;

	span.idle_uj = 60;
	zone_account_init(&account, &modelled, &config, 0);
	assert_int_equal(account.idle_state, IDLE_MODEL);
	(void)advance(&account, unknown(0, 1));
	interval = advance(&account, span);
	assert_int_equal(interval.idle_uj, 60);
}

static void test_a_virtual_machine_has_no_idle_part(void **state)
{
	const struct idle_options config = {
		.mode = IDLE_MODE_FIXED,
		.watts = { { "platform", 50 } },
		.watts_count = 1,
	};
	struct zone_account account;

	zone_account_init(&account, &virtual_machine, &config, 0);
	assert_int_equal(account.idle_state, IDLE_ABSENT);
	(void)advance(&account, unknown(0, 1));
	assert_int_equal(advance(&account, flow(100, 1, 2)).idle_uj, 0);
}

/*
 * 20 W + 30 W × utilisation, for at most 119 intervals of @interval_s of changing load. The second
 * in which it was learned, or 0.
 */
static uint64_t teach(struct zone_account *account, uint64_t interval_s)
{
	(void)advance(account, unknown(0, 1));
	for (uint64_t i = 2; i <= 120; i++) {
		const uint64_t to_s = 1 + (i - 1) * interval_s;
		const struct zone_activity activity = {
			.dt_ns = interval_s * NSEC_PER_SEC,
			.utilisation = (double)(i % 10) / 10,
		};
		const struct energy_span span =
			flow((20000000 + 3000000 * (i % 10)) * interval_s, to_s - interval_s, to_s);

		(void)zone_account_advance(account, &up, &span, &activity, SETTLE_NS);
		if (account->idle_state == IDLE_LEARNED)
			return to_s;
	}
	return 0;
}

static void test_learned_idle_power_does_not_depend_on_the_interval(void **state)
{
	const struct idle_options config = { .mode = IDLE_MODE_LEARNED };
	struct zone_account account;

	for (uint64_t interval_s = 1; interval_s <= 5; interval_s += 2) {
		zone_account_init(&account, &package0, &config, 0);
		assert_int_not_equal(teach(&account, interval_s), 0);
		assert_in_range(account.idle_power_uw, 19900000, 20100000);
	}
}

/* From the first span on: on a quiet machine none of it is work. */
static void test_a_bound_is_split_off_until_idle_power_is_learned(void **state)
{
	const struct idle_options config = { .mode = IDLE_MODE_LEARNED };
	const struct zone_activity quiet = { .dt_ns = NSEC_PER_SEC };
	const struct energy_span span = flow(14000000, 1, 2);
	struct zone_account account;
	struct zone_interval interval;

	zone_account_init(&account, &package0, &config, 0);
	assert_int_equal(account.idle_state, IDLE_PROVISIONAL);
	assert_true(zone_account_has_idle(&account));
	(void)zone_account_advance(&account, &up, &(struct energy_span){ .to_ns = NSEC_PER_SEC },
				   &quiet, SETTLE_NS);
	interval = zone_account_advance(&account, &up, &span, &quiet, SETTLE_NS);
	assert_int_equal(interval.idle_uj, 14000000);
	assert_int_equal(account.idle_state, IDLE_PROVISIONAL);
}

/* Values learned later concern energy that flows later. */
static void test_learned_idle_follows_the_bound_without_a_pause(void **state)
{
	const struct idle_options config = { .mode = IDLE_MODE_LEARNED };
	struct zone_account account;
	uint64_t learned_s;

	zone_account_init(&account, &package0, &config, 0);
	learned_s = teach(&account, 1);
	assert_in_range(learned_s, 60, 90);
	assert_int_equal(advance(&account, flow(35000000, learned_s, learned_s + 1)).idle_uj,
			 account.idle_power_uw);
}

/* A GPU whose use is not reported is never taken to be at rest. */
static void test_a_device_teaches_from_its_first_use_on(void **state)
{
	const struct idle_options config = { .mode = IDLE_MODE_LEARNED };
	const struct zone gpu = { .kind = ZONE_GPU, .instance = "GPU-a", .source = "nvml" };
	struct zone_activity seen = { .dt_ns = NSEC_PER_SEC };
	struct zone_account account;

	zone_account_init(&account, &gpu, &config, 0);
	(void)advance(&account, unknown(0, 1));
	for (uint64_t s = 1; s < 1000; s++) {
		const struct energy_span span = flow(300000000, s, s + 1);
		struct zone_interval interval =
			zone_account_advance(&account, &up, &span, &seen, SETTLE_NS);

		assert_int_equal(interval.idle_uj, 0);
		assert_int_equal(account.idle_state, IDLE_PROVISIONAL);
	}
	seen.utilisation = 0.5;
	(void)zone_account_advance(&account, &up,
				   &(struct energy_span){ .known = true,
							  .from_ns = 1000 * NSEC_PER_SEC,
							  .to_ns = 1001 * NSEC_PER_SEC,
							  .energy_uj = 300000000 },
				   &seen, SETTLE_NS);
	assert_in_range(account.idle_power_uw, 1, 150000000);
}

static void test_idle_that_a_reload_brings_is_split_off_once_its_series_was_seen(void **state)
{
	const struct idle_options off = { .mode = IDLE_MODE_OFF };
	const struct idle_options fixed = {
		.mode = IDLE_MODE_FIXED,
		.watts = { { "package", 2 } },
		.watts_count = 1,
	};
	struct zone_account account;

	zone_account_init(&account, &package0, &off, 0);
	(void)advance(&account, unknown(0, 10));
	zone_account_bear_series(&account, true);
	zone_account_configure(&account, &fixed);
	assert_int_equal(advance(&account, flow(10000000, 10, 11)).idle_uj, 0);
	zone_account_configure(&account, &fixed); /* again: nothing is born */
	assert_int_equal(advance(&account, flow(10000000, 11, 25)).idle_uj, 0);
	assert_int_equal(advance(&account, flow(10000000, 25, 26)).idle_uj, 2000000);
}

/* It fails from the start on: its series are there all the same, and so is the idle one. */
static void test_idle_that_a_reload_brings_to_a_failing_zone_settles_too(void **state)
{
	const struct idle_options off = { .mode = IDLE_MODE_OFF };
	const struct idle_options fixed = {
		.mode = IDLE_MODE_FIXED,
		.watts = { { "package", 2 } },
		.watts_count = 1,
	};
	struct zone_account account;

	zone_account_init(&account, &package0, &off, 0);
	(void)missed(&account, ZONE_STALLED);
	zone_account_bear_series(&account, true);
	zone_account_configure(&account, &fixed);
	zone_account_bear_series(&account, true);
	assert_true(account.has_mode[MODE_IDLE]);
	(void)advance(&account, unknown(0, 10));
	assert_int_equal(advance(&account, flow(10000000, 10, 11)).idle_uj, 0);
	assert_int_equal(advance(&account, flow(10000000, 25, 26)).idle_uj, 2000000);
}

static void test_a_zone_that_appears_late_counts_once_its_series_were_seen(void **state)
{
	const struct idle_options off = { .mode = IDLE_MODE_OFF };
	struct zone_account account;
	struct energy_span span;

	zone_account_init(&account, &package0, &off, 0);
	account.late = true;
	assert_int_equal(advance(&account, unknown(0, 10)).energy_uj, 0);
	span = flow(14000000, 10, 24);
	assert_false(zone_account_counts(&account, &span));
	assert_int_equal(advance(&account, span).energy_uj, 0);
	assert_true(isnan(account.watts[MODE_DYNAMIC]));
	span = flow(1000000, 24, 25);
	assert_true(zone_account_counts(&account, &span));
	assert_int_equal(advance(&account, span).energy_uj, 1000000);
}

/* Before it counts an estimate does: what a gap hides would be in both. */
static void test_a_late_zone_begins_without_a_gap(void **state)
{
	const struct idle_options off = { .mode = IDLE_MODE_OFF };
	struct zone_account account;
	struct energy_span span;

	zone_account_init(&account, &package0, &off, 0);
	account.late = true;
	(void)advance(&account, unknown(0, 10));
	(void)missed(&account, ZONE_STALLED);
	span = flow(30000000, 10, 40);
	assert_false(zone_account_counts(&account, &span));
	assert_int_equal(advance(&account, span).energy_uj, 0);
	span = unknown(40, 41);
	assert_false(zone_account_counts(&account, &span));
	assert_int_equal(advance(&account, span).energy_uj, 0);
	span = flow(500000, 41, 42);
	assert_true(zone_account_counts(&account, &span));
	assert_int_equal(advance(&account, span).energy_uj, 500000);
	(void)missed(&account, ZONE_STALLED); /* from now on nothing else counts */
	span = flow(3000000, 42, 45);
	assert_true(zone_account_counts(&account, &span));
	assert_int_equal(advance(&account, span).energy_uj, 3000000);
}

/* Where the estimate ends the zone begins, whatever fails right after. */
static void test_a_zone_that_is_held_begins_with_its_release(void **state)
{
	const struct idle_options off = { .mode = IDLE_MODE_OFF };
	struct zone_account account;

	zone_account_init(&account, &package0, &off, 0);
	account.late = account.held = true;
	(void)zone_account_advance(&account, &up,
				   &(struct energy_span){ .to_ns = 10 * NSEC_PER_SEC }, &busy, 0);
	assert_int_equal(advance(&account, flow(1000000, 10, 11)).energy_uj, 0);
	zone_account_release(&account);
	(void)missed(&account, ZONE_ERROR);
	assert_int_equal(advance(&account, flow(2000000, 11, 13)).energy_uj, 2000000);
}

static void test_sleep_teaches_nothing(void **state)
{
	const struct idle_options config = { .mode = IDLE_MODE_LEARNED };
	const struct zone_activity asleep = {
		.dt_ns = NSEC_PER_SEC,
		.asleep_ns = 1000 * NSEC_PER_SEC,
		.utilisation = 0.5,
	};
	const struct energy_span span = flow(1001000000, 1, 2);
	struct zone_account account;

	zone_account_init(&account, &package0, &config, 0);
	(void)advance(&account, unknown(0, 1));
	(void)zone_account_advance(&account, &up, &span, &asleep, SETTLE_NS);
	assert_int_equal(account.learner.time_ns, 0);
	assert_true(account.watts[MODE_DYNAMIC] <
		    1.01); /* over the time that passed, not the time awake */
}

/* Two hours of load that comes and goes, a minute in which the meter says 0 J, and half an hour. */
static uint64_t idle_after_a_standstill(const struct zone *zone)
{
	const struct idle_options config = { .mode = IDLE_MODE_LEARNED };
	struct zone_account account;

	zone_account_init(&account, zone, &config, 0);
	for (uint64_t second = 1; second < 9000; second++) {
		bool stands_still = second > 7200 && second <= 7260;
		uint64_t tenths = second / 40 % 8;
		const struct energy_span span =
			flow(stands_still ? 0 : (60 + 10 * tenths) * 1000000, second, second + 1);
		const struct zone_activity seen = { .dt_ns = NSEC_PER_SEC,
						    .utilisation = (double)tenths / 10 };

		(void)zone_account_advance(&account, &up, &span, &seen, SETTLE_NS);
	}
	assert_int_equal(account.idle_state, IDLE_LEARNED);
	return account.idle_power_uw;
}

/* A machine that reads its meter draws some; what is in it may rest. */
static void test_a_meter_that_stands_still_has_no_idle_power(void **state)
{
	const struct zone platform = { .kind = ZONE_PLATFORM, .source = "hwmon" };
	const struct zone dram = { .kind = ZONE_DRAM, .instance = "0", .source = "rapl-sysfs" };

	assert_in_range(idle_after_a_standstill(&package0), 58000000, 60500000);
	assert_in_range(idle_after_a_standstill(&platform), 58000000, 60500000);
	assert_int_equal(idle_after_a_standstill(&dram), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_energy_is_what_flowed_in_a_span),
		cmocka_unit_test(test_the_first_span_counts_nothing),
		cmocka_unit_test(test_a_refused_reading_is_a_baseline),
		cmocka_unit_test(test_a_restarted_counter_has_no_power),
		cmocka_unit_test(test_fixed_idle_is_power_times_measured_time),
		cmocka_unit_test(test_fixed_without_a_figure_for_the_zone_is_off),
		cmocka_unit_test(test_a_model_says_its_own_idle_part),
		cmocka_unit_test(test_a_virtual_machine_has_no_idle_part),
		cmocka_unit_test(test_learned_idle_power_does_not_depend_on_the_interval),
		cmocka_unit_test(test_a_bound_is_split_off_until_idle_power_is_learned),
		cmocka_unit_test(test_learned_idle_follows_the_bound_without_a_pause),
		cmocka_unit_test(test_a_device_teaches_from_its_first_use_on),
		cmocka_unit_test(
			test_idle_that_a_reload_brings_is_split_off_once_its_series_was_seen),
		cmocka_unit_test(test_idle_that_a_reload_brings_to_a_failing_zone_settles_too),
		cmocka_unit_test(test_a_zone_that_appears_late_counts_once_its_series_were_seen),
		cmocka_unit_test(test_a_late_zone_begins_without_a_gap),
		cmocka_unit_test(test_a_zone_that_is_held_begins_with_its_release),
		cmocka_unit_test(test_no_time_of_a_rival_counts_again),
		cmocka_unit_test(test_sleep_teaches_nothing),
		cmocka_unit_test(test_a_meter_that_stands_still_has_no_idle_power),
	};

	return unit_run(tests);
}

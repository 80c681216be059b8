// SPDX-License-Identifier: Apache-2.0
#include "attribution/zone_account.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "attribution/attribute.h"
#include "base/macro.h"
#include "base/num.h"

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

static struct zone_reading good(uint64_t energy_uj, uint64_t time_s)
{
	return (struct zone_reading){
		.state = ZONE_UP,
		.energy_uj = energy_uj,
		.time_ns = time_s * NSEC_PER_SEC,
	};
}

static struct zone_interval advance(struct zone_account *account, struct zone_reading reading)
{
	return zone_account_advance(account, &reading, &busy, SETTLE_NS);
}

static void test_energy_is_what_lies_between_good_readings(void **state)
{
	const struct idle_options config = { .mode = IDLE_MODE_OFF };
	const struct zone_reading failed = { .state = ZONE_ERROR, .error = -5, .energy_uj = 40 };
	struct zone_account account;
	struct zone_interval interval;

	(void)state;
	zone_account_init(&account, &package0, &config, 0);
	interval = advance(&account, good(0, 10));
	assert_int_equal(interval.energy_uj, 0);
	interval = advance(&account, good(40, 11));
	assert_int_equal(interval.energy_uj, 40);
	interval = advance(&account, failed);
	assert_int_equal(interval.energy_uj, 0);
	assert_true(isnan(account.watts[MODE_DYNAMIC]));
	interval = advance(&account, good(100, 13)); /* covers the gap */
	assert_int_equal(interval.energy_uj, 60);
	assert_int_equal(interval.dt_ns, 2 * NSEC_PER_SEC);
	assert_int_equal(account.span_ns, 2 * NSEC_PER_SEC);
}

/* A refused reading counts nothing, and the next one counts from it. */
static void test_a_refused_reading_is_a_baseline(void **state)
{
	const struct idle_options config = { .mode = IDLE_MODE_OFF };
	struct zone_account account;
	struct zone_reading refused = good(40, 111);
	struct zone_interval interval;

	(void)state;
	refused.state = ZONE_REFUSED;
	refused.restarted = true;
	zone_account_init(&account, &package0, &config, 0);
	(void)advance(&account, good(0, 10));
	(void)advance(&account, good(40, 11));
	interval = advance(&account, refused);
	assert_int_equal(interval.energy_uj, 0);
	assert_true(isnan(account.watts[MODE_DYNAMIC]));
	assert_int_equal(account.up_time_ns, 11 * NSEC_PER_SEC);
	interval = advance(&account, good(70, 112));
	assert_int_equal(interval.energy_uj, 30);
	assert_int_equal(interval.dt_ns, NSEC_PER_SEC);
}

/* A counter that was reset or opened anew says nothing of the time before: not even 0 W. */
static void test_a_restarted_counter_has_no_power(void **state)
{
	const struct idle_options config = { .mode = IDLE_MODE_LEARNED };
	struct zone_reading restarted = good(40, 12);
	struct zone_account account;

	(void)state;
	restarted.restarted = true;
	zone_account_init(&account, &package0, &config, 0);
	(void)advance(&account, good(0, 10));
	(void)advance(&account, good(40, 11));
	assert_int_equal(advance(&account, restarted).energy_uj, 0);
	assert_true(isnan(account.watts[MODE_DYNAMIC]));
	assert_int_equal(account.span_ns, 0);
	assert_int_equal(account.learner.time_ns, NSEC_PER_SEC);
	assert_int_equal(advance(&account, good(90, 13)).energy_uj, 50);
	assert_int_equal(account.span_ns, NSEC_PER_SEC);
}

static void test_a_reading_that_is_not_newer_waits_for_the_next(void **state)
{
	const struct idle_options config = { .mode = IDLE_MODE_OFF };
	struct zone_account account;

	(void)state;
	zone_account_init(&account, &package0, &config, 0);
	(void)advance(&account, good(0, 10));
	assert_int_equal(advance(&account, good(7, 10)).energy_uj, 0);
	assert_int_equal(advance(&account, good(9, 11)).energy_uj, 9);
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

	(void)state;
	zone_account_init(&account, &package0, &config, 0);
	assert_int_equal(account.idle_state, IDLE_FIXED);
	(void)advance(&account, good(0, 1));
	interval = advance(&account, good(10000000, 3));
	assert_int_equal(interval.idle_uj, 5000000);
	interval = advance(&account,
			   good(10000001, 4)); /* less than idle: never more than was measured */
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

	(void)state;
	zone_account_init(&account, &package0, &config, 0);
	assert_int_equal(account.idle_state, IDLE_OFF);
	assert_false(zone_account_has_idle(&account));
}

static void test_a_model_says_its_own_idle_part(void **state)
{
	const struct idle_options config = { .mode = IDLE_MODE_LEARNED };
	struct zone_account account;
	struct zone_reading reading = good(0, 1);
	struct zone_interval interval;

	(void)state;
	zone_account_init(&account, &modelled, &config, 0);
	assert_int_equal(account.idle_state, IDLE_MODEL);
	(void)zone_account_advance(&account, &reading, &busy, SETTLE_NS);
	reading = good(100, 2);
	reading.idle_energy_uj = 60;
	interval = zone_account_advance(&account, &reading, &busy, SETTLE_NS);
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

	(void)state;
	zone_account_init(&account, &virtual_machine, &config, 0);
	assert_int_equal(account.idle_state, IDLE_ABSENT);
	(void)advance(&account, good(0, 1));
	assert_int_equal(advance(&account, good(100, 2)).idle_uj, 0);
}

/* 20 W + 30 W × utilisation, for two minutes of changing load. */
static uint64_t teach(struct zone_account *account, uint64_t *energy_uj, uint64_t from_s)
{
	for (uint64_t s = from_s; s < from_s + 120; s++) {
		struct zone_activity activity = {
			.dt_ns = NSEC_PER_SEC,
			.utilisation = (double)(s % 10) / 10,
		};
		struct zone_reading reading;

		*energy_uj += 20000000 + 3000000 * (s % 10);
		reading = good(*energy_uj, s);
		(void)zone_account_advance(account, &reading, &activity, SETTLE_NS);
		if (account->idle_state == IDLE_LEARNED)
			return s;
	}
	return 0;
}

static void test_learned_idle_is_split_off_once_its_series_was_seen(void **state)
{
	const struct idle_options config = { .mode = IDLE_MODE_LEARNED };
	struct zone_account account;
	uint64_t energy_uj = 0, learned_s;
	struct zone_interval interval;

	(void)state;
	zone_account_init(&account, &package0, &config, 0);
	assert_int_equal(account.idle_state, IDLE_LEARNING);
	learned_s = teach(&account, &energy_uj, 1);
	assert_in_range(learned_s, 60, 90);
	energy_uj += 35000000;
	interval = advance(&account, good(energy_uj, learned_s + 1));
	assert_int_equal(interval.idle_uj, 0); /* settles */
	energy_uj += 35000000;
	interval = advance(&account, good(energy_uj, learned_s + 15));
	assert_true(interval.idle_uj > 0);
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

	(void)state;
	zone_account_init(&account, &package0, &off, 0);
	(void)advance(&account, good(0, 10));
	zone_account_configure(&account, &fixed);
	assert_int_equal(advance(&account, good(10000000, 11)).idle_uj, 0);
	zone_account_configure(&account, &fixed); /* again: nothing is born */
	assert_int_equal(advance(&account, good(20000000, 25)).idle_uj, 0);
	assert_int_equal(advance(&account, good(30000000, 26)).idle_uj, 2000000);
}

static void test_a_zone_that_appears_late_counts_once_its_series_were_seen(void **state)
{
	const struct idle_options off = { .mode = IDLE_MODE_OFF };
	struct zone_account account;
	struct zone_reading reading;

	(void)state;
	zone_account_init(&account, &package0, &off, 0);
	account.late = true;
	assert_int_equal(advance(&account, good(0, 10)).energy_uj, 0);
	reading = good(14000000, 24);
	assert_false(zone_account_counts(&account, &reading));
	assert_int_equal(advance(&account, reading).energy_uj, 0);
	assert_true(isnan(account.watts[MODE_DYNAMIC]));
	reading = good(15000000, 25);
	assert_true(zone_account_counts(&account, &reading));
	assert_int_equal(advance(&account, reading).energy_uj, 1000000);
}

/* Before it counts an estimate does: what a gap hides would be in both. */
static void test_a_late_zone_begins_without_a_gap(void **state)
{
	const struct idle_options off = { .mode = IDLE_MODE_OFF };
	struct zone_account account;
	struct zone_reading reading;

	(void)state;
	zone_account_init(&account, &package0, &off, 0);
	account.late = true;
	(void)advance(&account, good(0, 10));
	reading = good(10000000, 20);
	reading.state = ZONE_STALLED;
	(void)advance(&account, reading);
	reading = good(30000000, 40);
	assert_false(zone_account_counts(&account, &reading));
	assert_int_equal(advance(&account, reading).energy_uj, 0);
	reading = good(30500000, 41);
	reading.restarted = true;
	assert_false(zone_account_counts(&account, &reading));
	assert_int_equal(advance(&account, reading).energy_uj, 0);
	reading = good(31000000, 42);
	assert_true(zone_account_counts(&account, &reading));
	assert_int_equal(advance(&account, reading).energy_uj, 500000);
	reading.state = ZONE_STALLED; /* from now on nobody else counts */
	(void)advance(&account, reading);
	reading = good(34000000, 45);
	assert_true(zone_account_counts(&account, &reading));
	assert_int_equal(advance(&account, reading).energy_uj, 3000000);
}

static void test_sleep_teaches_nothing(void **state)
{
	const struct idle_options config = { .mode = IDLE_MODE_LEARNED };
	const struct zone_activity asleep = {
		.dt_ns = NSEC_PER_SEC,
		.asleep_ns = 1000 * NSEC_PER_SEC,
		.utilisation = 0.5,
	};
	struct zone_account account;
	struct zone_reading reading = good(0, 1);

	(void)state;
	zone_account_init(&account, &package0, &config, 0);
	(void)zone_account_advance(&account, &reading, &asleep, SETTLE_NS);
	reading = good(1001000000, 2);
	(void)zone_account_advance(&account, &reading, &asleep, SETTLE_NS);
	assert_int_equal(account.learner.time_ns, 0);
	assert_true(account.watts[MODE_DYNAMIC] <
		    1.01); /* over the time that passed, not the time awake */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_energy_is_what_lies_between_good_readings),
		cmocka_unit_test(test_a_refused_reading_is_a_baseline),
		cmocka_unit_test(test_a_restarted_counter_has_no_power),
		cmocka_unit_test(test_a_reading_that_is_not_newer_waits_for_the_next),
		cmocka_unit_test(test_fixed_idle_is_power_times_measured_time),
		cmocka_unit_test(test_fixed_without_a_figure_for_the_zone_is_off),
		cmocka_unit_test(test_a_model_says_its_own_idle_part),
		cmocka_unit_test(test_a_virtual_machine_has_no_idle_part),
		cmocka_unit_test(test_learned_idle_is_split_off_once_its_series_was_seen),
		cmocka_unit_test(
			test_idle_that_a_reload_brings_is_split_off_once_its_series_was_seen),
		cmocka_unit_test(test_a_zone_that_appears_late_counts_once_its_series_were_seen),
		cmocka_unit_test(test_a_late_zone_begins_without_a_gap),
		cmocka_unit_test(test_sleep_teaches_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

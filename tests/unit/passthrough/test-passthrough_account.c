// SPDX-License-Identifier: Apache-2.0
/* A guest's account, against hosts that restart and channels that lose, repeat and reorder. */
#include "passthrough/passthrough_account.h"

#include "base/num.h"
#include "tests/rig/property.h"
#include "tests/unit/unit.h"

#define WATT_SECOND 1000000ULL

static struct passthrough_record make(uint64_t epoch, uint64_t sequence, uint64_t dynamic_uj)
{
	return (struct passthrough_record){
		.epoch = epoch,
		.sequence = sequence,
		.boottime_ns = (1000 + sequence) * NSEC_PER_SEC,
		.interval_ns = NSEC_PER_SEC,
		.vm_hash = 7,
		.cpu_time_us = 100 * sequence,
		.zone_count = 1,
		.zones = { { ZONE_PACKAGE, QUALITY_MEASURED, 1000, dynamic_uj, 0 } },
	};
}

static enum passthrough_outcome take(struct passthrough_account *account,
				     struct passthrough_record record)
{
	return passthrough_account_take(account, &record);
}

static void test_lost_repeated_and_late(void **state)
{
	struct passthrough_account account = { .vm_hash = 7 };

	assert_int_equal(take(&account, make(1, 1, 100)), PASSTHROUGH_COUNTED);
	assert_int_equal(account.sum_count, 1);
	assert_int_equal(account.sums[0].energy_uj, 100);
	assert_int_equal(take(&account, make(1, 5, 900)), PASSTHROUGH_COUNTED);
	assert_int_equal(account.sums[0].energy_uj, 900);
	assert_int_equal(account.lost, 3);
	assert_int_equal(take(&account, make(1, 5, 900)), PASSTHROUGH_REPEATED);
	assert_int_equal(take(&account, make(1, 3, 300)), PASSTHROUGH_REPEATED);
	assert_int_equal(account.sums[0].energy_uj, 900);
	assert_int_equal(account.sums[0].updates, 2);
	assert_int_equal(account.cpu_time_us, 500);
	assert_int_equal(account.outcomes[PASSTHROUGH_REPEATED], 2);
}

/* Counters of what a host states have a limit, and never fall. */
static void test_numbers_that_add_up_to_more_than_fits(void **state)
{
	struct passthrough_account account = { .vm_hash = 7 };

	for (uint64_t epoch = 1; epoch <= 3; epoch++) {
		struct passthrough_record record = make(epoch, UINT64_MAX, 0);

		assert_int_not_equal(take(&account, make(epoch, 1, 0)), PASSTHROUGH_REPEATED);
		record.boottime_ns = 2000 * NSEC_PER_SEC;
		record.cpu_time_us = UINT64_MAX;
		assert_int_equal(take(&account, record), PASSTHROUGH_COUNTED);
		assert_true(account.lost >= UINT64_MAX - 2);
		assert_true(account.cpu_time_us >= UINT64_MAX - 2);
	}
	assert_int_equal(account.lost, UINT64_MAX);
	assert_int_equal(account.cpu_time_us, UINT64_MAX);
}

static void test_epochs(void **state)
{
	struct passthrough_account account = { .vm_hash = 7 };
	uint64_t updates;

	/* It began before: nothing is invented, and the sum is known from here on. */
	assert_int_equal(take(&account, make(1, 8, 5000)), PASSTHROUGH_BEGUN);
	assert_int_equal(account.sums[0].energy_uj, 0);
	assert_int_equal(account.sums[0].updates, 1);
	assert_int_equal(take(&account, make(1, 9, 5010)), PASSTHROUGH_COUNTED);
	assert_int_equal(account.sums[0].energy_uj, 10);
	/* The host restarts. */
	assert_int_equal(take(&account, make(2, 1, 3)), PASSTHROUGH_COUNTED);
	assert_int_equal(account.sums[0].energy_uj, 13);
	assert_int_equal(account.sums[0].updates, 3);
	/* Late ones of the epoch before are no new epoch. */
	assert_int_equal(take(&account, make(1, 9, 5010)), PASSTHROUGH_REPEATED);
	assert_int_equal(take(&account, make(1, 10, 5011)), PASSTHROUGH_COUNTED);
	assert_int_equal(take(&account, make(2, 2, 5)), PASSTHROUGH_COUNTED);
	assert_int_equal(account.sums[0].energy_uj, 16);
	assert_int_equal(account.epoch_count, 2);
	/* More epochs than are remembered. */
	for (uint64_t epoch = 10; epoch < 30; epoch++)
		assert_int_equal(take(&account, make(epoch, 1, 1)), PASSTHROUGH_COUNTED);
	assert_int_equal(account.sums[0].energy_uj, 36);
	/* The sum, which was known before, is not reported again. */
	updates = account.sums[0].updates;
	assert_int_equal(take(&account, make(2, 3, 50)), PASSTHROUGH_BEGUN);
	assert_int_equal(account.sums[0].updates, updates);
}

/* The guest is set back to an earlier time: what the host counted since is added once. */
static void test_a_restored_guest(void **state)
{
	struct passthrough_account account = { .vm_hash = 7 }, saved;

	(void)take(&account, make(1, 1, 100));
	saved = account;
	(void)take(&account, make(1, 2, 250));
	account = saved;
	assert_int_equal(take(&account, make(1, 3, 400)), PASSTHROUGH_COUNTED);
	assert_int_equal(account.sums[0].energy_uj, 400);
	/* The snapshot is older than the host's epoch. */
	account = saved;
	assert_int_equal(take(&account, make(9, 40, 99999)), PASSTHROUGH_BEGUN);
	assert_int_equal(account.sums[0].energy_uj, 100);
}

static void test_another_machine(void **state)
{
	struct passthrough_account account = { .vm_hash = 8 };

	assert_int_equal(take(&account, make(1, 1, 100)), PASSTHROUGH_WRONG_VM);
	assert_int_equal(account.sum_count, 0);
	account.vm_hash = 0; /* not readable */
	assert_int_equal(take(&account, make(1, 1, 100)), PASSTHROUGH_COUNTED);
}

static void test_refusals(void **state)
{
	struct passthrough_account account = { .vm_hash = 7 };
	struct passthrough_record record;
	uint64_t limit_uj = 2200 * WATT_SECOND; /* 2 kW for 1.1 s */

	assert_int_equal(take(&account, make(1, 1, limit_uj + 1)), PASSTHROUGH_IMPLAUSIBLE);
	assert_int_equal(take(&account, make(2, 1, limit_uj)), PASSTHROUGH_COUNTED);
	assert_int_equal(account.sums[0].energy_uj, limit_uj);
	assert_int_equal(account.sums[0].updates, 2);
	assert_int_equal(take(&account, make(2, 2, limit_uj - 1)), PASSTHROUGH_FELL);
	assert_int_equal(account.sums[0].updates, 2);
	assert_int_equal(take(&account, make(2, 3, limit_uj)), PASSTHROUGH_COUNTED);
	assert_int_equal(account.sums[0].energy_uj, limit_uj + 1);
	/* A jump is not believed later either. */
	assert_int_equal(take(&account, make(2, 4, 100 * limit_uj)), PASSTHROUGH_IMPLAUSIBLE);
	assert_int_equal(take(&account, make(2, 1000, 100 * limit_uj + 2)), PASSTHROUGH_COUNTED);
	assert_int_equal(account.sums[0].energy_uj, limit_uj + 3);
	/* The host's clock, and its CPU time. */
	record = make(2, 1001, 100 * limit_uj + 3);
	record.boottime_ns = 1;
	assert_int_equal(take(&account, record), PASSTHROUGH_FELL);
	record = make(2, 1002, 100 * limit_uj + 3);
	record.cpu_time_us = 0;
	assert_int_equal(take(&account, record), PASSTHROUGH_FELL);
	assert_int_equal(account.sums[0].energy_uj, limit_uj + 3);
}

/* A meter of the host that was away reports all at once, in one interval. */
static void test_energy_that_comes_late(void **state)
{
	struct passthrough_account account = { .vm_hash = 7 };

	(void)take(&account, make(1, 1, 100));
	for (uint64_t sequence = 2; sequence < 60; sequence++)
		(void)take(&account, make(1, sequence, 100));
	assert_int_equal(take(&account, make(1, 60, 59 * 2000 * WATT_SECOND)), PASSTHROUGH_COUNTED);
	assert_int_equal(take(&account, make(1, 61, 63 * 2000 * WATT_SECOND)),
			 PASSTHROUGH_IMPLAUSIBLE);
}

static void test_idle_and_zones_that_come_and_go(void **state)
{
	struct passthrough_account account = { .vm_hash = 7 };
	struct passthrough_record record = make(1, 1, 100);

	record.flags = PASSTHROUGH_IDLE;
	record.zones[0].idle_uj = 30;
	record.zones[record.zone_count++] =
		(struct passthrough_zone){ ZONE_PACKAGE, QUALITY_ESTIMATED, 0, 1, 2 };
	(void)take(&account, record);
	assert_int_equal(account.sum_count, 2);
	assert_int_equal(account.sums[0].energy_uj, 130);
	assert_int_equal(account.sums[0].idle_uj, 30);
	assert_true(account.sums[0].has_idle);
	assert_int_equal(account.sums[1].energy_uj, 3);
	assert_int_equal(account.sums[1].quality, QUALITY_ESTIMATED);

	record.sequence = 2;
	record.zone_count = 1;
	(void)take(&account, record);
	record.sequence = 3;
	record.zone_count = 3;
	record.zones[1].dynamic_uj = 11;
	record.zones[2] = (struct passthrough_zone){ ZONE_DRAM, QUALITY_MEASURED, 0, 1000, 1 };
	assert_int_equal(take(&account, record), PASSTHROUGH_COUNTED);
	assert_int_equal(account.sums[1].energy_uj, 13);
	/* It was not there when the epoch began, so its values begin to count here. */
	assert_int_equal(account.sums[2].energy_uj, 0);

	/* Idle energy that is no longer shared out is another sum. */
	record = make(2, 1, 5);
	(void)take(&account, record);
	assert_int_equal(account.sum_count, 4);
	assert_false(account.sums[3].has_idle);
	assert_int_equal(account.sums[0].energy_uj, 130);
}

#define EPOCHS  6
#define RECORDS 40

/* The sum to which the records of an epoch that have arrived must add up. */
struct expected {
	bool has_first;
	uint64_t base, last_sequence, last;
};

static void expect(struct expected *expected, const struct passthrough_record *record)
{
	uint64_t value = record->zones[0].dynamic_uj;

	if (!expected->has_first)
		expected->base = record->sequence == 1 ? 0 : value;
	expected->has_first = true;
	if (record->sequence > expected->last_sequence) {
		expected->last_sequence = record->sequence;
		expected->last = value;
	}
}

static const char *sum_is_the_hosts(struct property_source *source, void *userdata)
{
	struct passthrough_account account = { .vm_hash = 7 }, saved;
	struct passthrough_record sent[RECORDS];
	struct expected expected[EPOCHS] = { 0 }, saved_expected[EPOCHS];
	uint64_t host_uj = 0, epoch_uj = 0, sequence = 0, epoch = 0, want_uj = 0;
	bool is_lossless = draw_chance(source, 4);
	uint64_t known_uj;

	saved = account;
	memcpy(saved_expected, expected, sizeof(expected));
	for (size_t i = 0; i < RECORDS; i++) {
		uint64_t step_uj = draw_below(source, 300 * WATT_SECOND), pick = i;

		if (epoch + 1 < EPOCHS && draw_chance(source, 8)) {
			epoch++;
			epoch_uj = sequence = 0;
		}
		epoch_uj += step_uj;
		host_uj += step_uj;
		sent[i] = make(epoch + 1, ++sequence, epoch_uj);
		if (!is_lossless && draw_chance(source, 4))
			continue; /* lost */
		if (!is_lossless && draw_chance(source, 4))
			pick = i - draw_below(source, i + 1); /* repeated or late */
		(void)take(&account, sent[pick]);
		expect(&expected[sent[pick].epoch - 1], &sent[pick]);
		if (!is_lossless && draw_chance(source, 16)) {
			saved = account;
			memcpy(saved_expected, expected, sizeof(expected));
		} else if (!is_lossless && draw_chance(source, 16)) {
			account = saved; /* the guest is set back */
			memcpy(expected, saved_expected, sizeof(expected));
		}
	}
	for (size_t i = 0; i < EPOCHS; i++)
		want_uj += expected[i].last - expected[i].base;
	known_uj = account.sum_count ? account.sums[0].energy_uj : 0;
	if (known_uj != want_uj)
		return "it is not the sum of the epochs' differences";
	if (is_lossless && known_uj != host_uj)
		return "it is not the host's energy";
	return known_uj <= host_uj ? NULL : "energy was invented";
}

static void test_any_channel(void **state)
{
	assert_true(property_check("account", sum_is_the_hosts, NULL, 20000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lost_repeated_and_late),
		cmocka_unit_test(test_numbers_that_add_up_to_more_than_fits),
		cmocka_unit_test(test_epochs),
		cmocka_unit_test(test_a_restored_guest),
		cmocka_unit_test(test_another_machine),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_energy_that_comes_late),
		cmocka_unit_test(test_idle_and_zones_that_come_and_go),
		cmocka_unit_test(test_any_channel),
	};

	return unit_run(tests);
}

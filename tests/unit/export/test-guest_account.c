// SPDX-License-Identifier: Apache-2.0
#include "export/guests/guest_account.h"

#include "tests/unit/export/fixture.h"
#include "tests/unit/unit.h"

#define SECOND 1000000000ULL

static const struct guest_account_options exact = { .resolution_uj = 1, .period_ns = SECOND };

static struct guest guest_of_row(uint32_t row)
{
	return (struct guest){ .epoch = 42,
			       .row = row,
			       .id = "8a4c1f0e-33b7-4d19-9e5f-7c2b6a1d0e48@1000" };
}

/* The sum of the row's series, over the accounts of a kind and quality. */
static uint64_t energy_of(const struct snapshot *snapshot, uint32_t row,
			  const struct passthrough_zone *zone, enum energy_mode mode)
{
	const struct snapshot_table *table = &snapshot->level[LEVEL_VM];
	uint64_t sum = 0;

	for (uint32_t i = 0; i < snapshot->account_count; i++) {
		const struct snapshot_account *account = &snapshot->accounts[i];
		const struct zone *of = &snapshot->zones[account->first_zone].zone;

		if (of->kind == zone->kind && of->quality == zone->quality &&
		    account->rows_have_mode[mode])
			sum += table->values[row * snapshot->columns + account->column[mode]];
	}
	return sum;
}

static void a_record_has_what_the_series_have(void **state)
{
	const struct fixture_shape shape = { .zones = 4,
					     .containers = 2,
					     .processes = 4,
					     .idle_on_rows = true,
					     .by_zone = true,
					     .groups = true };
	struct guest_account_options options = exact;
	struct guest guest = guest_of_row(1);
	struct passthrough_record record;
	struct fixture fixture;

	fixture_make(&fixture, &shape);
	options.idle = true;
	assert_true(guest_account_next(&guest, &fixture.snapshot, &options, 5 * SECOND, &record));
	assert_null(passthrough_record_fault(&record));
	assert_int_equal(record.zone_count, 3); /* two packages are one */
	assert_int_equal(record.flags, PASSTHROUGH_IDLE);
	for (size_t i = 0; i < record.zone_count; i++) {
		const struct passthrough_zone *zone = &record.zones[i];

		assert_int_equal(zone->dynamic_uj,
				 energy_of(&fixture.snapshot, 1, zone, MODE_DYNAMIC));
		assert_int_equal(zone->idle_uj, energy_of(&fixture.snapshot, 1, zone, MODE_IDLE));
		assert_true(zone->dynamic_uj && zone->idle_uj);
	}
	assert_int_equal(record.epoch, 42);
	assert_int_equal(record.sequence, 1);
	assert_int_equal(record.boottime_ns, 5 * SECOND);
	assert_int_equal(record.realtime_ns,
			 (uint64_t)fixture.snapshot.realtime_ms * (SECOND / 1000));
	assert_int_equal(record.period_ms, 1000);
	assert_int_equal(record.vm_hash,
			 passthrough_vm_hash("8a4c1f0e-33b7-4d19-9e5f-7c2b6a1d0e48"));
	fixture_release(&fixture);
}

static void idle_energy_is_reported_only_if_wanted(void **state)
{
	const struct fixture_shape shape = {
		.zones = 2, .containers = 1, .processes = 1, .idle_on_rows = true, .groups = true
	};
	struct guest guest = guest_of_row(0);
	struct passthrough_record record;
	struct fixture fixture;

	fixture_make(&fixture, &shape);
	assert_true(guest_account_next(&guest, &fixture.snapshot, &exact, SECOND, &record));
	assert_int_equal(record.flags, 0);
	assert_int_equal(record.zones[0].idle_uj, 0);
	fixture_release(&fixture);
}

static void energies_are_rounded_down(void **state)
{
	struct guest_account_options options = exact;
	struct guest guest = guest_of_row(1), again = guest;
	struct passthrough_record record, fine;
	struct fixture fixture;

	fixture_node(&fixture);
	options.resolution_uj = 1000;
	assert_true(guest_account_next(&guest, &fixture.snapshot, &options, SECOND, &record));
	assert_true(guest_account_next(&again, &fixture.snapshot, &exact, SECOND, &fine));
	assert_int_equal(record.flags, PASSTHROUGH_RESOLUTION);
	assert_int_equal(fine.flags, 0);
	for (size_t i = 0; i < record.zone_count; i++)
		assert_int_equal(record.zones[i].dynamic_uj,
				 fine.zones[i].dynamic_uj / 1000 * 1000);
	fixture_release(&fixture);
}

static void filtered_counters_are_reported(void **state)
{
	struct guest guest = guest_of_row(1);
	struct passthrough_record record;
	struct fixture fixture;

	fixture_node(&fixture);
	fixture.zones[fixture.snapshot.zone_count - 1].caveat = CAVEAT_FILTERED;
	assert_true(guest_account_next(&guest, &fixture.snapshot, &exact, SECOND, &record));
	assert_int_equal(record.flags, PASSTHROUGH_FILTERED);
	fixture_release(&fixture);
}

static void records_are_a_second_apart(void **state)
{
	struct guest_account_options options = { .resolution_uj = 1, .period_ns = SECOND * 3 / 10 };
	struct guest guest = guest_of_row(0);
	struct passthrough_record record;
	struct fixture fixture;

	fixture_node(&fixture);
	assert_true(guest_account_next(&guest, &fixture.snapshot, &options, 10 * SECOND, &record));
	assert_int_equal(record.period_ms, 1200);
	for (uint64_t i = 1; i <= 3; i++)
		assert_false(guest_account_next(&guest, &fixture.snapshot, &options,
						10 * SECOND + i * options.period_ns, &record));
	assert_int_equal(guest.sequence, 1);
	assert_true(guest_account_next(&guest, &fixture.snapshot, &options,
				       10 * SECOND + 4 * options.period_ns, &record));
	assert_int_equal(record.sequence, 2);
	assert_int_equal(record.interval_ns, 4 * options.period_ns);
	fixture_release(&fixture);
}

static void an_estimate_has_the_error_of_its_model(void **state)
{
	const struct fixture_shape shape = {
		.zones = 1, .containers = 1, .processes = 1, .groups = true
	};
	struct guest guest = guest_of_row(0);
	struct passthrough_record record;
	struct fixture fixture;

	fixture_make(&fixture, &shape);
	fixture.zones[0].model_error_w = (double)NAN;
	assert_true(guest_account_next(&guest, &fixture.snapshot, &exact, SECOND, &record));
	assert_int_equal(record.zones[0].uncertainty_ppm, PASSTHROUGH_UNCERTAINTY_UNKNOWN);
	fixture.zones[0].model_error_w = 5;
	fixture.zones[0].has_mode[MODE_IDLE] = false;
	fixture.zones[0].watts[MODE_DYNAMIC] = 50;
	assert_true(guest_account_next(&guest, &fixture.snapshot, &exact, 3 * SECOND, &record));
	assert_int_equal(record.zones[0].uncertainty_ppm, 100000);
	fixture_release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_has_what_the_series_have),
		cmocka_unit_test(idle_energy_is_reported_only_if_wanted),
		cmocka_unit_test(energies_are_rounded_down),
		cmocka_unit_test(filtered_counters_are_reported),
		cmocka_unit_test(records_are_a_second_apart),
		cmocka_unit_test(an_estimate_has_the_error_of_its_model),
	};

	return unit_run(tests);
}

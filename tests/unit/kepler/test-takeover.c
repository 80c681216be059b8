// SPDX-License-Identifier: Apache-2.0
/* From the estimate to a meter that is found while the engine runs, and what may fail meanwhile. */
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../engine/made_up_machine.h"
#include "attribution/learning/idle.h"
#include "attribution/learning/power_owners_line.h"
#include "attribution/ledger.h"
#include "energy/total.h"
#include "engine/interval.h"
#include "kepler/meter_watch.h"
#include "meter/meter_table.h"

/* Calls that are refused yet. */
static unsigned memory_refused;

int __real_ledger_add_zone(struct ledger *ledger, const struct zone *zone);
int __wrap_ledger_add_zone(struct ledger *ledger, const struct zone *zone);
int __wrap_ledger_add_zone(struct ledger *ledger, const struct zone *zone)
{
	if (!memory_refused)
		return __real_ledger_add_zone(ledger, zone);
	memory_refused--;
	return -ENOMEM;
}

/* A meter whose zones, alike, are there once the test says so; each reading is 1 µJ more. */
static atomic_uint zones_there;
static atomic_int read_error; /* 0, or what each reading gives */

struct meter {
	struct zone zone;
	atomic_uint zones;
	uint64_t energy_uj;
};

static int late_open(const struct meter_options *options, struct meter **ret)
{
	(void)options;
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

static size_t late_zone_count(struct meter *meter)
{
	return atomic_load(&meter->zones);
}

static const struct zone *late_zone_at(struct meter *meter, size_t index)
{
	(void)index;
	return &meter->zone;
}

static int late_read_raw(struct meter *meter, size_t index, struct raw_reading *ret)
{
	(void)index;
	*ret = (struct raw_reading){ ++meter->energy_uj, 262143328850, 1 };
	return atomic_load(&read_error);
}

static int late_rescan(struct meter *meter)
{
	if (atomic_load(&meter->zones) || !atomic_load(&zones_there))
		return 0;
	meter->zone = (struct zone){ .kind = ZONE_PACKAGE, .instance = "0", .source = "late" };
	atomic_store(&meter->zones, atomic_load(&zones_there));
	return 0;
}

static void late_close(struct meter *meter)
{
	free(meter);
}

static const struct meter_ops late_meter = {
	.name = "late",
	.open = late_open,
	.zone_count = late_zone_count,
	.zone_at = late_zone_at,
	.read_raw = late_read_raw,
	.rescan = late_rescan,
	.close = late_close,
};

static struct snapshot_zone zone_of(const struct machine *machine, size_t zone, size_t count)
{
	const struct snapshot *snapshot = snapshot_get(machine->holder);
	struct snapshot_zone copy;

	assert_int_equal(snapshot->zone_count, count);
	copy = snapshot->zones[zone];
	snapshot_put(machine->holder, snapshot);
	return copy;
}

static void start_with_late_meter(struct machine *machine, uint64_t settle_ns)
{
	const struct meter_options options = { "/sys", 60 * NSEC_PER_SEC, 0, false };
	struct meter_table *meters;

	atomic_store(&zones_there, 0);
	atomic_store(&read_error, 0);
	assert_int_equal(meter_table_open_source(&late_meter, &options, &meters), 0);
	machine_start_with(machine, true, meters);
	machine->config.publication.settle_ns = settle_ns;
	interval_engine_reconfigure(machine->engine, &machine->config);
}

/* Up to the first interval that has the meter's zones; when the next one is. */
static uint64_t pass_until_found(struct machine *machine, uint64_t time_s)
{
	for (int i = 0; i < 100 && interval_engine_zone_count(machine->engine) == 1; i++)
		(void)pass(machine, time_s++, 0, NSEC_PER_SEC);
	return time_s;
}

/* Each interval is in the estimate or in the meter, never in both or in neither. */
static void test_a_meter_that_is_found_late_takes_over(void **state)
{
	struct machine machine;
	uint64_t time_s = 100, estimated_uj;

	(void)state;
	start_with_late_meter(&machine, 0);
	(void)pass(&machine, time_s++, 0, 0);
	(void)pass(&machine, time_s++, 0, NSEC_PER_SEC);
	estimated_uj = zone_of(&machine, 0, 1).node_uj[MODE_DYNAMIC];
	assert_true(estimated_uj > 0);

	atomic_store(&zones_there, 1);
	time_s = pass_until_found(&machine, time_s);
	assert_int_equal(zone_of(&machine, 1, 2).zone.kind, ZONE_PACKAGE);
	assert_int_equal(zone_of(&machine, 1, 2).node_uj[MODE_DYNAMIC], 0); /* its baseline */
	assert_true(fabs((double)zone_of(&machine, 0, 2).node_uj[MODE_DYNAMIC] -
			 (double)(time_s - 101) * (double)estimated_uj) < 200);
	estimated_uj = zone_of(&machine, 0, 2).node_uj[MODE_DYNAMIC];
	for (uint64_t i = 1; i <= 3; i++) {
		(void)pass(&machine, time_s++, 0, NSEC_PER_SEC);
		assert_int_equal(zone_of(&machine, 0, 2).node_uj[MODE_DYNAMIC], estimated_uj);
		assert_int_equal(zone_of(&machine, 0, 2).state, ZONE_ABSENT);
		assert_int_equal(zone_of(&machine, 1, 2).node_uj[MODE_DYNAMIC], i);
		assert_false(zone_of(&machine, 1, 2).zone.quality == QUALITY_ESTIMATED);
	}
	machine_stop(&machine);
}

/* The totals of the page, by source. */
static uint64_t total_of(const struct machine *machine, const char *source)
{
	const struct snapshot *snapshot = snapshot_get(machine->holder);
	uint64_t sum_uj = 0;

	for (uint32_t z = 0; z < snapshot->zone_count; z++) {
		const struct snapshot_zone *zone = &snapshot->zones[z];

		if (zone->total != TOTAL_NONE && strcmp(zone->zone.source, source) == 0)
			sum_uj += zone->node_uj[MODE_DYNAMIC] + zone->node_uj[MODE_IDLE];
	}
	snapshot_put(machine->holder, snapshot);
	return sum_uj;
}

/* The estimate's total stands still from the moment on at which the meter's begins to grow. */
static void test_no_total_falls_and_one_grows(void **state)
{
	uint64_t time_s = 100, estimated_uj = 0, measured_uj = 0;
	bool found = false;
	struct machine machine;

	(void)state;
	start_with_late_meter(&machine, 0);
	(void)pass(&machine, time_s++, 0, 0);
	for (int i = 0; i < 100 && measured_uj < 3; i++) {
		uint64_t now_estimated_uj, now_measured_uj;

		(void)pass(&machine, time_s++, 0, NSEC_PER_SEC);
		now_estimated_uj = total_of(&machine, "trained_power_model");
		now_measured_uj = total_of(&machine, "late");
		assert_true(now_estimated_uj >= estimated_uj && now_measured_uj >= measured_uj);
		assert_true((now_estimated_uj > estimated_uj) != (now_measured_uj > measured_uj));
		found |= now_measured_uj > 0;
		assert_int_equal(now_estimated_uj == estimated_uj, found);
		estimated_uj = now_estimated_uj;
		measured_uj = now_measured_uj;
		if (i == 2)
			atomic_store(&zones_there, 1);
	}
	assert_int_equal(measured_uj, 3);
	machine_stop(&machine);
}

/* Energy counted while a pass fails is the meter's; the estimate does not catch up with it. */
static void test_a_meter_may_take_over_while_a_pass_fails(void **state)
{
	struct machine machine;
	uint64_t time_s = 100, estimated_uj;

	(void)state;
	start_with_late_meter(&machine, 0);
	(void)pass(&machine, time_s++, 0, 0);
	atomic_store(&zones_there, 1);
	time_s = pass_until_found(&machine, time_s);
	estimated_uj = zone_of(&machine, 0, 2).node_uj[MODE_DYNAMIC];
	assert_true(estimates_are_all(&interval_engine_books(machine.engine)->accountant));
	machine.reader.error = -EMFILE;
	assert_int_equal(pass(&machine, time_s++, 0, NSEC_PER_SEC), -EMFILE);
	assert_false(estimates_are_all(&interval_engine_books(machine.engine)->accountant));
	assert_int_equal(zone_of(&machine, 1, 2).node_uj[MODE_DYNAMIC], 1);
	machine.reader.error = 0;
	(void)pass(&machine, time_s++, 0, 2 * NSEC_PER_SEC);
	assert_int_equal(zone_of(&machine, 0, 2).node_uj[MODE_DYNAMIC], estimated_uj);
	assert_true(zone_of(&machine, 0, 2).ended && !zone_of(&machine, 1, 2).ended);
	assert_int_equal(zone_of(&machine, 1, 2).node_uj[MODE_DYNAMIC], 2);
	machine_stop(&machine);
}

/* The estimate takes no zone's place. */
static void test_as_many_zones_as_meters_have_take_over(void **state)
{
	struct machine machine;
	uint64_t time_s = 100;

	(void)state;
	start_with_late_meter(&machine, SETTLE_NS);
	(void)pass(&machine, time_s++, 0, 0);
	atomic_store(&zones_there, METER_ZONES_MAX);
	(void)pass_until_found(&machine, time_s);
	assert_int_equal(interval_engine_zone_count(machine.engine), METER_ZONES_MAX + 1);
	assert_int_equal(zone_of(&machine, METER_ZONES_MAX, METER_ZONES_MAX + 1).state, ZONE_UP);
	machine_stop(&machine);
}

/* The search outlasts the start; zones are there by the first interval, and cannot be read yet. */
static void test_a_zone_of_the_start_that_fails_is_not_counted_twice(void **state)
{
	struct machine machine;
	uint64_t estimated_uj, time_s;

	(void)state;
	start_with_late_meter(&machine, 0);
	atomic_store(&zones_there, 1);
	atomic_store(&read_error, -EIO);
	for (int i = 0; i < 100 && !meter_table_count(machine.sources.meters); i++) {
		struct meter_pass read;

		(void)meter_table_read(machine.sources.meters, &read);
	}
	assert_int_equal(interval_engine_find_zones(machine.engine, 99000), 0);
	(void)pass(&machine, 99, 0, 0); /* the estimate's baseline */
	atomic_store(&read_error, 0);
	machine.reader.error = -EMFILE; /* the meter's; the estimate has not counted up to here */
	(void)pass(&machine, 100, 0, 0);
	machine.reader.error = 0;
	atomic_store(&read_error, -EIO);
	for (time_s = 101; time_s <= 104; time_s++)
		(void)pass(&machine, time_s, 0, NSEC_PER_SEC);
	assert_int_equal(interval_engine_zone_count(machine.engine), 2);
	assert_true(estimates_are_all(&interval_engine_books(machine.engine)->accountant));
	estimated_uj = zone_of(&machine, 0, 2).node_uj[MODE_DYNAMIC];
	assert_true(estimated_uj > 0); /* of 99 .. 104 */
	atomic_store(&read_error, 0);
	(void)pass(&machine, time_s++, 0, NSEC_PER_SEC);
	assert_true(zone_of(&machine, 0, 2).node_uj[MODE_DYNAMIC] > estimated_uj); /* .. 105 */
	assert_int_equal(zone_of(&machine, 1, 2).node_uj[MODE_DYNAMIC], 0);
	estimated_uj = zone_of(&machine, 0, 2).node_uj[MODE_DYNAMIC];
	(void)pass(&machine, time_s, 0, NSEC_PER_SEC);
	assert_int_equal(zone_of(&machine, 0, 2).node_uj[MODE_DYNAMIC], estimated_uj);
	assert_int_equal(zone_of(&machine, 1, 2).node_uj[MODE_DYNAMIC], 1);
	machine_stop(&machine);
}

/* Both were there at the start: what the meter has a baseline of is not estimated. */
static void test_a_zone_of_the_start_that_is_read_counts_at_once(void **state)
{
	struct machine machine;

	(void)state;
	start_with_late_meter(&machine, 0);
	atomic_store(&zones_there, 1);
	for (int i = 0; i < 100 && !meter_table_count(machine.sources.meters); i++) {
		struct meter_pass read;

		(void)meter_table_read(machine.sources.meters, &read);
	}
	assert_int_equal(interval_engine_find_zones(machine.engine, 99000), 0);
	machine.reader.error = -EMFILE; /* the estimate has no baseline, the meter has */
	(void)pass(&machine, 100, 0, 0);
	machine.reader.error = 0;
	(void)pass(&machine, 101, 0, NSEC_PER_SEC);
	(void)pass(&machine, 102, 0, NSEC_PER_SEC);
	assert_int_equal(zone_of(&machine, 0, 2).node_uj[MODE_DYNAMIC], 0);
	assert_true(zone_of(&machine, 0, 2).ended);
	assert_int_equal(zone_of(&machine, 1, 2).node_uj[MODE_DYNAMIC], 2);
	machine_stop(&machine);
}

/* Energy that the estimate has not counted yet is its own, before the meter counts. */
static void test_a_pass_that_fails_as_the_meter_is_found_is_not_lost(void **state)
{
	struct machine machine;
	uint64_t time_s, second_uj, failed = 0;

	(void)state;
	start_with_late_meter(&machine, 0);
	for (time_s = 100; time_s < 103; time_s++)
		(void)pass(&machine, time_s, 0, NSEC_PER_SEC);
	second_uj = zone_of(&machine, 0, 1).node_uj[MODE_DYNAMIC] / 2;
	atomic_store(&zones_there, 1);
	machine.reader.error = -EMFILE;
	for (; failed < 100 && interval_engine_zone_count(machine.engine) == 1; failed++)
		(void)pass(&machine, time_s++, 0, NSEC_PER_SEC);
	machine.reader.error = 0;
	(void)pass(&machine, time_s++, 0, (failed + 1) * NSEC_PER_SEC);
	assert_int_equal(zone_of(&machine, 0, 2).node_uj[MODE_DYNAMIC] / 1000,
			 (failed + 3) * second_uj / 1000);
	assert_int_equal(zone_of(&machine, 1, 2).node_uj[MODE_DYNAMIC], 0);
	(void)pass(&machine, time_s, 0, NSEC_PER_SEC);
	assert_int_equal(zone_of(&machine, 0, 2).node_uj[MODE_DYNAMIC] / 1000,
			 (failed + 3) * second_uj / 1000);
	assert_int_equal(zone_of(&machine, 1, 2).node_uj[MODE_DYNAMIC], 1);
	machine_stop(&machine);
}

/* An interval without memory for the zones is booked as any other; they wait for the next one. */
static void test_zones_without_memory_wait(void **state)
{
	struct machine machine;
	uint64_t time_s, second_uj, before_uj;
	int r = 0;

	(void)state;
	start_with_late_meter(&machine, 0);
	for (time_s = 100; time_s < 102; time_s++)
		(void)pass(&machine, time_s, 0, NSEC_PER_SEC);
	second_uj = zone_of(&machine, 0, 1).node_uj[MODE_DYNAMIC];
	atomic_store(&zones_there, 1);
	memory_refused = 2;
	for (int i = 0; i < 100 && r == 0; i++)
		r = pass(&machine, time_s++, 0, NSEC_PER_SEC);
	assert_int_equal(r, -ENOMEM);
	assert_int_equal(interval_engine_zone_count(machine.engine), 1);
	before_uj = zone_of(&machine, 0, 1).node_uj[MODE_DYNAMIC];
	assert_int_equal(before_uj / 1000, (time_s - 101) * second_uj / 1000);
	assert_int_equal(pass(&machine, time_s++, 0, NSEC_PER_SEC), -ENOMEM);
	assert_int_equal(zone_of(&machine, 0, 1).node_uj[MODE_DYNAMIC] / 1000,
			 (before_uj + second_uj) / 1000);
	assert_int_equal(pass(&machine, time_s++, 0, NSEC_PER_SEC), 0);
	assert_int_equal(zone_of(&machine, 1, 2).node_uj[MODE_DYNAMIC], 0);
	assert_int_equal(pass(&machine, time_s++, 0, NSEC_PER_SEC), 0);
	assert_int_equal(zone_of(&machine, 1, 2).node_uj[MODE_DYNAMIC], 1);
	machine_stop(&machine);
}

/* Learned before the restart: as a line of the state file. */
static void learned_line(char line[static STATE_LINE_MAX])
{
	struct idle_learner learner;

	idle_learner_init(&learner);
	for (uint64_t s = 0; s < 200; s++)
		idle_learner_add(&learner, 20 + 3 * (double)(s % 10), (double)(s % 10) / 10,
				 NSEC_PER_SEC);
	assert_true(idle_learner_format(&learner, line, STATE_LINE_MAX) >= 0);
}

/* The same for the cost of work, under keys of the boot @boot. */
static void put_learned(struct state *state, const char *boot)
{
	const double unit[POWER_FIT_FEATURES] = { 1 };
	struct power_owners owners = { .signals = 1 };

	for (unsigned s = 0; s < 60; s++) {
		struct power_fit_work work = { .amount = { 1 + s % 3 }, .time_s = 1 };
		uint64_t key = 1;
		struct power_owners_sample sample = { .power_w = 30 + 10 * (s % 3),
						      .factor_limit = POWER_OWNERS_MAX,
						      .idle_w = 20,
						      .span_ns = NSEC_PER_SEC,
						      .all = &work,
						      .key = &key,
						      .work = &work,
						      .count = 1,
						      .unit = unit };

		assert_true(power_owners_add(&owners, &sample));
	}
	for (size_t i = 0; i < POWER_OWNERS_LINES; i++) {
		char line[POWER_OWNERS_LINE_MAX], key[STATE_KEY_MAX];

		(void)snprintf(key, sizeof(key), "fit.%s.%zu/late/package-0", boot, i);
		if (power_owners_format(&owners, i, line, sizeof(line)) > 0)
			assert_int_equal(state_put(state, key, line), 0);
	}
}

/* Learned values are written off the loop, and are read again. */
static void assert_saved(struct idle_state_keeper *keeper, const struct interval_engine *engine)
{
	const struct offload_options options = { .max_threads = 1, .max_waiting = 1 };
	struct idle_state_keeper again = { 0 };
	char dir[] = "/tmp/takeover-XXXXXX", path[64];
	struct state *before = keeper->loaded;
	struct diag diag = { 0 };

	assert_non_null(mkdtemp(dir));
	assert_int_equal(offload_new(&options, &keeper->pool), 0);
	again.pool = keeper->pool;
	keeper->dir = strdup(dir);
	keeper->loaded = NULL;
	(void)snprintf(keeper->machine, sizeof(keeper->machine), "m");
	assert_int_equal(idle_state_close(keeper, engine, 5 * NSEC_PER_SEC, &diag), IDLE_NOTHING);
	keeper->loaded = calloc(1, sizeof(*keeper->loaded));
	assert_non_null(keeper->loaded);
	assert_int_equal(state_load(dir, "m", keeper->loaded, &diag), 0);
	for (size_t i = 0; i < before->count; i++)
		assert_true(!state_find(keeper->loaded, before->entries[i].key) ==
			    (strncmp(before->entries[i].key, "fit.earlier.", 12) == 0));
	offload_free(again.pool, 5 * NSEC_PER_SEC);
	(void)snprintf(path, sizeof(path), "%s/" STATE_FILE_NAME, dir);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
	free(before);
}

/* Whenever the engine adopts a zone: also if it is later than the meters were found. */
static void found_zones_are_restored(unsigned refused, const char *boot)
{
	char line[STATE_LINE_MAX];
	struct machine machine;
	struct idle_state_keeper keeper = { 0 };
	struct meter_watch watch = { 0 };
	struct session session;
	uint64_t time_s = 100;

	learned_line(line);
	start_with_late_meter(&machine, 0);
	session = (struct session){ .config = &machine.config,
				    .sources = { .meters = machine.sources.meters,
						 .estimates = machine.sources.estimates },
				    .engine = machine.engine };
	keeper.loaded = calloc(1, sizeof(*keeper.loaded));
	assert_non_null(keeper.loaded);
	assert_int_equal(state_put(keeper.loaded, "late/package-0", line), 0);
	put_learned(keeper.loaded, boot);
	(void)snprintf(keeper.boot, sizeof(keeper.boot), "now");
	for (; time_s < 103; time_s++) {
		(void)pass(&machine, time_s, 0, NSEC_PER_SEC);
		(void)meter_watch_follow(&watch, &session, &keeper);
	}
	assert_int_equal(watch.described_zones, 1);
	atomic_store(&zones_there, 1);
	memory_refused = refused;
	for (int i = 0; i < 100 && interval_engine_zone_count(machine.engine) == 1; i++) {
		(void)pass(&machine, time_s++, 0, NSEC_PER_SEC);
		(void)meter_watch_follow(&watch, &session, &keeper);
	}
	assert_int_equal(interval_engine_view(machine.engine, 1).idle_state, IDLE_LEARNED);
	assert_int_equal(watch.described_zones, 2);
	assert_true(!zone_fits_learned(&interval_engine_books(machine.engine)->accountant.fits,
				       1) == (strcmp(boot, "now") != 0));
	assert_saved(&keeper, machine.engine);
	free(keeper.loaded);
	machine_stop(&machine);
}

static void test_zones_that_are_found_are_restored(void **state)
{
	(void)state;
	found_zones_are_restored(0, "now");
	found_zones_are_restored(3, "now");
	found_zones_are_restored(0, "earlier");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_meter_that_is_found_late_takes_over),
		cmocka_unit_test(test_no_total_falls_and_one_grows),
		cmocka_unit_test(test_a_meter_may_take_over_while_a_pass_fails),
		cmocka_unit_test(test_as_many_zones_as_meters_have_take_over),
		cmocka_unit_test(test_a_zone_of_the_start_that_fails_is_not_counted_twice),
		cmocka_unit_test(test_a_zone_of_the_start_that_is_read_counts_at_once),
		cmocka_unit_test(test_a_pass_that_fails_as_the_meter_is_found_is_not_lost),
		cmocka_unit_test(test_zones_without_memory_wait),
		cmocka_unit_test(test_zones_that_are_found_are_restored),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

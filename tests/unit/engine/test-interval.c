// SPDX-License-Identifier: Apache-2.0
#include "engine/interval.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/macro.h"
#include "made_up_machine.h"
#include "tests/rig/remove_tree.h"

static void test_an_estimate_is_not_thinned_by_sleep(void **state)
{
	struct machine machine;
	struct snapshot_zone awake, slept;
	uint64_t unattributed_uj;

	(void)state;
	machine_start(&machine, true);
	assert_int_equal(pass(&machine, 100, 0, 0), 0);
	assert_int_equal(pass(&machine, 101, 0, NSEC_PER_SEC), 0);
	awake = zone_now(&machine);
	assert_int_equal(pass(&machine, 102, 3600, NSEC_PER_SEC), 0);
	slept = zone_now(&machine);
	unattributed_uj = slept.unattributed_uj[MODE_DYNAMIC][UNATTRIBUTED_NO_ACTIVITY];
	assert_true(awake.watts[MODE_DYNAMIC] > 0);
	assert_true(fabs(slept.watts[MODE_DYNAMIC] - awake.watts[MODE_DYNAMIC]) < 1e-5);
	assert_int_equal(unattributed_uj, 0);
	machine_stop(&machine);
}

static void test_a_failed_pass_is_not_an_idle_machine(void **state)
{
	struct machine machine, whole;
	struct snapshot_zone zone;

	(void)state;
	machine_start(&machine, true);
	machine_start(&whole, true);
	(void)pass(&machine, 100, 0, 0);
	(void)pass(&whole, 100, 0, 0);
	machine.reader.error = -EMFILE;
	assert_int_equal(pass(&machine, 101, 0, NSEC_PER_SEC), -EMFILE);
	zone = zone_now(&machine);
	assert_true(isnan(zone.watts[MODE_DYNAMIC]));
	assert_int_equal(zone.span_ns, 0);
	assert_true(isnan(machine.node.busy_ratio));
	machine.reader.error = 0;
	(void)pass(&machine, 102, 0, 2 * NSEC_PER_SEC); /* the next pass has both intervals' work */
	(void)pass(&whole, 102, 0, 2 * NSEC_PER_SEC);
	assert_true(fabs(machine.node.busy_ratio - 0.5) < 1e-9);
	assert_int_equal(zone_now(&machine).node_uj[MODE_DYNAMIC],
			 zone_now(&whole).node_uj[MODE_DYNAMIC]);
	machine_stop(&machine);
	machine_stop(&whole);
}

/* As pass(), of a machine that has so many CPUs and ran @unseen_ns more than was seen. */
static void pass_of_machine(struct machine *machine, uint64_t time_s, uint64_t cpu_ns,
			    uint64_t unseen_ns, uint32_t cpus)
{
	struct told_reader *reader = &machine->reader;

	reader->sample = (struct activity_sample){
		.key = { .pid = 7, .start_ns = 1 },
		.cpu_ns = cpu_ns,
		.comm = "burner",
	};
	reader->activity = (struct activity){
		.time_ns = time_s * NSEC_PER_SEC,
		.boottime_ns = time_s * NSEC_PER_SEC,
		.samples = &reader->sample,
		.count = 1,
		.busy_ns = cpu_ns + unseen_ns,
		.unseen_ns = unseen_ns,
		.cpus = cpus,
	};
	assert_int_equal(run_at(machine, time_s, time_s), 0);
}

static void test_what_is_unseen_is_unattributed(void **state)
{
	struct machine part, whole;
	struct snapshot_zone zone;

	(void)state;
	machine_start(&part, true);
	machine_start(&whole, true);
	pass_of_machine(&part, 100, 0, 0, 2);
	pass_of_machine(&whole, 100, 0, 0, 2);
	pass_of_machine(&part, 101, NSEC_PER_SEC / 100, NSEC_PER_SEC * 99 / 100, 2);
	pass_of_machine(&whole, 101, NSEC_PER_SEC, 0, 2);
	zone = zone_now(&part);
	/* The machine is as busy as if all of it were seen, and draws as much. */
	assert_true(fabs(part.node.busy_ratio - 0.5) < 1e-9);
	assert_int_equal(zone.node_uj[MODE_DYNAMIC], zone_now(&whole).node_uj[MODE_DYNAMIC]);
	assert_true(zone.unattributed_uj[MODE_DYNAMIC][UNATTRIBUTED_UNSEEN] >=
		    zone.node_uj[MODE_DYNAMIC] * 99 / 100 - 1);
	assert_int_equal(part.node.cpu_ns, NSEC_PER_SEC);
	machine_stop(&part);
	machine_stop(&whole);
}

static void test_cpus_come_and_go(void **state)
{
	struct machine machine;
	uint64_t before_uj, half_uj;

	(void)state;
	machine_start(&machine, true);
	pass_of_machine(&machine, 100, 0, 0, 2);
	pass_of_machine(&machine, 101, NSEC_PER_SEC, 0, 2);
	assert_true(fabs(machine.node.busy_ratio - 0.5) < 1e-9);
	half_uj = zone_now(&machine).node_uj[MODE_DYNAMIC];
	pass_of_machine(&machine, 102, NSEC_PER_SEC, 0, 1);
	assert_true(fabs(machine.node.busy_ratio - 1) < 1e-9);
	pass_of_machine(&machine, 103, 2 * NSEC_PER_SEC, 0, 4);
	assert_true(fabs(machine.node.busy_ratio - 0.5) < 1e-9);
	before_uj = zone_now(&machine).node_uj[MODE_DYNAMIC];
	pass_of_machine(&machine, 104, 2 * NSEC_PER_SEC, 0, 4);
	/*
	 * Twice the vCPUs, half busy: twice the power, except that the share of the host is larger.
	 */
	assert_in_range(zone_now(&machine).node_uj[MODE_DYNAMIC] - before_uj, half_uj * 196 / 100,
			half_uj * 204 / 100);
	/* Where it is not known nothing changes. */
	pass_of_machine(&machine, 105, 2 * NSEC_PER_SEC, 0, 0);
	assert_true(fabs(machine.node.busy_ratio - 0.5) < 1e-9);
	machine_stop(&machine);
}

static void test_an_account_of_fewer_cpus_is_a_containers(void **state)
{
	struct machine machine;

	(void)state;
	machine_start(&machine, true);
	pass_of_machine(&machine, 100, 0, 0, 1);
	pass_of_machine(&machine, 101, NSEC_PER_SEC, 0, 1);
	assert_true(fabs(machine.node.busy_ratio - 0.5) < 1e-9);
	machine_stop(&machine);
}

static void write_online(const char *sysfs, const char *list)
{
	char path[96];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/devices/system/cpu/online", sysfs);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(list, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* Its account follows its limits; the machine still has its two CPUs, until it has four. */
static void test_a_container_that_is_resized_changes_no_machine(void **state)
{
	static const char *const folders[] = { "devices", "devices/system", "devices/system/cpu" };
	char sysfs[] = "/tmp/kepler-test-XXXXXX", path[96];
	struct machine machine;

	(void)state;
	assert_non_null(mkdtemp(sysfs));
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", sysfs, folders[i]);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	write_online(sysfs, "0-1\n");
	machine_start(&machine, true);
	machine.config.host.sysfs = sysfs;
	pass_of_machine(&machine, 100, 0, 0, 1);
	pass_of_machine(&machine, 101, NSEC_PER_SEC, 0, 3);
	assert_true(fabs(machine.node.busy_ratio - 0.5) < 1e-9);
	assert_int_equal(machine.sources.estimates.of[ESTIMATE_PLATFORM]->cpus, 2);
	write_online(sysfs, "0-3\n");
	pass_of_machine(&machine, 102, NSEC_PER_SEC, 0, 4);
	assert_true(fabs(machine.node.busy_ratio - 0.25) < 1e-9);
	machine_stop(&machine);
	remove_tree(sysfs);
}

static void test_counts_of_passes_add_up(void **state)
{
	struct machine machine;

	(void)state;
	machine_start(&machine, true);
	machine.reader.info.tasks_walked = 90;
	machine.reader.info.tasks_sent = 5;
	(void)pass(&machine, 100, 0, 0);
	machine.reader.info.tasks_walked = 80;
	machine.reader.info.tasks_sent = 3;
	(void)pass(&machine, 101, 0, 1);
	assert_int_equal(interval_engine_activity(machine.engine)->tasks_walked, 170);
	assert_int_equal(interval_engine_activity(machine.engine)->tasks_sent, 8);
	machine_stop(&machine);
}

static void test_idle_power_that_is_switched_off_is_absent(void **state)
{
	struct machine machine;
	struct config off;

	(void)state;
	machine_start(&machine, false);
	(void)pass(&machine, 100, 0, 0);
	(void)pass(&machine, 101, 0, NSEC_PER_SEC);
	assert_true(zone_now(&machine).watts[MODE_IDLE] > 0);
	off = machine.config;
	off.idle.mode = IDLE_MODE_OFF;
	interval_engine_reconfigure(machine.engine, &off);
	(void)pass(&machine, 102, 0, NSEC_PER_SEC);
	/* The series of before stays, and the zone's power is still the sum of its modes. */
	assert_true(zone_now(&machine).has_mode[MODE_IDLE]);
	assert_true(zone_now(&machine).watts[MODE_IDLE] <= 0);
	assert_true(zone_now(&machine).watts[MODE_DYNAMIC] > 0);
	machine_stop(&machine);
}

/* Σ of the containers' series, idle energy of zone 0. */
static uint64_t shown_idle(const struct machine *machine)
{
	const struct snapshot *snapshot = snapshot_get(machine->holder);
	const struct snapshot_table *table = &snapshot->level[LEVEL_CONTAINER];
	uint64_t sum = 0;

	for (size_t i = 0; i < table->count; i++)
		sum += table->values[i * snapshot->columns +
				     snapshot->accounts[0].column[MODE_IDLE]];
	snapshot_put(machine->holder, snapshot);
	return sum;
}

static void test_idle_shares_that_a_reload_brings_are_seen_with_0(void **state)
{
	struct machine machine;
	struct config shared;
	uint64_t node_uj;

	(void)state;
	machine_start(&machine, false);
	(void)pass(&machine, 100, 0, 0);
	(void)pass(&machine, 101, 0, NSEC_PER_SEC);
	assert_false(zone_now(&machine).rows_have_mode[MODE_IDLE]);
	shared = machine.config;
	shared.idle.share = IDLE_SHARE_USAGE;
	interval_engine_reconfigure(machine.engine, &shared);
	for (uint64_t time_s = 102; time_s < 102 + 15; time_s++) {
		(void)pass(&machine, time_s, 0, NSEC_PER_SEC);
		assert_true(zone_now(&machine).rows_have_mode[MODE_IDLE]);
		assert_int_equal(shown_idle(&machine), 0);
	}
	node_uj = zone_now(&machine).node_uj[MODE_IDLE];
	assert_int_equal(zone_now(&machine).unattributed_uj[MODE_IDLE][UNATTRIBUTED_IDLE_POLICY],
			 node_uj);
	(void)pass(&machine, 117, 0, NSEC_PER_SEC);
	assert_int_equal(shown_idle(&machine), zone_now(&machine).node_uj[MODE_IDLE] - node_uj);
	assert_true(shown_idle(&machine) > 0);
	machine_stop(&machine);
}

/* The part of process @pid in the idle energy of zone 0. */
static uint64_t idle_of(const struct machine *machine, uint32_t pid)
{
	const struct ledger *ledger = interval_engine_books(machine->engine)->ledger;
	uint32_t process = ledger_find_process(ledger, pid, 1);

	if (process == LEDGER_NONE)
		return 0;
	return ledger_values(ledger, LEVEL_PROCESS, process)[ledger_column(ledger, 0, MODE_IDLE)];
}

static void test_a_reload_gives_sleepers_their_equal_share(void **state)
{
	struct machine machine;
	struct config shared;

	(void)state;
	machine_start(&machine, false);
	(void)pass(&machine, 100, 0, 0);
	(void)pass(&machine, 101, 0, NSEC_PER_SEC);
	shared = machine.config;
	shared.idle.share = IDLE_SHARE_EQUAL;
	interval_engine_reconfigure(machine.engine, &shared);
	for (uint64_t time_s = 102; time_s < 130; time_s++)
		(void)pass(&machine, time_s, 0, NSEC_PER_SEC);
	assert_true(idle_of(&machine, 8) > 0);
	/* A microjoule that cannot be halved is given to one of them, in each interval. */
	assert_in_range(idle_of(&machine, 8) + 28, idle_of(&machine, 7),
			idle_of(&machine, 7) + 2 * 28);
	machine_stop(&machine);
}

static uint64_t process_uj(const struct machine *machine, uint32_t pid)
{
	const struct snapshot *snapshot = snapshot_get(machine->holder);
	const struct snapshot_table *table = &snapshot->level[LEVEL_PROCESS];
	uint64_t uj = UINT64_MAX; /* no series */

	for (size_t i = 0; i < table->count; i++) {
		if (table->rows[i].labels->pid == pid)
			uj = table->values[i * snapshot->columns + MODE_DYNAMIC];
	}
	snapshot_put(machine->holder, snapshot);
	return uj;
}

/*
 * A scraper comes each 10 s. A process is born, and shows 0 until the scraper has seen that, even
 * where a scrape is late; what has turned never shows 0 again.
 */
static void births_follow_the_scraper(uint64_t late_s, uint64_t turns_s)
{
	struct scrape_pace pace;
	struct machine machine;
	uint64_t born_s = 0, turned_s = 0, last_uj = 0;

	scrape_pace_init(&pace, 100 * NSEC_PER_SEC);
	machine_start_scraped(&machine, true, &pace);
	machine.config.publication.settle_ns = SETTLE_AUTO;
	interval_engine_reconfigure(machine.engine, &machine.config);
	for (uint64_t time_s = 100; time_s < 200; time_s++) {
		uint64_t uj;

		(void)pass(&machine, time_s, 0, time_s < 143 ? 0 : NSEC_PER_SEC);
		uj = time_s < 143 ? UINT64_MAX : process_uj(&machine, 7);
		if (uj != UINT64_MAX && !born_s)
			born_s = time_s;
		if (uj != UINT64_MAX && uj > 0 && !turned_s)
			turned_s = time_s;
		if (turned_s)
			assert_true(uj >= last_uj);
		last_uj = uj == UINT64_MAX ? 0 : uj;
		if (time_s == 150 + late_s || (time_s % 10 == 0 && time_s != 150))
			scrape_pace_note(&pace, 1, time_s * NSEC_PER_SEC, time_s * NSEC_PER_SEC);
	}
	assert_int_equal(born_s, 143);
	assert_int_equal(turned_s, turns_s);
	assert_true(interval_engine_books(machine.engine)->accountant.settle_ns >=
		    10 * NSEC_PER_SEC);
	assert_int_equal(interval_engine_series(machine.engine)->scrape_clients, 1);
	machine_stop(&machine);
	scrape_pace_release(&pace);
}

static void test_a_birth_settles_until_it_was_scraped(void **state)
{
	(void)state;
	births_follow_the_scraper(0, 153);
	births_follow_the_scraper(2, 155);
	births_follow_the_scraper(5, 168); /* as if two scrapers were one: 10 and 15 s */
}

/* As pass(), for a process that retired @instructions, with a cgroup's 40 bytes, and 2 unknown. */
static int counting_pass(struct machine *machine, uint64_t time_s, uint64_t cpu_ns,
			 uint64_t instructions)
{
	static const struct cgroup_signals others = { .amount[SIGNAL_NET_BYTES] = 40 };
	struct told_reader *reader = &machine->reader;

	reader->sample = (struct activity_sample){
		.key = { .pid = 7, .start_ns = 1 },
		.cpu_ns = cpu_ns,
		.comm = "burner",
	};
	reader->activity = (struct activity){
		.time_ns = time_s * NSEC_PER_SEC,
		.boottime_ns = time_s * NSEC_PER_SEC,
		.samples = &reader->sample,
		.count = 1,
		.busy_ns = cpu_ns,
		.signals = SIGNAL_BIT(SIGNAL_INSTRUCTIONS) | SIGNAL_BIT(SIGNAL_NET_BYTES),
		.signal[SIGNAL_INSTRUCTIONS] = &instructions,
		.cgroup_signals = &others,
		.cgroup_signal_count = 1,
		.unknown_signal[SIGNAL_NET_BYTES] = 2,
	};
	return run_at(machine, time_s, time_s);
}

static uint64_t sum_of_level(const struct snapshot *snapshot, enum level level, uint32_t column)
{
	const struct snapshot_table *table = &snapshot->level[level];
	uint64_t sum = table->pending[column];

	for (size_t row = 0; row < table->count; row++)
		sum += table->values[row * snapshot->columns + column];
	for (size_t row = 0; row < table->retired_count; row++)
		sum += table->retired_values[row * snapshot->columns + column];
	return sum;
}

/* Costs of a process without CPU time are its own as well. */
static void test_counters_of_rows_add_up_to_the_node(void **state)
{
	static const uint64_t want[] = { 530, 126 }, unattributed[] = { 0, 6 };
	const struct snapshot *snapshot;
	struct machine machine;

	(void)state;
	machine_start(&machine, true);
	assert_int_equal(counting_pass(&machine, 100, 0, 0), 0);
	assert_int_equal(counting_pass(&machine, 101, NSEC_PER_SEC, 500), 0);
	assert_int_equal(counting_pass(&machine, 102, 0, 30), 0);
	snapshot = snapshot_get(machine.holder);
	assert_int_equal(snapshot->columns, 4);
	for (uint32_t i = 0; i < 2; i++) {
		const struct snapshot_column *counter = &snapshot->column[2 + i];

		assert_int_equal(counter->node, want[i]);
		assert_int_equal(counter->unattributed, unattributed[i]);
		for (enum level level = 0; level <= LEVEL_CONTAINER; level++)
			assert_int_equal(sum_of_level(snapshot, level, 2 + i) +
						 counter->unattributed,
					 want[i]);
	}
	assert_ptr_equal(snapshot->column[2].of.quantity, &signal_info[SIGNAL_INSTRUCTIONS]);
	snapshot_put(machine.holder, snapshot);
	machine_stop(&machine);
}

static void test_counters_can_be_off(void **state)
{
	const struct snapshot *snapshot;
	struct machine machine;

	(void)state;
	machine_start(&machine, true);
	machine.config.metrics.counters = COUNTERS_OFF;
	assert_int_equal(counting_pass(&machine, 100, 0, 0), 0);
	assert_int_equal(counting_pass(&machine, 101, NSEC_PER_SEC, 500), 0);
	snapshot = snapshot_get(machine.holder);
	assert_int_equal(snapshot->columns, 2);
	snapshot_put(machine.holder, snapshot);
	machine_stop(&machine);
}

static size_t rows_within(uint32_t max_series, bool counting)
{
	const struct snapshot *snapshot;
	struct machine machine;
	size_t rows = 0;

	machine_start(&machine, true);
	machine.config.metrics.max_series = max_series;
	machine.config.pages.schema = SCHEMA_CLASSIC;
	interval_engine_reconfigure(machine.engine, &machine.config);
	for (uint64_t time_s = 100; time_s < 102; time_s++) {
		uint64_t cpu_ns = time_s == 100 ? 0 : NSEC_PER_SEC;

		if (counting)
			(void)counting_pass(&machine, time_s, cpu_ns, cpu_ns);
		else
			(void)pass(&machine, time_s, 0, cpu_ns);
	}
	snapshot = snapshot_get(machine.holder);
	for (enum level level = 0; level < LEVEL_COUNT; level++)
		rows += snapshot->level[level].count;
	snapshot_put(machine.holder, snapshot);
	machine_stop(&machine);
	return rows;
}

/* How many series there must be room for, for all rows to be shown. */
static uint32_t room_needed(uint32_t series, bool counting)
{
	size_t rows = rows_within(1000, counting);
	uint32_t room = series;

	while (room < 1000 && rows_within(room, counting) < rows)
		room++;
	assert_true(rows > 0);
	assert_int_equal(room % series, 0); /* room for one more row */
	assert_int_equal(rows_within(room - 1, counting) < rows, room > series);
	return room;
}

/* Each has joules of the zone, CPU time, joules and watts of the total; and each counter. */
static void test_rows_have_the_total_as_a_series(void **state)
{
	(void)state;
	assert_int_equal(room_needed(4, false) / 4, room_needed(6, true) / 6);
}

static int64_t page_time_ms(const struct machine *machine)
{
	const struct snapshot *snapshot = snapshot_get(machine->holder);
	int64_t time_ms = snapshot->realtime_ms;

	snapshot_put(machine->holder, snapshot);
	return time_ms;
}

/* The clocks of births are read together: a pass that takes seconds moves none. */
static void test_a_slow_pass_moves_no_birth(void **state)
{
	struct told_reader *reader;
	struct machine machine;
	int64_t born_ms;

	(void)state;
	machine_start(&machine, true);
	reader = &machine.reader;
	(void)pass(&machine, 100, 0, 0);
	born_ms = zone_now(&machine).created_ms;
	assert_int_equal(born_ms, 100000);
	reader->activity.time_ns = 101 * NSEC_PER_SEC;
	reader->activity.boottime_ns = 104 * NSEC_PER_SEC; /* its end */
	assert_int_equal(run_at(&machine, 101, 101), 0);
	assert_int_equal(zone_now(&machine).created_ms, born_ms);
	/* The page names the time of the pass, by which it gives the ages of readings. */
	assert_int_equal(page_time_ms(&machine), 104000);
	/* And a clock that is set right moves all of them to where they were. */
	reader->activity.time_ns = reader->activity.boottime_ns = 105 * NSEC_PER_SEC;
	assert_int_equal(run_at(&machine, 105, 1700000105), 0);
	assert_int_equal(zone_now(&machine).created_ms, 1700000100000);
	machine_stop(&machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_estimate_is_not_thinned_by_sleep),
		cmocka_unit_test(test_a_failed_pass_is_not_an_idle_machine),
		cmocka_unit_test(test_what_is_unseen_is_unattributed),
		cmocka_unit_test(test_cpus_come_and_go),
		cmocka_unit_test(test_an_account_of_fewer_cpus_is_a_containers),
		cmocka_unit_test(test_a_container_that_is_resized_changes_no_machine),
		cmocka_unit_test(test_counts_of_passes_add_up),
		cmocka_unit_test(test_idle_power_that_is_switched_off_is_absent),
		cmocka_unit_test(test_idle_shares_that_a_reload_brings_are_seen_with_0),
		cmocka_unit_test(test_a_reload_gives_sleepers_their_equal_share),
		cmocka_unit_test(test_a_birth_settles_until_it_was_scraped),
		cmocka_unit_test(test_rows_have_the_total_as_a_series),
		cmocka_unit_test(test_counters_of_rows_add_up_to_the_node),
		cmocka_unit_test(test_counters_can_be_off),
		cmocka_unit_test(test_a_slow_pass_moves_no_birth),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

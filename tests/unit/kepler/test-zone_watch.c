// SPDX-License-Identifier: Apache-2.0
/* Zones that contain each other, from a meter to the log messages about them. */
#include "kepler/zone_watch.h"

#include "base/clock.h"
#include "base/num.h"
#include "base/text/watts_text.h"
#include "snapshot/power_text.h"
#include "snapshot/snapshot_holder.h"
#include "tests/unit/unit.h"

#define ZONES 5

static const struct zone nested[ZONES] = {
	{ .kind = ZONE_PACKAGE, .instance = "0", .source = "nested" },
	{ .kind = ZONE_CORE, .instance = "0", .source = "nested" },
	{ .kind = ZONE_UNCORE, .instance = "0", .source = "nested" },
	{ .kind = ZONE_PSYS, .instance = "1", .source = "nested" },
	{ .kind = ZONE_PACKAGE, .instance = "1", .source = "nested" },
};

struct meter {
	uint64_t energy_uj[ZONES];
};

static struct meter told; /* the one that the tests open */

static int nested_open(const struct meter_options *options, struct meter **ret)
{
	(void)options;
	*ret = &told;
	return 0;
}

static size_t nested_zone_count(struct meter *meter)
{
	(void)meter;
	return ZONES;
}

static const struct zone *nested_zone_at(struct meter *meter, size_t index)
{
	(void)meter;
	return &nested[index];
}

static size_t nested_ignored(struct meter *meter)
{
	(void)meter;
	return 2;
}

static int nested_read_raw(struct meter *meter, size_t index, struct raw_reading *ret)
{
	*ret = (struct raw_reading){ meter->energy_uj[index], UINT64_MAX / 2, 1 };
	return 0;
}

static int nested_rescan(struct meter *meter)
{
	(void)meter;
	return 0;
}

static void nested_close(struct meter *meter)
{
	(void)meter;
}

static const struct meter_ops nested_meter = {
	.name = "nested",
	.open = nested_open,
	.zone_count = nested_zone_count,
	.zone_at = nested_zone_at,
	.ignored = nested_ignored,
	.read_raw = nested_read_raw,
	.rescan = nested_rescan,
	.close = nested_close,
};

static int quiet_read(struct activity_reader *reader, struct activity *activity)
{
	(void)reader;
	*activity = (struct activity){ .time_ns = clock_ns(CLOCK_MONOTONIC),
				       .boottime_ns = clock_ns(CLOCK_BOOTTIME) };
	return 0;
}

static void quiet_info(const struct activity_reader *reader, struct activity_info *ret)
{
	(void)reader;
	*ret = (struct activity_info){ 0 };
}

static const struct activity_ops quiet_ops = { .read = quiet_read, .get_info = quiet_info };

struct machine {
	struct activity_reader reader;
	struct config config;
	struct sources sources;
	struct snapshot_holder *holder;
	struct interval_engine *engine;
	struct snapshot_node node;
	struct zone_watch watch;
};

static void machine_start(struct machine *machine)
{
	/* A counter that moves at once is not a fault here: a gigawatt. */
	const struct meter_options options = { "/sys", 60 * NSEC_PER_SEC, 1000000000000000, false };
	const struct identity_options nowhere = { "/nonexistent", "/nonexistent", 0 };
	struct interval_peers peers;

	*machine = (struct machine){
		.reader.ops = &quiet_ops,
		.config = { .monitor = { .max_processes = 256, .max_containers = 16 },
			    .metrics.max_series = 1000,
			    .idle.mode = IDLE_MODE_OFF },
	};
	told = (struct meter){ { 0 } };
	assert_int_equal(meter_table_open_source(&nested_meter, &options, &machine->sources.meters),
			 0);
	assert_int_equal(identity_resolver_open(&nowhere, &machine->sources.identities), 0);
	assert_int_equal(snapshot_holder_new(&machine->holder), 0);
	machine->sources.activity = &machine->reader;
	machine->sources.host.cpus = 2;
	peers = (struct interval_peers){ .holder = machine->holder };
	assert_int_equal(
		interval_engine_new(&machine->sources, &peers, &machine->config, &machine->engine),
		0);
}

static void machine_stop(struct machine *machine)
{
	interval_engine_free(machine->engine);
	snapshot_holder_free(machine->holder);
	identity_resolver_close(machine->sources.identities);
	meter_table_close(machine->sources.meters);
}

/* An interval that ends at @now_s, in which the zones count so many joules. */
static void interval(struct machine *machine, uint64_t now_s, const uint64_t joules[static ZONES])
{
	const struct interval_moment now = { (int64_t)now_s * 1000, (int64_t)now_s * 1000 };

	for (size_t z = 0; z < ZONES; z++)
		told.energy_uj[z] += joules[z] * 1000000;
	zone_watch_count(&machine->watch, &machine->sources);
	assert_int_equal(interval_engine_run(machine->engine, &now, &machine->node), 0);
	zone_watch_look(&machine->watch, machine->engine, now_s * NSEC_PER_SEC);
}

static const uint64_t nothing[ZONES] = { 0 };
static const uint64_t plausible[ZONES] = { 100, 60, 30, 400, 50 };
static const uint64_t absurd[ZONES] = { 100, 80, 30, 400, 50 };

static void test_parts_that_exceed_their_package_are_reported(void **state)
{
	struct machine machine;

	machine_start(&machine);
	interval(&machine, 1000, nothing); /* the baseline */
	interval(&machine, 1030, absurd);
	assert_int_equal(machine.watch.health.packages_exceeded, 0);
	interval(&machine, 1060, absurd);
	assert_int_equal(machine.watch.health.packages_exceeded, 1);
	assert_true(machine.watch.exceeded[0] && !machine.watch.exceeded[4]);
	interval(&machine, 1090, plausible);
	interval(&machine, 1120, plausible);
	assert_int_equal(machine.watch.health.packages_exceeded, 0);
	machine_stop(&machine);
}

static void test_zones_that_are_left_out_are_counted(void **state)
{
	struct machine machine;

	machine_start(&machine);
	zone_watch_count(&machine.watch, &machine.sources);
	assert_int_equal(machine.watch.health.left_out, 2);
	assert_true(machine.watch.left_out);
	machine_stop(&machine);
}

/* The total is of the sockets and the rest of psys; zones inside a socket are in no sum. */
static void test_nested_zones_are_never_added(void **state)
{
	struct strbuf frame = STRBUF_INIT;
	const struct snapshot *snapshot;
	struct machine machine;
	char watts[WATTS_TEXT_MAX], expected[64];
	double node_w = 0, total_w;

	machine_start(&machine);
	interval(&machine, 1000, nothing);
	interval(&machine, 1001, plausible);
	snapshot = snapshot_get(machine.holder);
	for (size_t z = 0; z < ZONES; z++)
		assert_int_equal(snapshot->zones[z].node_uj[MODE_DYNAMIC], plausible[z] * 1000000);
	for (size_t z = 0; z < snapshot->zone_count; z++) {
		const struct snapshot_zone *zone = &snapshot->zones[z];

		assert_int_equal(zone->total != TOTAL_NONE,
				 zone->zone.kind == ZONE_PACKAGE || zone->zone.kind == ZONE_OTHER);
		if (zone->total != TOTAL_NONE)
			node_w += zone->watts[MODE_DYNAMIC];
	}
	assert_true(node_w >= snapshot->zones[3].watts[MODE_DYNAMIC]);
	snapshot_put(machine.holder, snapshot);
	/* In whole microwatts, of zones that were read at times of their own. */
	total_w = (double)interval_engine_power(machine.engine)->total_uw / 1e6;
	assert_true(fabs(node_w / total_w - 1) < 1e-5);
	watts_text(watts, total_w);
	power_text_total(interval_engine_power(machine.engine), &frame);
	(void)snprintf(expected, sizeof(expected), "%s W", watts);
	assert_non_null(strstr(frame.data, expected));
	strbuf_release(&frame);
	machine_stop(&machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts_that_exceed_their_package_are_reported),
		cmocka_unit_test(test_zones_that_are_left_out_are_counted),
		cmocka_unit_test(test_nested_zones_are_never_added),
	};

	return unit_run(tests);
}

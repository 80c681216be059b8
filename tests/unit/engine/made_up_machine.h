/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine over an invented machine: the test gives passes and their times, and the zone is a
 * model's, so that it has no clock of its own either.
 */
#pragma once

#include "base/num.h"
#include "engine/interval.h"
#include "estimate/platform_estimate.h"
#include "host/host.h"
#include "model/platform_power.h"
#include "snapshot/snapshot_holder.h"
#include "tests/unit/unit.h"

#define SETTLE_NS (15 * NSEC_PER_SEC)

struct told_reader {
	struct activity_reader base;
	struct activity_sample sample;
	struct activity activity;
	struct activity_info info;
	int error;
};

static inline int told_read(struct activity_reader *reader, struct activity *activity)
{
	const struct told_reader *told = (const struct told_reader *)reader;

	*activity = told->error ? (struct activity){ 0 } : told->activity;
	return told->error;
}

static inline void told_info(const struct activity_reader *reader, struct activity_info *ret)
{
	*ret = ((const struct told_reader *)reader)->info;
}

/* A process that ran, and one that sleeps since the start. */
static inline void told_visit(struct activity_reader *reader, activity_visit_fn *fn, void *userdata)
{
	const struct told_reader *told = (const struct told_reader *)reader;
	struct activity_sample living[] = {
		told->sample, { .key = { .pid = 8, .start_ns = 1 }, .comm = "sleeper" }
	};

	living[0].cpu_ns = 0;
	fn(userdata, &living[0]);
	fn(userdata, &living[1]);
}

static const struct activity_ops told_ops = { .read = told_read,
					      .get_info = told_info,
					      .visit = told_visit };

struct machine {
	struct told_reader reader;
	struct config config;
	struct sources sources; /* without meters, unless a test gives some */
	struct snapshot_holder *holder;
	struct interval_engine *engine;
	struct snapshot_node node;
};

static inline void machine_start_of(struct machine *machine, bool is_vm, struct meter_table *meters,
				    struct scrape_pace *pace, struct record_tap *tap)
{
	const struct host_info host = { .cpus = 2, .cores = 2, .sockets = 1, .is_vm = is_vm };
	const struct identity_options nowhere = { .procfs = "/nonexistent",
						  .cgroupfs = "/nonexistent" };
	struct interval_peers peers;

	*machine = (struct machine){
		.reader.base.ops = &told_ops,
		.sources = { .host = host, .meters = meters },
		.config = { .monitor = { .max_processes = 256, .max_containers = 16 },
			    .publication.settle_ns = SETTLE_NS,
			    .metrics.max_series = 1000,
			    .idle.mode = IDLE_MODE_LEARNED },
	};
	assert_int_equal(platform_estimate_new(&platform_power_model, &host,
					       &machine->sources.estimates.of[ESTIMATE_PLATFORM]),
			 0);
	assert_int_equal(identity_resolver_open(&nowhere, &machine->sources.identities), 0);
	assert_int_equal(snapshot_holder_new(&machine->holder), 0);
	machine->sources.activity = &machine->reader.base;
	peers = (struct interval_peers){ .holder = machine->holder, .pace = pace, .tap = tap };
	assert_int_equal(
		interval_engine_new(&machine->sources, &peers, &machine->config, &machine->engine),
		0);
}

static inline void machine_start_with(struct machine *machine, bool is_vm,
				      struct meter_table *meters)
{
	machine_start_of(machine, is_vm, meters, NULL, NULL);
}

static inline void machine_start_scraped(struct machine *machine, bool is_vm,
					 struct scrape_pace *pace)
{
	machine_start_of(machine, is_vm, NULL, pace, NULL);
}

static inline void machine_start_recorded(struct machine *machine, bool is_vm,
					  struct record_tap *tap)
{
	machine_start_of(machine, is_vm, NULL, NULL, tap);
}

static inline void machine_start(struct machine *machine, bool is_vm)
{
	machine_start_with(machine, is_vm, NULL);
}

static inline void machine_stop(struct machine *machine)
{
	interval_engine_free(machine->engine);
	meter_table_close(machine->sources.meters);
	snapshot_holder_free(machine->holder);
	identity_resolver_close(machine->sources.identities);
	estimates_free(&machine->sources.estimates);
}

/* An interval that began at @boottime_s, when the time of day was @realtime_s. */
static inline int run_at(struct machine *machine, uint64_t boottime_s, uint64_t realtime_s)
{
	const struct interval_moment now = { (int64_t)boottime_s * 1000,
					     (int64_t)realtime_s * 1000 };

	return interval_engine_run(machine->engine, &now, &machine->node);
}

/* A pass at @time_s, @slept_s of them asleep so far, in which one process ran for @cpu_ns. */
static inline int pass(struct machine *machine, uint64_t time_s, uint64_t slept_s, uint64_t cpu_ns)
{
	struct told_reader *reader = &machine->reader;

	reader->sample = (struct activity_sample){
		.key = { .pid = 7, .start_ns = 1 },
		.cpu_ns = cpu_ns,
		.comm = "burner",
	};
	reader->activity = (struct activity){
		.time_ns = time_s * NSEC_PER_SEC,
		.boottime_ns = (time_s + slept_s) * NSEC_PER_SEC,
		.samples = &reader->sample,
		.count = 1,
		.busy_ns = cpu_ns,
	};
	return run_at(machine, time_s + slept_s, time_s);
}

static inline struct snapshot_zone zone_now(const struct machine *machine)
{
	const struct snapshot *snapshot = snapshot_get(machine->holder);
	struct snapshot_zone zone;

	assert_non_null(snapshot);
	assert_int_equal(snapshot->zone_count, 1);
	zone = snapshot->zones[0];
	snapshot_put(machine->holder, snapshot);
	return zone;
}

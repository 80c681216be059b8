/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that is measured with: the machine's facts, its meters and estimates, its processes
 * and their owners. Opened in one place, so that `run` and `doctor` see the same machine.
 */
#pragma once

#include "activity/activity.h"
#include "base/diag.h"
#include "config/config.h"
#include "engine/devices/device_allocations.h"
#include "engine/devices/device_holders.h"
#include "engine/estimates.h"
#include "engine/machine_reads.h"
#include "engine/memory_signals.h"
#include "engine/names.h"
#include "estimate/model_sources.h"
#include "host/host.h"
#include "meter/meter_table.h"
#include "workload/identity.h"

struct sources {
	struct host_info host;
	struct cpu_sockets *sockets; /* NULL without memory: sockets are not distinguished */
	struct meter_table *meters;  /* NULL with --no-meter.enabled */
	bool meters_are_chosen;      /* --meters leaves out some that the machine may have */
	struct estimates estimates;
	struct model_sources model_sources; /* of the trained ones among the estimates */
	struct activity_reader *activity;
	struct memory_signals *memory; /* NULL: not wanted, or there is no controller */
	struct machine_reads *reads;   /* NULL: without memory */
	struct names names;
	struct identity_resolver *identities;
	struct device_holders *holders;        /* NULL: none is needed, or could be had */
	struct device_allocations allocations; /* of devices to containers */
};

/*
 * In two steps, with privileges_drop() between them: loading BPF wants capabilities that nothing
 * later does, and meters are read by threads, which keep what the thread that starts them holds.
 *
 * The first: the machine's facts, its processes and their owners. 0, or -errno with a diagnosis of
 * what cannot be done without: /proc. @holders may be NULL, and is taken over unless that fails.
 */
int sources_open_processes(const struct config *config, struct device_holders *holders,
			   struct sources *ret, struct diag *diag);
/*
 * The second: meters or their stand-in, and the sources of containers' names, which are optional
 * and take a second at most. 0, or -errno with a diagnosis; the processes stay open.
 */
int sources_open_meters(const struct config *config, struct sources *sources, struct diag *diag);
void sources_close(struct sources *sources);
/*
 * Before each interval: takes models that were fetched, and logs what is new of names, holders of
 * devices and models.
 */
void sources_follow(struct sources *sources, uint64_t now_ns);
/* The options with which meters are opened: the configuration's and the host's. */
struct meter_options sources_meter_options(const struct config *config,
					   const struct sources *sources);
/* Why zones that were found are left out here (meter_table_ignored()), for people. */
const char *sources_why_left_out(const struct sources *sources);
/*
 * True if there is a meter of the machine or its parts, devices apart, so that none is estimated;
 * where none was at start, one may still be found.
 */
bool sources_have_meters(const struct sources *sources);
/* True if the first search for meters is still going on: until it ends, energy is estimated. */
bool sources_are_searched(const struct sources *sources);
/*
 * Where energy comes from now, as a line for people: "measured (rapl-sysfs): package-0, dram-0", or
 * "estimated, no meter here: model …" where the model counts, which @estimated says.
 */
void sources_describe(const struct sources *sources, bool estimated, char *buf, size_t size);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source of zones that no meter measures. Meters are read, estimates are advanced: after each
 * pass over the processes a source is fed with the work of the whole node, and then each of its
 * zones is advanced, which gives a span of energy as a meter does. Energy and work have the
 * same times by construction.
 *
 * This file keeps everything that estimates have in common: time, power integrated to whole µJ,
 * and a virtual machine's part of its host (model/vm_share.h), which is computed at all loads that
 * the host can have. A source itself only computes how many watts its zones draw.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "energy/signal.h"
#include "energy/span.h"
#include "energy/zone.h"
#include "meter/power_integral.h"
#include "model/vm_full.h"
#include "model/vm_share.h"

#define ZONE_SOURCE_MAX 5 /* zones: platform, package, core, uncore, dram */

/* A bit in addition to the SIGNAL_BIT()s: the time for which virtual CPUs waited is counted. */
#define WORK_SIGNAL_WAITED (1U << SIGNAL_COUNT)

/* The work of the whole node since the last pass. */
struct node_work {
	uint64_t time_ns; /* MONOTONIC, of this pass */
	uint64_t busy_ns; /* CPU time of all tasks, without the time that a hypervisor has stolen */
	uint64_t waited_ns; /* time for which virtual CPUs waited */
	uint32_t signals;   /* SIGNAL_BIT()s and WORK_SIGNAL_WAITED of the known signals */
	uint64_t amount[SIGNAL_COUNT];
	uint32_t mean_khz; /* of all CPUs, now; with SIGNAL_FREQUENCY_TIME */
};

/* The power of a zone in one interval. */
struct zone_power {
	double idle_w;    /* 0 in a virtual machine */
	double dynamic_w; /* above idle */
	double bound_w;   /* half-width of the 90 % interval of their sum; NAN unknown */
	bool outside;     /* the machine or its work is beyond the data of the model */
};

/* The state of a zone's estimate, for metrics and doctor. */
struct model_state {
	const char *model, *features, *machine; /* "" unknown; valid until the model is replaced */
	const char *output;                     /* "AbsPower" or "DynPower" */
	const char *reason; /* the machine that it was trained on, and how that widens its error */
	double error_w;     /* as bound_w; NAN also before the first estimate */
	bool has_estimate;
	bool outside;
	uint64_t changes; /* how many times another model took its place */
};

/* How busy a virtual machine and its host are. */
struct vm_load {
	const struct vm_share *share;
	double utilisation; /* of the virtual machine's own CPUs, above 0 */
	double ratio;       /* vm_share_ratio(): the host's work over the machine's */
};

struct zone_source;

struct zone_source_ops {
	/* The power of zone @index of a machine that is not virtual. */
	void (*power)(const struct zone_source *source, size_t index, double utilisation,
		      struct zone_power *ret);
	/* The dynamic power of zone @index of a virtual machine, if its host is so busy. */
	void (*vm_power)(const struct zone_source *source, size_t index, const struct vm_load *load,
			 struct zone_power *ret);
	/* The part of its host that a virtual machine is assumed to have, except for .full. */
	void (*vm_share)(const struct zone_source *source, size_t index, struct vm_share *ret);
	/* Texts and changes; the rest is filled in already. */
	void (*describe)(const struct zone_source *source, size_t index, struct model_state *ret);
	void (*take_work)(struct zone_source *source); /* work was fed; NULL: nothing to do */
	void (*set_cpus)(struct zone_source *source);  /* cpus have changed; NULL: nothing to do */
	void (*free)(struct zone_source *source);
};

struct estimated_zone {
	struct zone zone;
	uint32_t needed; /* bits as in node_work.signals, without which there is no estimate */
	size_t number;   /* among all zones of the engine; SIZE_MAX: not adopted yet */
	bool started, has_estimate;
	uint64_t last_ns; /* end of the last span */
	struct power_integral idle, dynamic;
	struct zone_power power; /* of the last interval */
};

/* The first member of each source. */
struct zone_source {
	const struct zone_source_ops *ops;
	struct estimated_zone zones[ZONE_SOURCE_MAX]; /* they keep their index */
	size_t count;
	bool is_vm;
	bool is_spare; /* its zones are adopted only once a meter is silent (energy/rank.h) */
	unsigned cpus; /* logical, above 0 */
	struct node_work work;
	bool is_fed;
	uint64_t fed_ns; /* when work was fed last */
	uint64_t dt_ns;  /* the time of that work; 0: not known */
	struct vm_full full;
	double full_probability; /* that the host was full during the work */
};

/* @cpus 0 counts as 1. */
void zone_source_init(struct zone_source *source, const struct zone_source_ops *ops, bool is_vm,
		      unsigned cpus);
/* A new zone, for which there must be room. @path is cut to ZONE_PATH_MAX. */
struct estimated_zone *zone_source_add(struct zone_source *source, enum zone_kind kind,
				       uint8_t rank, const char *path);
/* NULL is fine. */
void zone_source_free(struct zone_source *source);
/* 0 for NULL. Models that are fetched while the program runs add zones. */
size_t zone_source_count(const struct zone_source *source);
const struct zone *zone_source_zone(const struct zone_source *source, size_t index);
/* CPUs came or went: busy time is spread over @cpus from here on. */
void zone_source_set_cpus(struct zone_source *source, unsigned cpus);
/* The bits of node_work.signals that any of its zones needs. */
uint32_t zone_source_signals(const struct zone_source *source);
/* Once per pass, before zones are advanced. */
void zone_source_feed(struct zone_source *source, const struct node_work *work);
/*
 * The energy of zone @index from its last span to the work that was fed last; the first span is not
 * known. False while the clock stands still, and where a signal that the zone needs is not known
 * in this interval: the next span includes that time, and is known unless it is longer than
 * POWER_BRIDGE_PERIODS intervals.
 */
bool zone_source_advance(struct zone_source *source, size_t index, struct energy_span *ret);
void zone_source_state(const struct zone_source *source, size_t index, struct model_state *ret);
/* The part of its host that a virtual machine is assumed to have. */
void zone_source_vm_share(const struct zone_source *source, size_t index, struct vm_share *ret);

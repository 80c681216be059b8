/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long does the loop take for its intervals, and for each step? The histograms show the step in
 * which the loop stood still once; while it does, /healthz names the step, from the heartbeat.
 *
 * Used by the loop's thread.
 */
#pragma once

#include <stdint.h>

#include "base/health.h"
#include "service/heartbeat.h"

enum loop_step {
	STEP_SIGNALS,     /* signals, and what a reload changes */
	STEP_SELF,        /* own costs, names, time limits of connections, state */
	STEP_METERS,      /* reading all zones */
	STEP_ACTIVITY,    /* the pass over the processes, ends that are taken in between */
	STEP_IDENTITY,    /* the owners of processes */
	STEP_ATTRIBUTION, /* sharing the energy */
	STEP_PUBLICATION, /* the snapshot */
	STEP_TABLE,       /* the live table */
	STEP_COUNT,
	STEP_NONE = STEP_COUNT, /* waiting */
};

#define LOOP_STEP_NAME_MAX 16

struct loop_step_health {
	char name[LOOP_STEP_NAME_MAX];
	struct health_histogram seconds;
};

struct loop_health {
	double interval_s; /* configured */
	uint64_t intervals_missed;
	struct health_histogram intervals;
	struct loop_step_health steps[STEP_COUNT]; /* those that were ever taken */
	uint32_t step_count;
};
extern const struct health_part loop_health_part; /* of a struct loop_steps */

struct loop_steps {
	struct heartbeat *heartbeat;
	enum loop_step current;
	uint64_t since_ns;
	uint64_t interval_ns; /* configured */
	uint64_t missed;      /* intervals that began late */
	struct health_histogram intervals, steps[STEP_COUNT];
};

/* @heartbeat is borrowed. */
void loop_steps_init(struct loop_steps *steps, uint64_t interval_ns, struct heartbeat *heartbeat);
/* Ends the step under way, if any, and begins @step, or none. @now_ns is CLOCK_MONOTONIC. */
void loop_steps_enter(struct loop_steps *steps, enum loop_step step, uint64_t now_ns);
/* Counts one interval that took @ns of the loop's time. */
void loop_steps_add_interval(struct loop_steps *steps, uint64_t ns);

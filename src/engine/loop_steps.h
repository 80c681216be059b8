/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long does each step of the loop take? Where the loop once stood still, this says in which
 * step; while it does, the heartbeat says so on /healthz.
 *
 * Used by the loop's thread. The counts lie in struct snapshot_self and are published with it.
 */
#pragma once

#include <stdint.h>

#include "service/heartbeat.h"
#include "snapshot/snapshot.h"

enum loop_step {
	STEP_SIGNALS,     /* signals, and what a reload changes */
	STEP_SELF,        /* own costs, names, time limits of connections, state */
	STEP_METERS,      /* reading all zones */
	STEP_ACTIVITY,    /* the pass over the processes, ends that are taken in between */
	STEP_IDENTITY,    /* whose they are */
	STEP_ATTRIBUTION, /* what gets how much */
	STEP_PUBLICATION, /* the snapshot */
	STEP_TABLE,       /* the live table */
	STEP_COUNT,
	STEP_NONE = STEP_COUNT, /* waiting */
};
_Static_assert(STEP_COUNT == SNAPSHOT_STEPS, "each step has its counts");

struct loop_steps {
	struct snapshot_self *self;
	struct heartbeat *heartbeat;
	enum loop_step current;
	uint64_t since_ns;
};

/* Both are borrowed; bounds and names of @self are set. */
void loop_steps_init(struct loop_steps *steps, struct snapshot_self *self,
		     struct heartbeat *heartbeat);
/* Ends the step under way, if any, and begins @step, or none. @now_ns is CLOCK_MONOTONIC. */
void loop_steps_enter(struct loop_steps *steps, enum loop_step step, uint64_t now_ns);

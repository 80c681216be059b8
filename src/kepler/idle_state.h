/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saves the learned facts about zones in the state file, and restores them after a restart: idle
 * power, and the cost of a unit of work with the factors of containers
 * (attribution/learning/power_owners.h).
 *
 * A line belongs to a zone of a machine of the same CPU; anything else in the file is ignored.
 * Learned costs also belong to one boot: their keys have a hash of the boot's id. The file is read
 * and written off the loop's thread, since its directory may be on a mount that hangs.
 * There is one reading or writing at a time. One that takes longer than IDLE_STATE_LIMIT_NS is an
 * error, and blocks others until it ends. Nothing is written before the file was read, so that its
 * content is not lost.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/health.h"
#include "base/offload.h"
#include "engine/interval.h"
#include "host/host.h"
#include "service/state_file.h"

#define IDLE_STATE_LIMIT_NS (10ULL * 1000000000)

struct idle_job;

struct idle_state_health {
	uint64_t errors; /* times that the file was not read or written, or not in time */
};
extern const struct health_part idle_state_health_part; /* of a struct idle_state_keeper */

/* All zero at first. Belongs to one thread. */
struct idle_state_keeper {
	struct offload *pool;            /* borrowed; NULL: there is no thread */
	char *dir;                       /* "" or NULL: no state is kept */
	char facts[STATE_FACTS_MAX];     /* of the machine */
	char machine[STATE_MACHINE_MAX]; /* known once the file was read */
	char boot[STATE_MACHINE_MAX];    /* the boot's id; "": not known */
	struct state *loaded;            /* content of the file, or NULL */
	size_t restored;                 /* zones of the engine that had their line */
	struct idle_job *job;            /* under way, or NULL */
	uint64_t began_ns;
	bool given_up;                   /* it was reported as failed */
	struct idle_state_health health; /* counted by the monitor, which logs each failure */
};

enum idle_outcome {
	IDLE_NOTHING,
	IDLE_READ, /* the file was read, or there is none: idle_state_restore() may know more */
	/* The diagnosis says why. */
	IDLE_NOT_READ,
	IDLE_NOT_WRITTEN,
};

/*
 * Begins to read the file in @dir, and waits at most @patience_ns for it: READ, NOT_READ, or
 * NOTHING while it is under way or where no state is kept. The pool has no other job.
 */
enum idle_outcome idle_state_open(struct idle_state_keeper *keeper, const char *dir,
				  const struct host_info *host, uint64_t patience_ns,
				  struct diag *diag);
/*
 * Gives zones of the engine their lines of the file, if it was read: each zone once, so that one
 * that the engine adopts later has its own when this is called again.
 */
void idle_state_restore(struct idle_state_keeper *keeper, struct interval_engine *engine);
/*
 * Begins to write what is learned. NOTHING: it is under way, or there is nothing to write.
 * NOT_WRITTEN if it cannot begin, for example because the previous one is still under way.
 */
enum idle_outcome idle_state_save(struct idle_state_keeper *keeper,
				  const struct interval_engine *engine, uint64_t now_ns,
				  struct diag *diag);
/* @base came from the pool: NOTHING also for a foreign job. */
enum idle_outcome idle_state_take(struct idle_state_keeper *keeper, struct offload_job *base,
				  struct diag *diag);
/* In each turn of the loop: NOT_READ or NOT_WRITTEN once, when the one under way takes too long. */
enum idle_outcome idle_state_turn(struct idle_state_keeper *keeper, uint64_t now_ns,
				  struct diag *diag);
/*
 * The end: writes a last time and waits at most @patience_ns for it. NOT_WRITTEN as above. Abandons
 * what is under way and frees what is held; before the pool is, and when it has no other job.
 */
enum idle_outcome idle_state_close(struct idle_state_keeper *keeper,
				   const struct interval_engine *engine, uint64_t patience_ns,
				   struct diag *diag);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows the files of --model.file while the program runs: every MODEL_WATCH_NS, and when the
 * configuration is reloaded, a thread looks whether one has changed (model_stamp), reads it and
 * checks it. A good one takes the place of the model before, between two intervals, and the energy
 * of its zones goes on from what was counted; one that cannot be used is refused, logged once, and
 * counted, and the model before stays. A file may be on a mount that hangs: so nothing here waits,
 * and there is one look at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/offload.h"
#include "estimate/model_estimate.h"
#include "estimate/model_files.h"
#include "snapshot/snapshot.h"

#define MODEL_WATCH_NS       (10ULL * 1000000000)
#define MODEL_WATCH_LIMIT_NS (5ULL * 1000000000)

struct watch_job;

/* All zero: there is no --model.file. Belongs to one thread. */
struct model_watch {
	struct offload *pool;       /* borrowed; NULL: there is no thread */
	struct zone_source *models; /* borrowed */
	struct model_files *files;  /* borrowed: what was read of each */
	struct watch_job *job;      /* under way, or NULL */
	uint64_t began_ns;          /* when the last look began, MONOTONIC */
	bool is_due;                /* it was asked for */
	bool is_late;               /* the one under way takes too long, which was logged */
	uint64_t taken, refused;    /* editions */
};

void model_watch_init(struct model_watch *watch, struct offload *pool, struct zone_source *models,
		      struct model_files *files);
/* The next turn looks, also at files that seem unchanged. */
void model_watch_ask(struct model_watch *watch);
/* Once an interval: begins a look if one is due. */
void model_watch_turn(struct model_watch *watch, uint64_t now_ns);
/* @base came from the pool; not while an interval runs. False: it is a foreign job. */
bool model_watch_take(struct model_watch *watch, struct offload_job *base);
void model_watch_describe(const struct model_watch *watch, struct snapshot_self *self);
/* Before the pool is freed. */
void model_watch_close(struct model_watch *watch);

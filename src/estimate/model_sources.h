/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The origins of this machine's trained models: the files of --model.file and the model of
 * --model.url. Each of them can give another model while the program runs. A new model replaces
 * its predecessor between two intervals, and the energy of its zones continues from the last
 * value. A model that cannot be used is refused, logged once and counted, and the predecessor
 * stays.
 *
 * A URL has a thread of its own (model_fetch.h). Files are read at the start; every
 * MODEL_WATCH_NS, and when the configuration is reloaded, a job of a pool looks whether one has
 * changed. A file may be on a mount that hangs, so nothing here waits for that job, and there is
 * one at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "activity/activity.h"
#include "base/diag.h"
#include "base/offload.h"
#include "config/config.h"
#include "estimate/model_estimate.h"
#include "estimate/model_fetch.h"
#include "estimate/watched_model.h"
#include "host/host.h"
#include "meter/meter_table.h"

#define MODEL_WATCH_NS       (10ULL * 1000000000)
#define MODEL_WATCH_LIMIT_NS (5ULL * 1000000000)

/* The facts that determine which models can be used here; borrowed. */
struct model_surroundings {
	const struct meter_table *meters; /* NULL: there are none */
	const struct activity_reader *activity;
	bool has_frequency; /* the frequency of the machine's CPUs can be read */
	const struct host_info *host;
};

struct model_source {
	char *file;                 /* owned; NULL: --model.url */
	struct model_place place;   /* its path is the file's name without folders */
	struct watched_stamp stamp; /* of the file */
	bool is_spare;              /* other files were chosen at the start, which stays so */
	bool is_bad;                /* its present content cannot be used */
	struct diag refused;        /* why its last model, or a part of it, is not used; "" it is */
};

struct watch_job;

/* All zero: there is neither --model.file nor --model.url. Belongs to one thread. */
struct model_sources {
	struct zone_source *models;                      /* borrowed; NULL: no model is wanted */
	struct model_source list[CONFIG_MODELS_MAX + 1]; /* files, then the URL */
	size_t file_count;
	bool has_url;
	struct diag chosen;           /* why one of several files was chosen; "" no choice */
	struct model_fetch *fetch;    /* NULL: without --model.url, or it could not start */
	char reported[DIAG_TEXT_MAX]; /* the last fault of fetching that was logged */
	struct offload *pool;         /* borrowed; NULL: files are not watched */
	struct watch_job *job;        /* under way, or NULL */
	uint64_t began_ns;       /* when the last look at the files began, MONOTONIC; 0: never */
	bool is_due;             /* a look was asked for */
	bool is_late;            /* the one under way takes too long, which was logged */
	uint64_t taken, refused; /* files that changed, and were used or refused */
};

/*
 * Reads and checks the files: for each component, the one with the smallest expected error on this
 * machine is used. A file that cannot be used is left out, and logged. *ret is given, and must live
 * longer than @sources; it stays NULL if no model is wanted. 0 or -ENOMEM.
 */
int model_sources_open(struct model_sources *sources, const struct config *config,
		       const struct model_surroundings *around, struct zone_source **ret);
/* Starts to fetch --model.url, and waits a moment for the first model. Faults are logged. */
void model_sources_fetch(struct model_sources *sources, const struct config *config,
			 const struct host_info *host);
void model_sources_close(struct model_sources *sources);

/* Files are watched from now on; NULL: no longer, which must be before the pool is freed. */
void model_sources_watch(struct model_sources *sources, struct offload *pool);
/* The next turn looks at the files, even if they seem unchanged. */
void model_sources_ask(struct model_sources *sources);
/* Once per interval, before it runs: takes a fetched model, and begins a look that is due. */
void model_sources_turn(struct model_sources *sources, uint64_t now_ns);
/* @base came from the pool; not while an interval runs. False: the job belongs to another part. */
bool model_sources_take(struct model_sources *sources, struct offload_job *base);

/* The state of --model.url; NULL: it is not used. */
const struct model_source *model_sources_url(const struct model_sources *sources,
					     struct model_fetch_stats *ret);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A collection: all points of some metrics in some time, as a file that grows and can be
 * continued.
 *
 * It is queried metric by metric, in chunks of time, so that no response is large. FILE.part
 * contains the points so far, FILE.progress the length of its good part; both are synced after
 * each chunk. A collection that is run again after a crash cuts FILE.part there and continues. At
 * the end FILE.part becomes FILE: JSON {metric: [{"metric": {labels}, "values": [[seconds,
 * "value"]]}]}, in which a series has an item for each chunk.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "samples/collection_progress.h"
#include "samples/series_reader.h"

#define COLLECT_CHUNK_POINTS     2000 /* of a series in one response, initially */
#define COLLECT_CHUNK_POINTS_MIN 50

struct collect_range {
	const char *metric;
	int64_t from_us, to_us, step_us; /* both ends included */
};

/*
 * Queries a metric: 0; -E2BIG if the response would be too large for the server, so a shorter time
 * is queried next; -EAGAIN if the same query may succeed later; -ECANCELED from the sink, which has
 * reported the reason; else -errno. Each with a diagnosis.
 */
typedef int collect_query_fn(void *userdata, const struct collect_range *range,
			     const struct series_sink *sink, struct diag *diag);

struct collect_hooks {
	collect_query_fn *query;
	/* Waits before a repetition; a result other than 0 ends the collection with it. */
	int (*wait)(void *userdata, unsigned seconds);
	void (*progress)(void *userdata, const char *metric, double done); /* 0..1; NULL: none */
	void *userdata;
};

struct collect_result {
	uint64_t series, points, queries, repeated;
	uint64_t outside; /* points of times that were not asked for, which are left out */
	bool was_resumed;
};

/*
 * Runs or continues a collection: 0, or -errno with a diagnosis; it can then be continued. -EEXIST
 * if FILE exists, -EINVAL if FILE.progress belongs to another plan.
 */
int collection_run(const char *path, const struct collect_plan *plan,
		   const struct collect_hooks *hooks, struct collect_result *ret,
		   struct diag *diag);
/*
 * Reads the plan of FILE.progress, so that a run "of the last five minutes" is continued with its
 * own times: 1; 0 without such a file; -EINVAL with a diagnosis. The caller owns @ret.
 */
int collection_find_plan(const char *path, struct collect_plan *ret, char **ret_source,
			 struct diag *diag);

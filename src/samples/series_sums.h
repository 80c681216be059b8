/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sums of an exporter's series in each step of time: power by account, counters by feature, and
 * facts of the node such as its frequency.
 *
 * Series are read twice, each time as a stream: first the times at which power is known, which
 * make the steps, then all values. Memory grows with steps and features, and with owners if their
 * amounts are kept; never with points. Each series has its own points in time (sample_grid.h);
 * resets, gaps, duplicates and series that continue under other labels are handled by
 * counter_points.h and power_accounts.h. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "samples/counter_points.h"
#include "samples/metric_kind.h"
#include "samples/power_accounts.h"
#include "samples/sample_grid.h"
#include "samples/series_reader.h"

#define EXTRACT_FEATURES_MAX 96
#define EXTRACT_SOURCES_MAX  8

/* Which series count, and which rows are made of them (extraction.h). */
struct extract_options {
	const char *sources[EXTRACT_SOURCES_MAX]; /* of energy, by preference, for each component */
	size_t source_count;
	enum metric_level level;
	const char *node;            /* the instance; "": the only one; "any": all instances */
	const char *const *features; /* wanted features; NULL ends them; NULL: all */
	bool by_owner;               /* a row is a step of one owner, with the node's power */
	uint32_t smooth;             /* rows of a rolling mean; 0 or 1: none */
	/*
	 * NULL, or whether an owner belongs to the background: its features are in separate
	 * columns, background_FEATURE.
	 */
	bool (*is_background)(void *userdata, const char *owner);
	void *userdata;
};

/* A column of rates, or of the mean of a level. */
struct feature_sums {
	char name[METRIC_FEATURE_MAX];
	uint8_t rank;
	enum points_kind kind;
	int64_t step_us;    /* the shortest time between two points of a series */
	double *amounts[2]; /* [steps]; the second one of the background */
	double *covered;    /* [steps], of a mean over series: how many series have each step */
};

struct owner_sums {
	size_t name_at; /* in owner_names */
	bool background;
	double **amounts; /* [EXTRACT_FEATURES_MAX], each [steps] or NULL; with by_owner */
};

struct series_sums {
	struct sample_grid grid;
	int64_t step_us; /* the usual one */
	struct power_accounts power;
	struct feature_sums features[EXTRACT_FEATURES_MAX];
	size_t feature_count;
	struct feature_sums frequency, node_type, steal; /* of the node, at any level */
	struct owner_sums *owners;
	size_t owner_count, owner_size;
	struct strbuf owner_names; /* terminated, one after the other */
	uint64_t series, points, duplicates;
	struct points_faults faults;
};

/* Makes one pass over all series, in any parts: 0, or -errno with a diagnosis. */
typedef int extract_source_fn(void *userdata, const struct series_sink *sink, struct diag *diag);

/*
 * Reads @source twice into @ret, which is all zero before, and which the caller releases in any
 * case. 0; with a diagnosis -ENODATA if no series has power of the wanted sources, -EINVAL if there
 * are several instances, -ENOSPC beyond a limit, or an error of @source; -ENOMEM.
 */
int series_sums_read(const struct extract_options *options, extract_source_fn *source,
		     void *userdata, struct series_sums *ret, struct diag *diag);
void series_sums_release(struct series_sums *sums);

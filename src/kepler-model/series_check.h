/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a collection has: for each metric its points, how many of them are above 0, and the highest
 * value, as the command "validate" of upstream's program says it. Metrics of containers are counted
 * by pods whose name has a text in it, where there are such; those of energy by their source.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "samples/series_reader.h"

#define SERIES_CHECK_METRICS_MAX 4096
#define SERIES_CHECK_SOURCES     6 /* of energy: those that upstream knows */

struct series_tally {
	uint64_t points, positive;
	double highest; /* of numbers; 0 where there is none */
	bool has_number;
};

struct series_metric {
	char *name;
	struct series_tally all, of_pods, by_source[SERIES_CHECK_SOURCES];
};

struct series_check {
	const char *benchmark; /* in the names of pods; "": not asked for */
	/* ---- its result ---- */
	struct series_metric *metrics; /* in the order in which they came */
	size_t count, size;
	/* ---- of the series that is read ---- */
	struct series_metric *metric;
	size_t source; /* SERIES_CHECK_SOURCES: none of them */
	bool is_of_pods;
};

/* Takes series and points; -ENOMEM, or -E2BIG beyond SERIES_CHECK_METRICS_MAX. */
struct series_sink series_check_sink(struct series_check *check);
/* All of a file: 0, or -errno with a diagnosis. */
int series_check_read(struct series_check *check, const char *path, struct diag *diag);
/*
 * As upstream writes it: lines of ",pod,scenarioID,query,count,>0,total" with their number in
 * front. Metrics of containers, then energy by source (scenarioID) and component, then the others.
 */
void series_check_add_csv(const struct series_check *check, struct strbuf *out);
/* The same for readers: a line for each metric that has points. */
void series_check_add_table(const struct series_check *check, struct strbuf *out);
void series_check_release(struct series_check *check);

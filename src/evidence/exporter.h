/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An exporter that is read again and again over HTTP, and what its pages have said: the power of
 * each zone at each level as series, and everything that contradicts itself.
 *
 * Energy is counted row by row, as what each series has grown by since the page before; a series
 * that is new counts as a whole, unless the page is the first or it is the node's. A page with the
 * same numbers as the one before is not a new sample: exporters update at their own interval. The
 * time of a page is the one that it names, if that is possible, else half way between the
 * question and the one before.
 *
 * A page may be hostile: its size, its time and its rows are limited, and excess is counted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "evidence/energy_metric.h"
#include "judging/series.h"

#define EXPORTER_PAGE_MAX  (64U * 1024 * 1024)
#define EXPORTER_ROWS_MAX  200000U
#define EXPORTER_ZONES_MAX 16

/* One zone at one level. */
struct exporter_sum {
	uint64_t rows;      /* series that are in it, on the last page */
	int64_t page_micro; /* all of their values, on the last page, in µJ or µs */
	double joules;      /* since the first page */
	struct series *series;
	double mine; /* the part of @joules of rows that have a word of exporter_options.mine */
};

struct exporter_zone {
	char name[ENERGY_ZONE_MAX];
	struct exporter_sum sums[ENERGY_LEVELS];
	int64_t unattributed_micro;
	bool is_difference;
};

/* Contradictions of one kind: how many, and the first of them. */
struct exporter_fault {
	uint64_t count;
	char example[256];
};

struct exporter_options {
	const char *url;
	uint64_t timeout_ms;
	const char *const
		*mine; /* words in values of labels of the validator's own load; NULL ends */
};

struct exporter {
	char url[SERIES_TEXT_MAX];
	enum exporter_kind kind;
	struct exporter_zone zones[EXPORTER_ZONES_MAX];
	size_t zone_count;
	uint64_t pages, new_pages, series_checked, balances_checked;
	double first_s, last_s;
	/*
	 * no_page: a request without a usable page; type: energy that is no counter; decrease: a
	 * counter that went down; not_finite: a value that is no number; no_room: a row or zone
	 * beyond the limits; imbalance: the rows of a level that do not sum to the node.
	 */
	struct exporter_fault no_page, type, decrease, not_finite, no_room, imbalance;
	struct exporter_state *state;
};

/* 0 or -errno with a diagnosis. @options and what it has are borrowed. */
int exporter_open(const struct exporter_options *options, struct exporter **ret, struct diag *diag);
/*
 * Asks for the page once; @now_s is the time of the question. A page that does not come is counted
 * in no_page. 0 or -ENOMEM.
 */
int exporter_scrape(struct exporter *exporter, double now_s);
/*
 * The same with a page that has come at @came_s; @text is terminated and is changed.
 */
int exporter_take_page(struct exporter *exporter, double now_s, double came_s, char *text,
		       size_t len);
/* NULL: its pages have no such zone. */
struct exporter_zone *exporter_find_zone(struct exporter *exporter, const char *name);
/* Once, after the last page: finishes its series. */
void exporter_finish(struct exporter *exporter);
void exporter_free(struct exporter *exporter);

/* SPDX-License-Identifier: Apache-2.0 */
/* The content of an exporter's pages so far, and the addition of one more page. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "evidence/fault.h"
#include "evidence/pages/energy_metric.h"
#include "evidence/pages/gpu_rows.h"
#include "evidence/pages/load_account.h"
#include "evidence/pages/model_use.h"
#include "evidence/pages/own_rows.h"
#include "evidence/pages/page_help.h"
#include "evidence/pages/process_rows.h"
#include "evidence/pages/published_bound.h"
#include "judging/series.h"

#define EXPORTER_ZONES_MAX 16

/* One zone at one level. */
struct exporter_sum {
	uint64_t rows;      /* series that are in it, on the last page */
	int64_t page_micro; /* all of their values, on the last page, in µJ or µs */
	int64_t most_micro; /* the most of them on a page */
	/* Charged, but in no row of the last page yet (kepler_pending_joules); not idle. */
	double pending_j;
	double joules;  /* since the first page */
	bool was_there; /* it had rows on a page */
	double gone_s;  /* when it had none any more; NAN: it has */
	struct series *series;
	double mine;        /* the part of @joules of the load's rows: exporter_options.mine */
	uint64_t mine_rows; /* on all pages */
	double mine_whole;  /* @mine with idle energy that is shared by size */
	struct series *mine_series; /* of @mine_whole, at the level of VMs; NULL: none */
};

struct exporter_zone {
	char name[ENERGY_ZONE_MAX];
	struct exporter_sum sums[ENERGY_LEVELS];
	struct load_account loads; /* of the load's processes */
	int64_t unattributed_micro;
	/* How old readings of its meters are at the time that this page names: the newest, and the
	 * oldest of those that are not down. */
	double age_s, late_s;
	bool is_difference;
	bool is_estimated; /* its series name a source other than RAPL */
	bool is_measured;  /* a row of the node is not marked as the estimate of a model */
	char source[32];   /* the label "source" of that row; "": none */
};

struct exporter_options {
	const char *url;
	uint64_t timeout_ms;
	const struct own_rows *mine; /* the rows of the validator's own load; NULL: none */
	const char *procfs; /* where the processes of its rows are looked for; NULL: nowhere */
	double cpus;        /* of this machine; 0: not known */
	double max_lag_s;   /* how old its numbers may be */
	/* Its scrapes are read from here, and @url is their name; NULL: from the URL. */
	const struct prometheus_options *prometheus;
};

struct exporter {
	char url[SERIES_TEXT_MAX];
	enum exporter_kind kind;
	struct exporter_zone zones[EXPORTER_ZONES_MAX];
	size_t zone_count;
	uint64_t pages, new_pages, series_checked, balances_checked;
	double first_s, last_s;
	/*
	 * How far the wall clock, by which pages name their times, is ahead of the times that are
	 * given here: set before each page.
	 */
	double wall_ahead_s;
	/* The number of the load that runs, or ran last: set before it starts. */
	unsigned load;
	/* A page with new numbers, besides a constant delay: how far off its time is at most. */
	double time_error_s;
	double page_s; /* when the last page was asked for */
	/* A new series stands at 0 for so long, as the last page reports it; 0: it does not. */
	double settle_s;
	double still_s;        /* the longest time over which its pages had the same numbers */
	char architecture[64]; /* of the processor, as the page reports it; "": it does not */
	/*
	 * no_page: a request without a usable page; type: energy whose type is not counter;
	 * decrease: a counter that went down; not_finite: a value that is not finite; no_room: a
	 * row or zone beyond the limits; imbalance: the rows of a level do not sum to the node;
	 * excess: a row with more CPU time than all CPUs have.
	 */
	struct exporter_fault no_page, type, decrease, not_finite, no_room, imbalance, excess;
	uint64_t cpu_rows_checked;
	struct page_help help;
	struct process_rows processes;
	struct gpu_rows gpus;
	struct published_bounds bounds; /* of its own estimates */
	struct model_uses model_uses;
	struct exporter_state *state;
};

/*
 * A page that was asked for at @now_s and has come at @came_s; @text is terminated and is changed.
 * One that cannot be used is counted in no_page. 0 or -ENOMEM.
 */
int exporter_take_page(struct exporter *exporter, double now_s, double came_s, char *text,
		       size_t len);
/* NULL: its pages have no such zone. */
struct exporter_zone *exporter_find_zone(struct exporter *exporter, const char *name);

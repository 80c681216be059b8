/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The facts in an exporter's page that a cluster is judged by: what is measured, under which names,
 * at which interval, in how many series. Pages of other versions, and of upstream's Kepler, have
 * some of them: the others are NaN, 0 or "". Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

#define PAGE_ZONES_MAX 24

struct page_zone {
	char zone[24], source[48];      /* "package", "rapl-sysfs" */
	bool is_measured, is_estimated; /* neither: the page does not show which */
	bool is_down;                   /* its last reading failed */
};

struct exporter_page {
	bool is_kepler;                /* it has families of a Kepler */
	bool is_ours;                  /* of this one */
	bool has_classic, has_current; /* names of either schema */
	bool has_joules;               /* any energy */
	char version[48];
	struct page_zone zones[PAGE_ZONES_MAX]; /* one per zone and source */
	size_t zone_count;
	double interval_s, settle_s; /* NaN: not shown */
	double snapshot_s;           /* since 1970, by the node's clock; NaN: not shown */
	double series_limit;         /* NaN: not shown */
	double merged;               /* rows merged because of a limit, since its start */
	double hides_processes;      /* not 0: in a PID namespace of its own */
	bool lacks_names;            /* Kubernetes, as a source of names, does not answer */
	size_t samples;
};

/*
 * Reads a page in Prometheus' text format. 0; -EPROTO with the line and the fault, -E2BIG or
 * -ENOMEM. *ret is set only by 0.
 */
int exporter_page_read(const char *text, size_t len, struct exporter_page *ret, struct diag *diag);
/* True if a zone on the page is measured. */
bool exporter_page_measures(const struct exporter_page *page);
/* True if a zone is estimated. */
bool exporter_page_estimates(const struct exporter_page *page);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of an exporter's pages: how much each of them has grown by since the page before.
 *
 * A row is a name with its labels. Kepler (from 0.10 on) changes the label "state" of a counter
 * from "running" to "terminated" once its owner has ended: the counter goes on as another series,
 * and is followed as one, so that its energy is not counted again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "evidence/pages/page.h"

#define EXPORTER_ROWS_MAX 200000U

struct exporter_row {
	double last;
	uint64_t page;  /* the last one that had it */
	double start_s; /* page_series.start_s */
	double grown_s; /* row_growth.grown_s */
	unsigned load;  /* row_growth.load */
};

struct exporter_rows {
	struct map map; /* hash of name and labels → rows */
	struct exporter_row *rows;
	uint32_t count, size;
	uint64_t page; /* the number of the page that is being read */
	double now_s;  /* and its time */
	unsigned load; /* the load that runs then, or ran last */
};

struct row_growth {
	double amount;   /* of a counter; of a new one all it has; 0 of a gauge */
	double before;   /* the value on the page before */
	bool is_new;     /* no page before had it */
	bool has_fallen; /* a counter that is lower than before, and does not begin again */
	bool has_changed;
	/*
	 * The last page on which the counter had grown from a value above 0; NAN: none. The first
	 * value after 0 may be of a process that ended long ago: a series can show 0 for a while.
	 */
	double grown_s;
	unsigned load; /* on the page on which the row appeared, or began again */
};

void exporter_rows_init(struct exporter_rows *rows);
void exporter_rows_release(struct exporter_rows *rows);
void exporter_rows_begin_page(struct exporter_rows *rows, uint64_t number, double now_s,
			      unsigned load);
/* Takes a row of the page. 0; -ENOSPC beyond EXPORTER_ROWS_MAX; or -ENOMEM. */
int exporter_rows_take(struct exporter_rows *rows, const struct page_series *series, bool is_gauge,
		       struct row_growth *ret);

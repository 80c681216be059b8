/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The energy of each GPU that an exporter names, from its series of the node's zone "gpu". Keplers
 * name a GPU by its UUID (label gpu_uuid; with classic names of Kepler in C, package) or by the
 * driver's number of it (gpu; with classic names, package). Modes of one GPU are summed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "evidence/pages/page.h"
#include "judging/series.h"

#define GPU_ROWS_MAX     64
#define GPU_ROW_NAME_MAX 96

struct gpu_row {
	char uuid[GPU_ROW_NAME_MAX];  /* "": the exporter does not name it */
	char index[GPU_ROW_NAME_MAX]; /* the same */
	double joules;                /* since the first page */
	bool is_there;                /* on the page that is read */
	struct series *series;        /* W */
};

struct gpu_rows {
	struct gpu_row items[GPU_ROWS_MAX];
	size_t count;
	bool are_incomplete; /* a series names no GPU, or one beyond GPU_ROWS_MAX */
};

/*
 * Before a page, for each of the series with @joules since the page before, and after it with the
 * time of its numbers: 0 or -ENOMEM.
 */
void gpu_rows_begin(struct gpu_rows *rows);
void gpu_rows_take(struct gpu_rows *rows, const struct page_series *series, double joules);
int gpu_rows_end(struct gpu_rows *rows, const char *source, double time_s);
/* Once, after the last page. */
void gpu_rows_finish(struct gpu_rows *rows);
void gpu_rows_release(struct gpu_rows *rows);
/*
 * The row of a GPU by its UUID or, of an exporter that names no UUID at all, by its index. NULL:
 * there is none.
 */
const struct gpu_row *gpu_rows_find(const struct gpu_rows *rows, const char *uuid, unsigned index);

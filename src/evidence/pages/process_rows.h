/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the processes that an exporter's rows name with the processes of this machine. A process
 * that ends or changes its name is shown late, which is not a fault, so the rows are checked twice
 * and only a fault seen both times counts: a process has another name, or it does not exist, but
 * its row claims a current value. A gauge does so, and a counter that still grows. One that does
 * not may be kept so that its last value is read: the process has ended, another one has its pid,
 * or it executes another program and has a second row. A row with state="terminated" states by
 * itself that its process has ended.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "evidence/fault.h"
#include "evidence/pages/page.h"

#define PROCESS_ROWS_MAX 4096 /* faults of the first look that are remembered */

struct process_rows {
	const char *procfs; /* "/proc"; NULL: nothing is looked at */
	bool is_looking;
	unsigned looks;
	double looked_s;                  /* when the last look began */
	double late_s;                    /* later than this, what was wrong at the first is late */
	uint64_t rows, gauges;            /* of the last look */
	uint64_t present;                 /* of its rows: this machine has the process */
	char own_pid[24];                 /* of this process, as procfs shows it */
	bool has_own, has_own_name;       /* it has a row, and with its name, at the last look */
	uint64_t first[PROCESS_ROWS_MAX]; /* hashes, in order of appearance */
	size_t first_count;
	struct exporter_fault dead, renamed;
};

/* The next page is looked at, unless the look before was less than @least_s ago. */
void process_rows_look(struct process_rows *rows, double now_s, double least_s);
/*
 * A row of a process on the page; a page may have several of a process. @grown_s is when a counter
 * was last seen to grow, or NAN.
 */
void process_rows_take(struct process_rows *rows, const struct page_series *series, bool is_gauge,
		       double grown_s);
/* The page has ended. */
void process_rows_end(struct process_rows *rows);
/*
 * Were there both checks, and does the last one have a row of this process? Either with its name,
 * or next to other rows, a tenth of them at least with processes of this machine. Otherwise the
 * exporter may be on another machine or in another PID namespace, where a process of the same
 * number is another one: in a container, this process is often number 1.
 */
bool process_rows_are_ours(const struct process_rows *rows);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processes have a series of their own: admission, the limit, keeping (publisher.h has the
 * rules).
 *
 * Time is looked at only where it can matter: rows that were touched in this interval, and open
 * series. The thousands of rows that exist, idle and without a series, are never visited.
 */
#pragma once

#include "attribution/rows/row_index.h"
#include "snapshot/publication.h"
#include "snapshot/ranking.h"

struct process_series {
	struct publication *publication; /* borrowed */
	uint64_t *baseline_uj; /* [slots]: usage at which one without series starts over */
	uint32_t slots;
	struct row_index by_pid; /* ledger rows that have a series */
	struct ranking contenders;
	struct ranking smallest;
};

void process_series_init(struct process_series *processes, struct publication *publication);
void process_series_release(struct process_series *processes);
/* After publication_reserve(), before anything else of an interval. 0 or -ENOMEM. */
int process_series_reserve(struct process_series *processes);
/* A process without series must use min_uj from now on to get one. */
void process_series_start_over(struct process_series *processes);
/* The energy that counts towards min_uj, for a process without a series. */
uint64_t process_series_earned_uj(const struct process_series *processes, uint32_t process);

/* The steps of an interval, in this order. Retires ended series when they have been kept. */
void process_series_expire(struct process_series *processes, const struct moment *at);
/* Opens series for those that have used enough. */
void process_series_admit(struct process_series *processes, const struct moment *at);
/*
 * Books the interval to the open series and releases what ended without one. All rows are looked
 * at where an interval was @missed, else those that were touched.
 */
void process_series_apply(struct process_series *processes, bool missed, const struct moment *at);
/*
 * Makes room for processes that found none: the smallest rows without a series that did not run in
 * this interval go. What they used is in "other", and stays there.
 */
void process_series_forget(struct process_series *processes, const struct moment *at);

/* Merges all process rows of containers that are marked as merging. */
void process_series_release_merging(struct process_series *processes, const struct moment *at);

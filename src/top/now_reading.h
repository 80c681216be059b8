/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An answer of /api/v1/now (docs/now.md) as a value: what `kepler top` shows, whether it comes from
 * a running agent or from a measurement of its own. Pure.
 *
 * Numbers that the answer does not know are NaN. Texts are untrusted and cut to size.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "top/now_cost.h"

#define NOW_ROWS_MAX   4097 /* the last one is "other" */
#define NOW_PARTS_MAX  32
#define NOW_TEXT_SIZE  128
#define NOW_ANSWER_MAX (8U << 20) /* bytes */

struct now_part {
	char zone[16];
	bool is_rest, is_estimated;
	double watts;
};

struct now_row {
	uint32_t pid; /* 0: not a process */
	bool is_other;
	char command[NOW_TEXT_SIZE], owner[NOW_TEXT_SIZE];
	double cpu_percent, watts, joules;
};

struct now_reading {
	double time_s; /* seconds since 1970 */
	char node[NOW_TEXT_SIZE], version[32], level[16];
	double total_watts, error_watts, idle_watts, unattributed_watts;
	bool is_estimated, is_complete, idle_is_bound;
	struct now_rates rates;
	uint32_t left_out; /* rows that are only in "other" */
	size_t part_count;
	struct now_part parts[NOW_PARTS_MAX];
	size_t row_count;
	struct now_row *rows; /* owned */
};

/*
 * Reads the JSON @text. 0, or -EINVAL with a diagnosis, or -ENOMEM; @ret is replaced on success
 * only, and released by now_reading_release().
 */
int now_reading_parse(const char *text, size_t len, struct now_reading *ret, struct diag *diag);
void now_reading_release(struct now_reading *reading); /* all zero is fine */

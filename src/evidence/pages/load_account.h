/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The energy that the processes of each load were charged in one zone. Pure.
 *
 * A load's processes are new, and end with it. An exporter may show the series of a new process as
 * 0 for minutes, and then all of its energy at once, when another load runs. So a row with a pid is
 * charged to the load that ran when the row appeared. A row without one may be of the
 * processes of several loads: it is charged to the load that ran last.
 */
#pragma once

#include <stdint.h>

#include "evidence/pages/own_rows.h"

#define LOAD_ACCOUNT_LOADS_MAX 64

struct load_account {
	double joules[LOAD_ACCOUNT_LOADS_MAX][OWN_WORDS_MAX];
	/* Rows of each load that stand at 0 on the last page. */
	uint32_t at_zero[LOAD_ACCOUNT_LOADS_MAX];
};

void load_account_begin_page(struct load_account *account);
/*
 * Takes a row of the page that has grown by @joules, to @value. It has the word with index @word.
 * @load: the number of the load, below LOAD_ACCOUNT_LOADS_MAX.
 */
void load_account_take(struct load_account *account, unsigned load, size_t word, double joules,
		       double value);
/* The energy of all words of the load. */
double load_account_joules(const struct load_account *account, unsigned load);

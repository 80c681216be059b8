/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of a replay: for each process, container, pod, virtual machine or namespace the energy
 * of each kind of zone, next to the result of another way of sharing, and the proof that the sum of
 * all equals the meters.
 */
#pragma once

#include "base/strbuf.h"
#include "replay/replay_books.h"

enum replay_format { REPLAY_TABLE, REPLAY_JSON, REPLAY_CSV };

struct replay_view {
	const struct replay_books *books;
	const struct replay_books *other; /* --diff: booked with other options; or NULL */
	enum level level;
	uint32_t top; /* rows of the table; 0: all */
	uint64_t intervals, lost;
	uint64_t length_ns;
};

/* 0 or -ENOMEM. */
int replay_table_print(const struct replay_view *view, enum replay_format format,
		       struct strbuf *out);
/*
 * The difference in µJ, summed over all accounts, between the charged and unattributed energy and
 * the energy that the meters counted. Not 0 only by a mistake of ours.
 */
uint64_t replay_table_imbalance_uj(const struct replay_books *books);

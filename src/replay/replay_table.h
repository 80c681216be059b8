/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a replay says: for each process, container, pod, virtual machine or namespace the energy of
 * each kind of zone, beside it what another way of sharing would have said, and the proof that the
 * sum of all is what the meters counted.
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
 * In µJ, summed over all accounts: how far what was charged, and what is unattributed, is from what
 * the meters counted. 0, or our own mistake.
 */
uint64_t replay_table_imbalance_uj(const struct replay_books *books);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Books a recording again: record by record into a separate accountant and ledger, as the
 * exporter's engine (interval.h) did. With the options that were in effect the sums are the same to
 * the microjoule.
 *
 * No row is ever released, so that rows are numbered alike whatever the options are, and sums of
 * two books can be compared row by row. A recording is limited by its ids instead.
 */
#pragma once

#include "attribution/books.h"
#include "base/diag.h"
#include "config/config.h"
#include "record/recording.h"

struct replay_zone {
	struct recorded_zone recorded;
	uint64_t read_uj;      /* of all its spans with a known energy */
	uint64_t uncounted_uj; /* the part of read_uj that the accounting has left out */
	uint64_t spans, errors;
};

struct replay_books;

/* @config is borrowed: its attribution options count. 0 or -ENOMEM. */
int replay_books_new(const struct config *config, struct replay_books **ret);
void replay_books_free(struct replay_books *books);
/*
 * The next records come from another file of the same run: its ids differ, its zones are the same.
 */
void replay_books_next_file(struct replay_books *books);
/*
 * Takes a record. 1: an interval was booked; 0: another record; -EBADMSG with a diagnosis: it
 * refers to something that is not there; -ENOMEM.
 */
int replay_books_take(struct replay_books *books, const struct record *record, struct diag *diag);

/* The books after the last interval. */
const struct books *replay_books_kept(const struct replay_books *books);
const struct replay_zone *replay_books_zone(const struct replay_books *books, size_t index);
/* The row of the process with that id; LEDGER_NONE: it has none. */
uint32_t replay_books_process(const struct replay_books *books, uint32_t id);

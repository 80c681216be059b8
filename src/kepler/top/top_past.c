// SPDX-License-Identifier: Apache-2.0
/*
 * Books only go forward: for an earlier interval, its file is booked again from the beginning. A
 * ring has eight files or more (RECORD_RING_PARTS), so that is an eighth of the kept time at most.
 *
 * A picture of power is taken of each interval, because it stays the same in an interval in which a
 * source that is read less often has no new reading.
 */
#include "kepler/top/top_past.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "options/version.h"
#include "record/record_reader.h"
#include "record/record_ring.h"
#include "replay/replay_books.h"
#include "snapshot/zone_picture.h"

struct top_past {
	const struct config *config;
	struct record_ring_file *files; /* [file_count] */
	int64_t file_count, file;       /* the present one */
	struct record_reader *reader;
	struct record *record;
	struct replay_books *books;
	int64_t at;      /* intervals of the file that are booked */
	int64_t time_ms; /* of the present interval; 0: none */
	struct snapshot_zone zones[ZONES_MAX];
	struct power_picture power;
	struct power_scratch scratch;
};

static void close_file(struct top_past *past)
{
	record_reader_close(past->reader);
	replay_books_free(past->books);
	past->reader = NULL;
	past->books = NULL;
	past->at = 0;
	past->power = (struct power_picture){ 0 };
}

void top_past_close(struct top_past *past)
{
	if (!past)
		return;
	close_file(past);
	power_scratch_release(&past->scratch);
	free(past->files);
	free(past->record);
	free(past);
}

static int open_file(struct top_past *past, int64_t file, struct diag *diag)
{
	char path[4096];

	close_file(past);
	past->file = file;
	(void)snprintf(path, sizeof(path), "%s/%s", past->config->record.dir,
		       past->files[file].name);
	if (replay_books_new(past->config, &past->books) < 0)
		return diag_set(diag, -ENOMEM, "out of memory");
	return record_reader_open(path, &past->reader, diag);
}

static int take_picture(struct top_past *past)
{
	const struct recorded_interval *interval = &past->record->interval;
	const struct books *books = replay_books_kept(past->books);
	size_t count = ledger_zones(books->ledger);

	for (size_t z = 0; z < count && z < ZONES_MAX; z++)
		zone_picture(&books->accountant.zones[z], books_has_ended(books, z),
			     interval->time_ns, &past->zones[z]);
	past->time_ms = interval->realtime_ms;
	return power_picture_take(&past->power, books->ledger, past->zones, &power_whole,
				  interval->length_ns, interval->realtime_ms, &past->scratch);
}

/* Books the next interval of the file. 1; 0 at its end; or -errno with a diagnosis. */
static int book_next(struct top_past *past, struct diag *diag)
{
	int r;

	while ((r = record_reader_next(past->reader, past->record, diag)) > 0) {
		r = replay_books_take(past->books, past->record, diag);
		if (r < 0)
			return r;
		if (r == 0 || !past->record->interval.length_ns)
			continue;
		past->at++;
		r = take_picture(past);
		return r < 0 ? r : 1;
	}
	return r;
}

/* Until the file ends, @intervals are booked, or one ends at @until_ms or later. */
static int book_until(struct top_past *past, int64_t intervals, int64_t until_ms, struct diag *diag)
{
	int r = 1;

	while (past->at < intervals && past->time_ms < until_ms && (r = book_next(past, diag)) > 0)
		;
	return r;
}

static int go_to(struct top_past *past, int64_t at_ms, struct diag *diag)
{
	int64_t file = 0;
	int r;

	for (int64_t i = 0; i < past->file_count && past->files[i].begun_ms <= at_ms; i++)
		file = i;
	r = open_file(past, file, diag);
	if (r == 0)
		r = book_until(past, INT64_MAX, at_ms, diag);
	return r < 0 ? r : 0;
}

int top_past_open(const struct config *config, int64_t at_ms, struct top_past **ret,
		  struct diag *diag)
{
	struct top_past *past = calloc(1, sizeof(*past));
	int r = 0;

	if (past)
		past->record = calloc(1, sizeof(*past->record));
	if (!past || !past->record) {
		top_past_close(past);
		return diag_set(diag, -ENOMEM, "out of memory");
	}
	past->config = config;
	if (!*config->record.dir)
		r = diag_set(diag, -ENOENT,
			     "--at shows recordings, and record.dir is empty: start kepler run "
			     "with --record.dir=DIR, and name the same directory here");
	else
		past->file_count = record_ring_list(config->record.dir, &past->files, diag);
	if (r == 0 && past->file_count < 0)
		r = (int)past->file_count;
	else if (r == 0 && past->file_count == 0)
		r = diag_set(diag, -ENOENT, "%s: there are no recordings of kepler run",
			     config->record.dir);
	if (r == 0)
		r = go_to(past, at_ms, diag);
	if (r == 0 && !past->at)
		r = diag_set(diag, -ENODATA, "%s: no interval is recorded at that time",
			     config->record.dir);
	if (r < 0) {
		top_past_close(past);
		return r;
	}
	*ret = past;
	return 0;
}

static int end_of_recordings(const struct top_past *past, const char *which, struct diag *diag)
{
	return diag_set(diag, -ENODATA, "this is the %s interval in %s", which,
			past->config->record.dir);
}

static int go_back(struct top_past *past, struct diag *diag)
{
	int64_t before = past->at - 1;
	int r;

	if (before == 0 && past->file == 0)
		return end_of_recordings(past, "first", diag);
	r = open_file(past, before ? past->file : past->file - 1, diag);
	past->time_ms = 0;
	if (r == 0)
		r = book_until(past, before ? before : INT64_MAX, INT64_MAX, diag);
	return r < 0 ? r : 0;
}

int top_past_move(struct top_past *past, int steps, struct diag *diag)
{
	int r;

	if (steps < 0)
		return go_back(past, diag);
	r = book_next(past, diag);
	while (r == 0 && past->file + 1 < past->file_count) {
		r = open_file(past, past->file + 1, diag);
		if (r == 0)
			r = book_next(past, diag);
	}
	if (r == 0)
		return end_of_recordings(past, "last", diag);
	return r < 0 ? r : 0;
}

int top_past_fetch(const struct top_past *past, const struct now_query *query, struct strbuf *ret)
{
	struct snapshot snapshot = {
		.zone_count = (uint32_t)ledger_zones(replay_books_kept(past->books)->ledger),
		.zones = past->zones,
		.power = &past->power,
	};

	(void)snprintf(snapshot.node.version, sizeof(snapshot.node.version), "%s", KEPLER_VERSION);
	return now_page(&snapshot, query, ret);
}

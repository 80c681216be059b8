// SPDX-License-Identifier: Apache-2.0
#include "export/remote-write/write_ended.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "export/remote-write/write_reader.h"

static void release(struct write_kept *kept)
{
	strbuf_release(&kept->message);
	free(kept->hashes);
	*kept = (struct write_kept){ 0 };
}

void write_ended_release(struct write_ended *ended)
{
	for (size_t i = 0; i < WRITE_KEPT_MAX; i++) {
		release(&ended->last[i]);
		release(&ended->now[i]);
	}
	free(ended->set);
	*ended = (struct write_ended){ 0 };
}

int write_ended_keep(struct write_ended *ended, const struct write_batch *batch,
		     struct strbuf *message)
{
	struct write_kept *kept = &ended->now[ended->now_count];
	struct strbuf before;

	if (ended->now_count == WRITE_KEPT_MAX)
		return -ENOMEM;
	if (ARRAY_RESERVE(kept->hashes, kept->size, batch->series_count) < 0)
		return -ENOMEM;
	memcpy(kept->hashes, batch->hashes, batch->series_count * sizeof(*kept->hashes));
	kept->count = batch->series_count;
	before = kept->message;
	kept->message = *message;
	*message = before;
	ended->now_count++;
	return 0;
}

static size_t place_of(const struct write_ended *ended, uint64_t hash)
{
	size_t at = hash & (ended->set_size - 1);

	while (ended->set[at] && ended->set[at] != hash)
		at = (at + 1) & (ended->set_size - 1);
	return at;
}

static int fill_set(struct write_ended *ended)
{
	size_t count = 0, size = 1024;

	for (size_t i = 0; i < ended->now_count; i++)
		count += ended->now[i].count;
	while (size < 2 * count)
		size *= 2;
	if (size > ended->set_size) {
		if (ARRAY_RESIZE(ended->set, size) < 0)
			return -ENOMEM;
		ended->set_size = size;
	}
	memset(ended->set, 0, ended->set_size * sizeof(*ended->set));
	for (size_t i = 0; i < ended->now_count; i++) {
		for (uint32_t j = 0; j < ended->now[i].count; j++)
			ended->set[place_of(ended, ended->now[i].hashes[j])] =
				ended->now[i].hashes[j];
	}
	return 0;
}

static bool has_ended(const struct write_ended *ended, uint64_t hash)
{
	return !ended->set[place_of(ended, hash)];
}

static void add_marker(struct write_sink *sink, const struct write_reader *reader,
		       const struct write_reading *series)
{
	struct write_labels labels = { .count = 0 };
	struct write_series marker = { .value_bits = WRITE_STALE_BITS, .time_ms = sink->time_ms };
	char field[WRITE_LABELS_FIELD_MAX];
	struct write_batch *batch;

	write_sink_make_room(sink);
	batch = &sink->part->batch;
	for (size_t i = 0; i < series->label_count; i++) {
		const struct protobuf *name = &reader->symbols[series->refs[2 * i]];
		const struct protobuf *value = &reader->symbols[series->refs[2 * i + 1]];
		char text[256];

		if (name->len >= sizeof(text))
			return;
		memcpy(text, name->at, name->len);
		text[name->len] = '\0';
		write_labels_add(batch, &labels, text, (const char *)value->at, value->len);
	}
	marker.labels = field;
	marker.labels_len = write_labels_encode(labels.labels, labels.count, field);
	write_batch_add(batch, &marker);
}

static int mark(struct write_ended *ended, const struct write_kept *kept, struct write_sink *sink)
{
	struct write_reader reader = { 0 };
	struct write_reading series;
	uint32_t first = 0;
	int r;

	while (first < kept->count && !has_ended(ended, kept->hashes[first]))
		first++;
	if (first == kept->count)
		return 0;
	r = write_reader_open(&reader, kept->message.data, kept->message.len);
	for (uint32_t i = 0; r >= 0 && i < kept->count; i++) {
		r = write_reader_next(&reader, &series);
		if (r > 0 && has_ended(ended, kept->hashes[i]))
			add_marker(sink, &reader, &series);
	}
	write_reader_release(&reader);
	return r < 0 ? r : 0;
}

/* The same series in the same order, as in most walks: none has ended. */
static bool is_as_before(const struct write_ended *ended)
{
	if (ended->now_count != ended->last_count)
		return false;
	for (size_t i = 0; i < ended->now_count; i++) {
		const struct write_kept *now = &ended->now[i], *last = &ended->last[i];

		if (now->count != last->count ||
		    memcmp(now->hashes, last->hashes, now->count * sizeof(*now->hashes)) != 0)
			return false;
	}
	return true;
}

int write_ended_mark(struct write_ended *ended, struct write_sink *sink)
{
	int r;

	if (ended->last_count == 0 || is_as_before(ended))
		return 0;
	r = fill_set(ended);
	for (size_t i = 0; r == 0 && i < ended->last_count; i++)
		r = mark(ended, &ended->last[i], sink);
	return r;
}

void write_ended_next(struct write_ended *ended)
{
	for (size_t i = 0; i < WRITE_KEPT_MAX; i++) {
		struct write_kept last = ended->last[i];

		ended->last[i] = ended->now[i];
		ended->now[i] = last;
		strbuf_release(&ended->now[i].message);
	}
	ended->last_count = ended->now_count;
	ended->now_count = 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "samples/series_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/num.h"

#define CHUNK        65536
#define SECONDS_MAX  1e11 /* the year 5138 */
#define USEC_PER_SEC 1e6

enum { OUTSIDE, IN_LABELS, IN_SERIES, IN_VALUES, IN_POINT };

const char *series_label(const struct series_labels *labels, const char *name)
{
	for (size_t i = 0; i < labels->count; i++) {
		if (strcmp(labels->name[i], name) == 0)
			return labels->value[i];
	}
	return "";
}

static int wrong(struct series_reader *reader, const char *what)
{
	return diag_set(reader->diag, -EPROTO, "byte %llu: %s",
			(unsigned long long)reader->json.bytes + 1, what);
}

static int add_label_text(struct series_reader *reader, const char *text, size_t len)
{
	if (reader->text.len + len + 1 > SERIES_TEXT_MAX)
		return diag_set(reader->diag, -EMSGSIZE, "byte %llu: labels above %d bytes",
				(unsigned long long)reader->json.bytes + 1, SERIES_TEXT_MAX);
	reader->offsets[reader->label_count] = reader->text.len;
	strbuf_add(&reader->text, text, len + 1);
	return strbuf_error(&reader->text);
}

/* A name is at an even place of the offsets, its value behind it. */
static int take_label(struct series_reader *reader, enum json_token token, const char *text,
		      size_t len)
{
	int r;

	if (token == JSON_TOKEN_OBJECT_END) {
		reader->place = IN_SERIES;
		reader->series_depth = reader->depth;
		return 0;
	}
	if (token != JSON_TOKEN_KEY && token != JSON_TOKEN_STRING)
		return wrong(reader, "the value of a label must be a string");
	if (reader->label_count == ARRAY_SIZE(reader->offsets))
		return wrong(reader, "a series with more than 128 labels");
	r = add_label_text(reader, text, len);
	reader->label_count++;
	return r;
}

static int begin_values(struct series_reader *reader)
{
	struct series_labels labels = { .count = reader->label_count / 2 };

	for (size_t i = 0; i < labels.count; i++) {
		labels.name[i] = reader->text.data + reader->offsets[2 * i];
		labels.value[i] = reader->text.data + reader->offsets[2 * i + 1];
	}
	reader->place = IN_VALUES;
	reader->series++;
	return reader->sink.series(reader->sink.userdata, &labels);
}

static int take_time(struct series_reader *reader, enum json_token token, const char *text)
{
	double seconds;

	if (token != JSON_TOKEN_NUMBER || parse_double(text, &seconds) < 0 || seconds < 0 ||
	    seconds > SECONDS_MAX)
		return wrong(reader, "the time of a point must be seconds since 1970");
	reader->time_us = llround(seconds * USEC_PER_SEC);
	return 0;
}

static bool is_no_number(const char *text)
{
	static const char *const words[] = { "NaN", "+Inf", "-Inf", "Inf" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(text, words[i]) == 0)
			return true;
	}
	return false;
}

static int take_value(struct series_reader *reader, enum json_token token, const char *text)
{
	struct series_point point = { .time_us = reader->time_us,
				      .value = (double)NAN,
				      .text = text };
	int r = -EINVAL;

	if (token == JSON_TOKEN_STRING || token == JSON_TOKEN_NUMBER)
		r = is_no_number(text) ? 0 : parse_double(text, &point.value);
	if (r == -ERANGE) {
		point.value = (double)NAN;
		r = 0;
	}
	if (r < 0)
		return wrong(reader, "the value of a point must be a number in quotes");
	reader->points++;
	return reader->sink.point(reader->sink.userdata, &point);
}

static int take_point(struct series_reader *reader, enum json_token token, const char *text)
{
	if (token == JSON_TOKEN_ARRAY_END) {
		reader->place = IN_VALUES;
		return reader->parts == 2 ? 0 : wrong(reader, "a point needs a time and a value");
	}
	reader->parts++;
	if (reader->parts == 1)
		return take_time(reader, token, text);
	if (reader->parts == 2)
		return take_value(reader, token, text);
	return wrong(reader, "a point has more than a time and a value");
}

static int take_values(struct series_reader *reader, enum json_token token)
{
	if (token == JSON_TOKEN_ARRAY_END) {
		reader->place = IN_SERIES;
		return 0;
	}
	if (token != JSON_TOKEN_ARRAY)
		return wrong(reader, "values must be pairs of a time and a value");
	reader->place = IN_POINT;
	reader->parts = 0;
	return 0;
}

static void take_word_of_answer(struct series_reader *reader, const char *text)
{
	if (reader->depth != 1)
		return;
	if (strcmp(reader->key, "status") == 0)
		reader->is_success = strcmp(text, "success") == 0;
	if (strcmp(reader->key, "error") != 0)
		return;
	(void)snprintf(reader->error, sizeof(reader->error), "%s", text);
	for (char *c = reader->error; *c; c++)
		*c = (char)((unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c);
}

/* Outside of labels and values. */
static int take_other(struct series_reader *reader, enum json_token token, const char *text)
{
	if (token == JSON_TOKEN_OBJECT && strcmp(reader->key, "metric") == 0) {
		if (reader->place == IN_SERIES)
			return wrong(reader, "a series with labels twice");
		reader->place = IN_LABELS;
		reader->label_count = 0;
		strbuf_reset(&reader->text);
		return 0;
	}
	if (token == JSON_TOKEN_ARRAY && strcmp(reader->key, "values") == 0) {
		if (reader->place != IN_SERIES || reader->depth != reader->series_depth + 1)
			return wrong(reader, "values without the labels before them");
		return begin_values(reader);
	}
	if (token == JSON_TOKEN_OBJECT_END && reader->depth + 1 == reader->series_depth)
		reader->place = OUTSIDE;
	if (token == JSON_TOKEN_STRING)
		take_word_of_answer(reader, text);
	return 0;
}

static int take_by_place(struct series_reader *reader, enum json_token token, const char *text,
			 size_t len)
{
	switch (reader->place) {
	case IN_LABELS:
		return take_label(reader, token, text, len);
	case IN_VALUES:
		return take_values(reader, token);
	case IN_POINT:
		return take_point(reader, token, text);
	default:
		return take_other(reader, token, text);
	}
}

static int take(void *userdata, enum json_token token, const char *text, size_t len)
{
	struct series_reader *reader = userdata;
	int r;

	if (token == JSON_TOKEN_OBJECT || token == JSON_TOKEN_ARRAY)
		reader->depth++;
	else if (token == JSON_TOKEN_OBJECT_END || token == JSON_TOKEN_ARRAY_END)
		reader->depth--;
	r = take_by_place(reader, token, text, len);
	reader->key[0] = '\0';
	if (token == JSON_TOKEN_KEY && len < sizeof(reader->key))
		memcpy(reader->key, text, len + 1);
	return r;
}

void series_reader_init(struct series_reader *reader, const struct series_sink *sink)
{
	*reader = (struct series_reader){ .sink = *sink };
	json_stream_init(&reader->json, take, reader);
}

void series_reader_release(struct series_reader *reader)
{
	json_stream_release(&reader->json);
	strbuf_release(&reader->text);
}

int series_reader_feed(struct series_reader *reader, const char *bytes, size_t len,
		       struct diag *diag)
{
	reader->diag = diag;
	return json_stream_feed(&reader->json, bytes, len, diag);
}

int series_reader_end(struct series_reader *reader, struct diag *diag)
{
	reader->diag = diag;
	return json_stream_end(&reader->json, diag);
}

static int read_all(int fd, struct series_reader *reader, struct diag *why)
{
	CLEANUP_FREE char *bytes = malloc(CHUNK);

	if (!bytes)
		return -ENOMEM;
	for (;;) {
		ssize_t len = read(fd, bytes, CHUNK);
		int r;

		if (len == 0)
			return series_reader_end(reader, why);
		if (len < 0 && errno == EINTR)
			continue;
		r = len < 0 ? -errno : series_reader_feed(reader, bytes, (size_t)len, why);
		if (r)
			return r;
	}
}

int series_read_file(const char *path, const struct series_sink *sink, struct diag *diag)
{
	CLEANUP(series_reader_release) struct series_reader reader;
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct diag why = { "" };
	int r;

	series_reader_init(&reader, sink);
	if (fd < 0)
		return diag_set(diag, -errno, "%s: cannot be read: %s", path,
				strerrordesc_np(errno));
	r = read_all(fd, &reader, &why);
	if (r == 0 && reader.error[0])
		return diag_set(diag, -EPROTO, "%s: the answer of a failed query: %s", path,
				reader.error);
	if (r < 0 && r != -EBADMSG)
		return diag_set(diag, r, "%s: %s", path,
				why.text[0] ? why.text : strerrordesc_np(-r));
	return r;
}

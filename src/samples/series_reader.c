// SPDX-License-Identifier: Apache-2.0
#include "samples/series_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/macro.h"
#include "base/num.h"
#include "base/text/json_scan.h"

#define SECONDS_MAX  1e11 /* the year 5138 */
#define USEC_PER_SEC 1e6
#define WORD_MAX     64 /* bytes of a time or a value */

struct reading {
	const char *text;
	size_t len;
	const struct series_sink *sink;
	struct series_answer *answer;
	struct json_scan scan;
	size_t at;           /* after the last piece */
	size_t key, key_len; /* the last key of the outermost object, with its quotes */
	json_t *metric;      /* the labels of the series at @depth; NULL: it has none yet */
	size_t depth;
	struct diag *diag;
};

const char *series_label(const struct series_labels *labels, const char *name)
{
	for (size_t i = 0; i < labels->count; i++) {
		if (strcmp(labels->name[i], name) == 0)
			return labels->value[i];
	}
	return "";
}

void series_write_labels(const struct series_labels *labels, struct strbuf *out)
{
	strbuf_add_str(out, "{\"metric\":{");
	for (size_t i = 0; i < labels->count; i++) {
		strbuf_add_str(out, i ? ",\"" : "\"");
		strbuf_add_json(out, labels->name[i]);
		strbuf_add_str(out, "\":\"");
		strbuf_add_json(out, labels->value[i]);
		strbuf_add_char(out, '"');
	}
	strbuf_add_char(out, '}');
}

static int wrong(const struct reading *reading, size_t at, const char *what)
{
	return diag_set(reading->diag, -EPROTO, "byte %zu: %s", at + 1, what);
}

/* ---- pieces ---- */

/* The next piece: its length, 0 at the end. */
static size_t next_piece(struct reading *reading, enum json_piece *ret)
{
	size_t begin = reading->at;

	if (begin == reading->len)
		return 0;
	reading->at +=
		json_scan_next(&reading->scan, reading->text + begin, reading->len - begin, ret);
	return reading->at - begin;
}

/* Skips blanks and returns the character after them; '\0': none. */
static char next_char(struct reading *reading)
{
	while (reading->at < reading->len && json_is_blank(reading->text[reading->at]))
		reading->at++;
	return reading->at < reading->len ? reading->text[reading->at] : '\0';
}

static bool take_char(struct reading *reading, char c)
{
	bool is_there = next_char(reading) == c;

	reading->at += is_there;
	return is_there;
}

/* ---- points ---- */

/* A number, or a string without escapes; longer ones are cut. */
static void take_word(struct reading *reading, char ret[static WORD_MAX])
{
	bool quoted = take_char(reading, '"');
	size_t len = 0;

	while (reading->at < reading->len && len + 1 < WORD_MAX) {
		char c = reading->text[reading->at];

		if (quoted ? c == '"' : !strchr("+-.0123456789eE", c) || !c)
			break;
		ret[len++] = c;
		reading->at++;
	}
	ret[len] = '\0';
	reading->at += quoted && reading->at < reading->len;
}

static bool read_time(const char *text, int64_t *ret_us)
{
	double seconds;

	if (parse_double(text, &seconds) < 0 || !(seconds >= 0 && seconds <= SECONDS_MAX))
		return false;
	*ret_us = llround(seconds * USEC_PER_SEC);
	return true;
}

static bool read_value(const char *text, double *ret)
{
	static const char *const none[] = { "NaN", "+Inf", "-Inf", "Inf" };
	int r = parse_double(text, ret);

	if (r != 0)
		*ret = (double)NAN;
	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		if (strcmp(text, none[i]) == 0)
			return true;
	}
	return r == 0 || r == -ERANGE;
}

static int take_point(struct reading *reading)
{
	char time[WORD_MAX], value[WORD_MAX];
	struct series_point point = { .text = value };

	if (!take_char(reading, '['))
		return wrong(reading, reading->at, "values must be pairs of a time and a value");
	if (next_char(reading) == '"')
		return wrong(reading, reading->at,
			     "the time of a point must be seconds since 1970");
	take_word(reading, time);
	if (!read_time(time, &point.time_us))
		return wrong(reading, reading->at,
			     "the time of a point must be seconds since 1970");
	if (!take_char(reading, ','))
		return wrong(reading, reading->at, "a point needs a time and a value");
	take_word(reading, value);
	if (!read_value(value, &point.value))
		return wrong(reading, reading->at,
			     "the value of a point must be a number in quotes");
	if (!take_char(reading, ']'))
		return wrong(reading, reading->at, "a point has more than a time and a value");
	return reading->sink->point(reading->sink->userdata, &point);
}

/* The rest of an array, after its bracket. */
static int take_points(struct reading *reading)
{
	int r = 0;

	if (take_char(reading, ']'))
		return 0;
	do {
		r = take_point(reading);
	} while (r == 0 && take_char(reading, ','));
	if (r == 0 && !take_char(reading, ']'))
		return wrong(reading, reading->at, "the text ends before its value does");
	return r;
}

/* ---- series ---- */

/* All of the object that begins here. */
static int take_labels(struct reading *reading)
{
	size_t begin = reading->at, depth = reading->scan.depth + 1;
	enum json_piece piece = PIECE_OTHER;
	json_error_t error;

	do {
		if (reading->scan.depth > JSON_DEPTH_MAX)
			return wrong(reading, reading->at, "nested too deeply");
		if (!next_piece(reading, &piece))
			return 0; /* the end comes too early */
	} while (piece != PIECE_CLOSE || reading->scan.depth != depth);
	reading->metric = json_loadb(reading->text + begin, reading->at - begin,
				     JSON_REJECT_DUPLICATES, &error);
	reading->depth = depth - 1;
	return reading->metric ? 0 : wrong(reading, begin + (size_t)error.position, error.text);
}

static int begin_series(struct reading *reading)
{
	struct series_labels labels = { .count = 0 };
	const char *name;
	json_t *value;

	json_object_foreach(reading->metric, name, value)
	{
		if (!json_is_string(value))
			return wrong(reading, reading->at, "the value of a label must be a string");
		if (labels.count == SERIES_LABELS_MAX)
			return wrong(reading, reading->at, "a series with more than 128 labels");
		labels.name[labels.count] = name;
		labels.value[labels.count++] = json_string_value(value);
	}
	return reading->sink->series(reading->sink->userdata, &labels);
}

static void end_series(struct reading *reading)
{
	json_decref(reading->metric);
	reading->metric = NULL;
}

static bool is_text(const struct reading *reading, size_t begin, size_t len, const char *quoted)
{
	return len == strlen(quoted) && memcmp(reading->text + begin, quoted, len) == 0;
}

/* A key of any object, from @begin on, before its value. */
static int take_key(struct reading *reading, size_t begin, size_t len)
{
	int r;

	if (is_text(reading, begin, len, "\"metric\"") && next_char(reading) == '{') {
		if (reading->metric)
			return wrong(reading, begin, "a series with labels twice");
		return take_labels(reading);
	}
	if (!is_text(reading, begin, len, "\"values\"") || next_char(reading) != '[')
		return 0;
	if (!reading->metric || reading->scan.depth != reading->depth)
		return wrong(reading, begin, "values without the labels before them");
	r = begin_series(reading);
	reading->at++;
	return r ? r : take_points(reading);
}

/* A value of the outermost object. */
static void take_status(const struct reading *reading, size_t begin, size_t len)
{
	char *error = reading->answer->error;
	json_t *word;

	if (is_text(reading, reading->key, reading->key_len, "\"status\""))
		reading->answer->is_success = is_text(reading, begin, len, "\"success\"");
	if (!is_text(reading, reading->key, reading->key_len, "\"error\""))
		return;
	word = json_loadb(reading->text + begin, len, JSON_DECODE_ANY, NULL);
	(void)snprintf(error, sizeof(reading->answer->error), "%s",
		       word ? json_string_value(word) : "");
	json_decref(word);
	for (; *error; error++)
		*error = (char)((unsigned char)*error < 0x20 || *error == 0x7f ? '?' : *error);
}

static int take_string(struct reading *reading, size_t begin)
{
	size_t len = reading->at - begin;
	bool is_key = take_char(reading, ':');

	if (reading->scan.depth == 1 && !is_key)
		take_status(reading, begin, len);
	if (!is_key)
		return 0;
	if (reading->scan.depth == 1) {
		reading->key = begin;
		reading->key_len = len;
	}
	return take_key(reading, begin, len);
}

static int read_pieces(struct reading *reading)
{
	enum json_piece piece;
	size_t begin = reading->at;
	int r = 0;

	while (r == 0 && next_piece(reading, &piece)) {
		if (reading->scan.depth > JSON_DEPTH_MAX)
			return wrong(reading, begin, "nested too deeply");
		if (piece == PIECE_STRING && !reading->scan.in_string)
			r = take_string(reading, begin);
		else if (piece == PIECE_CLOSE && reading->scan.depth == reading->depth)
			end_series(reading);
		begin = reading->at;
	}
	return r;
}

int series_read_text(const char *text, size_t len, const struct series_sink *sink,
		     struct series_answer *ret, struct diag *diag)
{
	struct series_answer unused = { .is_success = false };
	struct reading reading = {
		.text = text, .len = len, .sink = sink, .answer = ret ? ret : &unused, .diag = diag
	};
	char first = next_char(&reading);
	int r;

	*reading.answer = (struct series_answer){ .is_success = false };
	if (first != '{' && first != '[')
		return wrong(&reading, 0,
			     "must be series as JSON, as kepler-model collect writes them");
	r = read_pieces(&reading);
	end_series(&reading);
	if (r == 0 && (reading.scan.in_string || reading.scan.depth > reading.scan.closed))
		return wrong(&reading, len, "the text ends before its value does");
	return r;
}

int series_read_file(const char *path, const struct series_sink *sink, struct diag *diag)
{
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct series_answer answer = { .is_success = false };
	struct diag why = { "" };
	struct stat info;
	size_t len;
	void *text;
	int r;

	if (fd < 0 || fstat(fd, &info) < 0)
		return diag_set(diag, -errno, "%s: cannot be read: %s", path,
				strerrordesc_np(errno));
	len = (size_t)info.st_size;
	text = mmap(NULL, len ? len : 1, PROT_READ, MAP_PRIVATE, fd, 0);
	if (text == MAP_FAILED)
		return diag_set(diag, -errno, "%s: cannot be read: %s", path,
				strerrordesc_np(errno));
	r = series_read_text(text, len, sink, &answer, &why);
	(void)munmap(text, len ? len : 1);
	if (r == 0 && answer.error[0])
		return diag_set(diag, -EPROTO, "%s: the response to a failed query: %s", path,
				answer.error);
	if (r < 0 && r != -EBADMSG)
		return diag_set(diag, r, "%s: %s", path,
				why.text[0] ? why.text : strerrordesc_np(-r));
	return r;
}

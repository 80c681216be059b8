/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Series of Prometheus from JSON: the response to a query_range, or a file of collected series. A
 * series is an object {"metric": {labels}, "values": [[seconds, "value"], …]} at any place in the
 * text. Only the labels of one series at a time are held. Other parts of the text are not
 * validated.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"

#define SERIES_LABELS_MAX 128

struct series_labels {
	const char *name[SERIES_LABELS_MAX], *value[SERIES_LABELS_MAX];
	size_t count;
};

struct series_point {
	int64_t time_us;  /* since 1970 */
	double value;     /* NAN if it is infinite or not a number */
	const char *text; /* as it was read */
};

/* Appends {"metric":{LABELS}, as series_read_text() reads it; the values and a brace follow. */
void series_write_labels(const struct series_labels *labels, struct strbuf *out);
/* The value of the label @name; "" if there is none, as in Prometheus. */
const char *series_label(const struct series_labels *labels, const char *name);

/* A result other than 0 ends the reading, which then returns it. */
struct series_sink {
	int (*series)(void *userdata, const struct series_labels *labels);
	int (*point)(void *userdata, const struct series_point *point);
	void *userdata;
};

/* The members of a response besides its series. */
struct series_answer {
	bool is_success; /* "status" is "success" */
	char error[256]; /* "error", fit for a terminal */
};

/*
 * Calls the sink for each series and its points. 0; -EPROTO with the byte and the fault for a
 * malformed series or a truncated text; or the result of the sink. @ret may be NULL.
 */
int series_read_text(const char *text, size_t len, const struct series_sink *sink,
		     struct series_answer *ret, struct diag *diag);
/* The same for a regular file. 0; -EBADMSG from the sink, which has its own reason; or -errno with
 * a diagnosis that names the file. */
int series_read_file(const char *path, const struct series_sink *sink, struct diag *diag);

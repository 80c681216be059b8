/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The labels of a row's series, in the names of either schema, or as the attributes of an
 * OpenTelemetry resource. Two rows with different labels in one form have different ones in each
 * other form. An attribute that says nothing is left out; a label is not.
 */
#pragma once

#include <stdbool.h>

#include "base/strbuf.h"
#include "export/label_escape.h"
#include "snapshot/snapshot.h"

enum row_names { NAMES_CLASSIC, NAMES_CURRENT, NAMES_OPENTELEMETRY, NAMES_COUNT };

#define ATTRIBUTE_PID  "process.pid" /* its text is a number */

#define ROW_LABELS_MAX (LABEL_KEY_COUNT + 8 + OWNER_EXTRA_MAX)

struct row_labels {
	struct label_pair pairs[ROW_LABELS_MAX]; /* [count]; texts are borrowed, or in @pid */
	size_t count;
	char pid[11];
};

void row_labels_get(enum row_names names, enum level level, bool retired,
		    const struct series_labels *labels, struct row_labels *ret);
/* Appends their names for people; those in parentheses are not always present. */
void row_labels_describe(enum row_names names, enum level level, bool retired, struct strbuf *out);

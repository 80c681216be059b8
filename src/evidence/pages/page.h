/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A parser of an exporter's page in Prometheus' text format (version 0.0.4). It accepts
 * OpenMetrics 1.0 and 2.0, too: of what follows the value on a line it reads the start time only.
 * Pure.
 */
#pragma once

#include <stddef.h>

#include "base/diag.h"

#define PAGE_LABELS_MAX 64

struct page_series {
	const char *name;
	size_t label_count;
	const char *label_name[PAGE_LABELS_MAX], *label_value[PAGE_LABELS_MAX];
	double value;   /* may be infinite or NAN; NAN for a histogram in one value */
	double start_s; /* since when the counter has counted, by the wall clock; NAN: not named */
};

/* A result other than 0 ends the reading, which returns it. */
struct page_sink {
	void *userdata;
	int (*type)(void *userdata, const char *metric, const char *type);
	int (*series)(void *userdata, const struct page_series *series);
	int (*help)(void *userdata, const char *metric, const char *text); /* NULL: left out */
};

/*
 * Reads @text, which is terminated at @len and changed in place. 0; -EPROTO with "line N: what is
 * wrong"; or what the sink has returned.
 */
int page_read(char *text, size_t len, const struct page_sink *sink, struct diag *diag);
/* The value of a label; "" if there is none. */
const char *page_label(const struct page_series *series, const char *name);

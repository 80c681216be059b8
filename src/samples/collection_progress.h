/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of a collection (collection.h) and its progress, as the text of FILE.progress: a line of
 * a word and values each. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"

#define COLLECT_METRICS_MAX 1024
#define COLLECT_NAME_MAX    200
#define PROGRESS_SIZE_MAX   (1024U * 1024)

struct collect_plan {
	const char *source; /* the server's address, as text; a collection has one */
	int64_t start_us, end_us, step_us;
	char (*metrics)[COLLECT_NAME_MAX];
	size_t metric_count;
};

struct collect_progress {
	size_t metric;   /* the next one */
	int64_t from_us; /* where it begins */
	uint64_t offset; /* valid bytes of FILE.part */
	bool has_items;  /* in FILE.part, of that metric */
};

int progress_write(const struct collect_plan *plan, const struct collect_progress *progress,
		   struct strbuf *out);
/*
 * 0, or -EINVAL, -ENOMEM. The caller owns the metrics of *ret_plan, and *ret_source, which is its
 * source.
 */
int progress_parse(const char *text, size_t len, struct collect_plan *ret_plan, char **ret_source,
		   struct collect_progress *ret, struct diag *diag);

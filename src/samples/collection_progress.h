/* SPDX-License-Identifier: Apache-2.0 */
/* How far a collection is, as the text of FILE.progress: a line of a word and values each. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "samples/collection_plan.h"

#define PROGRESS_SIZE_MAX (1024U * 1024)

struct collect_progress {
	size_t metric;   /* that is asked for next */
	int64_t from_us; /* from when on */
	uint64_t offset; /* bytes of FILE.part that are good */
	bool has_items;  /* of that metric */
};

int progress_write(const struct collect_plan *plan, const struct collect_progress *progress,
		   struct strbuf *out);
/*
 * 0, or -EINVAL, -ENOMEM. What *ret_plan has is owned by the caller: metrics, and the source, which
 * is *ret_source.
 */
int progress_parse(const char *text, size_t len, struct collect_plan *ret_plan, char **ret_source,
		   struct collect_progress *ret, struct diag *diag);

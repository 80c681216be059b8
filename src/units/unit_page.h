/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page of a pod, in Prometheus' text format, as the values of one counter. Only the lines of
 * that counter are kept and read: others may have any form, and a page of any length takes the
 * memory of those lines. Pure.
 */
#pragma once

#include <stddef.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "units/unit_rule.h"
#include "units/unit_series.h"

#define UNIT_LINE_MAX  8192          /* bytes */
#define UNIT_LINES_MAX (128U * 1024) /* bytes of the counter's lines */

struct unit_page {
	const struct unit_rule *rule;
	struct strbuf lines; /* whole ones of the counter, and the one that is being read */
	size_t line_at;      /* where that one begins in @lines */
	bool is_other;       /* it is not of the counter */
};

void unit_page_begin(struct unit_page *page, const struct unit_rule *rule);
void unit_page_release(struct unit_page *page);
/* The next bytes of the page. 0; -EMSGSIZE: the counter has too much text; -ENOMEM. */
int unit_page_add(struct unit_page *page, const char *bytes, size_t len);
/*
 * The end of the page: its values go to @series, whose reading has begun. 0, or -errno with a
 * diagnosis.
 */
int unit_page_end(struct unit_page *page, struct unit_series *series, struct diag *diag);
/* The words for what unit_series_add() and unit_series_end() return. */
int unit_series_fault(int error, struct diag *diag);

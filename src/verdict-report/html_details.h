/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One result of report.html in full: its series, numbers, pictures, phases and table. A result that
 * has none of these is in the page's table alone, which has its reason already.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "judging/result.h"

bool html_has_details(const struct result *result);
/* @index is the result's place in the report: "r1" is the link to the first. 0 or -ENOMEM. */
int html_details_add(struct strbuf *out, const struct result *result, size_t index,
		     bool has_charts);
/* "✗ fail", in its colour. */
void html_add_verdict(struct strbuf *out, enum verdict verdict);
/* A term and its description. */
void html_add_fact(struct strbuf *out, const char *name, const char *value);

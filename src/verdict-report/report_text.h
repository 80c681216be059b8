/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a report's page shows numbers and sentences: with the same digits in a column, with a minus
 * sign instead of a hyphen, and without a line break between a number and its unit.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

/* A ratio as "34.0 %"; "over 1,000 %" or "below −1,000 %" beyond that; "–" if it is not known. */
void report_text_percent(struct strbuf *out, double ratio, bool is_signed);
/* "5 %", as it was given; "–" if it is not known. */
void report_text_bound(struct strbuf *out, double ratio);
/* The decimal places with which the largest of a column has five digits: 0 to 6. */
int report_text_places(double largest);
/* "–" if it is not known. */
void report_text_number(struct strbuf *out, double value, int places);
/* A sentence of the validator, as text of HTML. */
void report_text_sentence(struct strbuf *out, const char *text);

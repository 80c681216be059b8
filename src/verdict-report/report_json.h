/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.json: the whole report for programs, as docs/validation-report.schema.json describes it. A
 * number that is not known, or infinite, is null.
 */
#pragma once

#include "base/strbuf.h"
#include "verdict-report/verdict_report.h"

#define REPORT_FORMAT_VERSION 1

/* Running out of memory shows in strbuf_error(). */
void report_json_add(struct strbuf *out, const struct verdict_report *report);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report: the results of one run with everything that is needed to understand and repeat it. Each
 * writer (JSON, JUnit, Markdown, HTML) turns it into text.
 */
#pragma once

#include <stdbool.h>
#include <time.h>

#include "base/strbuf.h"
#include "judging/result.h"
#include "truth/machine_facts.h"

struct verdict_report {
	const struct result_list *results;   /* borrowed, as all below */
	const struct machine_facts *machine; /* that judged; NULL: of no interest */
	const char *command;                 /* line that made it */
	const char *version;                 /* of kepler-validator */
	time_t created;
};

/* Start and end of all series, in seconds since 1970; NAN if there are none. */
void report_time(const struct verdict_report *report, double *ret_start_s, double *ret_end_s);
/*
 * The result that says most about the verdict on all: the first comparison with that verdict,
 * preferably one with a cause, else the first result. NULL if there are no results.
 */
const struct result *report_leading_result(const struct result_list *results);
bool report_has_several_exporters(const struct result_list *results);
/*
 * One line to paste: the verdict, the counts, the leading result, the machine and the time. It is
 * plain text without control characters.
 */
void report_line_add(struct strbuf *out, const struct verdict_report *report);
/*
 * The name of the file with the series of result @index, relative to report.json:
 * "series/001-actual.csv.gz". @buf has REPORT_FILE_MAX bytes.
 */
#define REPORT_FILE_MAX 48
void report_series_file(size_t index, const char *which, char *buf);
/* Returns true if @name, without its folder, is one that report_series_file() makes. */
bool report_owns_series_file(const char *name);
/* "2026-03-01T12:00:00Z"; "" for an invalid time. @buf has 32 bytes. */
void report_time_text(double time_s, char *buf);

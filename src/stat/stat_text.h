/* SPDX-License-Identifier: Apache-2.0 */
/* The result of `kepler stat`, as text, as JSON and as Markdown. Pure. */
#pragma once

#include "base/strbuf.h"
#include "stat/stat_reading.h"

struct stat_result {
	const char *command; /* as it was given; untrusted bytes */
	struct stat_reading reading;
	double elapsed_seconds;
	double missing_seconds;  /* CPU time of descendants that is not in the reading */
	double overhead_seconds; /* CPU time that the measurement took meanwhile */
	int exit_status;
	bool with_idle;
	double budget_joules; /* 0: there is none */
};

double stat_result_joules(const struct stat_result *result);
/* Did it use more than its budget? */
bool stat_result_is_over(const struct stat_result *result);

/* A number with as many decimals as are of use: six below 10, else three. */
void stat_add_value(struct strbuf *out, double value);
/* Appends @text without control characters, which could command a terminal. */
void stat_add_clean(struct strbuf *out, const char *text);

void stat_text(const struct stat_result *result, struct strbuf *out);
/* Without the braces around it and with a comma before the first key if @out ends with none. */
void stat_json_members(const struct stat_result *result, struct strbuf *out);
void stat_markdown(const struct stat_result *result, struct strbuf *out);

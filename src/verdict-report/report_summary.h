/* SPDX-License-Identifier: Apache-2.0 */
/* The part of each result in a report.json that a comparison of two reports uses. */
#pragma once

#include <stddef.h>

#include "base/diag.h"
#include "judging/result.h"

struct summary_row {
	char name[RESULT_NAME_MAX];
	char exporter[RESULT_NAME_MAX]; /* "": none */
	enum verdict verdict;
	double error;                 /* the worst, as a ratio; NAN: none */
	double ratio;                 /* predicted / actual energy; NAN: none */
	double ratio_low, ratio_high; /* its 95 % interval; NAN: none */
};

struct report_summary {
	struct summary_row *rows;
	size_t count;
	char created[32];
	char version[32];
};

/*
 * Reads the @len bytes of a report.json that @path names in diagnoses.
 */
int report_summary_parse(const char *text, size_t len, const char *path, struct report_summary *ret,
			 struct diag *diag);
/*
 * Reads @path: a report.json, or the folder that has one. 0, or a negative errno with a diagnosis
 * that names the file and, for invalid JSON, line and column. A file of more than 64 MiB is
 * refused.
 */
int report_summary_read(const char *path, struct report_summary *ret, struct diag *diag);
void report_summary_release(struct report_summary *summary);

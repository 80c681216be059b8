// SPDX-License-Identifier: Apache-2.0
#include "verdict-report/verdict_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void widen(const struct series *series, double *start_s, double *end_s)
{
	if (!series || series->count == 0)
		return;
	*start_s = fmin(*start_s, series_start_s(series)); /* fmin() and fmax() pass over NAN */
	*end_s = fmax(*end_s, series_end_s(series));
}

void report_time(const struct verdict_report *report, double *ret_start_s, double *ret_end_s)
{
	*ret_start_s = *ret_end_s = NAN;
	for (size_t i = 0; i < report->results->count; i++) {
		widen(report->results->items[i]->actual, ret_start_s, ret_end_s);
		widen(report->results->items[i]->predicted, ret_start_s, ret_end_s);
	}
}

void report_series_file(size_t index, const char *which, char *buf)
{
	(void)snprintf(buf, REPORT_FILE_MAX, "series/%03zu-%s.csv.gz", index + 1, which);
}

bool report_owns_series_file(const char *name)
{
	size_t digits = strspn(name, "0123456789");

	return digits >= 3 && (strcmp(name + digits, "-actual.csv.gz") == 0 ||
			       strcmp(name + digits, "-predicted.csv.gz") == 0);
}

void report_time_text(double time_s, char *buf)
{
	time_t seconds;
	struct tm parts;

	buf[0] = '\0';
	if (!(time_s >= 0) || time_s > 253402300799.0) /* the year 9999 */
		return;
	seconds = (time_t)time_s;
	if (gmtime_r(&seconds, &parts))
		(void)strftime(buf, 32, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

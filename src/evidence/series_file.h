/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One series from a file: an artifact of upstream's validator ({"query", "metric", "timestamps":
 * […], "values": […]}), the response of a Prometheus to a range query ({"metric": {…}, "values":
 * [[time, "value"], …]} anywhere in it), CSV, a recording (recordings/recording_series.h), or a
 * folder of recordings. Each may be compressed with gzip. It is read as a stream: memory does not
 * depend on the file's size.
 *
 * CSV has a line with names of columns. The time is the column "time", "timestamp", "time_s",
 * "seconds", "date" or else the first one.
 */
#pragma once

#include "base/diag.h"
#include "evidence/series_form.h"
#include "evidence/text_input.h"
#include "judging/series.h"

/*
 * Reads @path, or with "FILE#WORDS" the one series of FILE whose metric and labels, or whose column
 * name, contains WORDS (a column that is named exactly so is preferred). The series is finished.
 * 0, or -errno with a diagnosis, which lists the series that there are if not exactly one fits:
 * -ENOENT, -ENOTUNIQ.
 */
int series_file_read(const char *path, enum series_kind kind, struct series **ret,
		     struct diag *diag);

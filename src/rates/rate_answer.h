/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a value out of what a feed answered, or out of a file. Pure; any bytes may come.
 *
 * An answer is JSON, and a path leads to the value: keys and indexes of arrays, separated by dots
 * ("data.result.0.value.1"). The value is a number, or a string that is one, as Prometheus answers.
 *
 * A file is a number, or a table with a line for each time from which on a value holds, as
 * "2026-11-29T13:00:00Z,312.5"; the lines are in the order of time, those with "#" are skipped, and
 * a first line that does not begin with a digit is a head. It may be a forecast: the newest line
 * that is not in the future counts.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define RATE_PATH_MAX   256
#define RATE_ANSWER_MAX (64 * 1024) /* bytes: as values, JSON takes up to 80 times its size */

struct rate_reading {
	double value;
	int64_t since_s; /* UTC: from when on it holds; INT64_MIN: that is not said */
};

/* 0, or -EINVAL: the path can lead nowhere. */
int rate_path_check(const char *path, struct diag *diag);
/* 0; -EINVAL with a diagnosis: no JSON, too long, too deep, no such key, no number; -ENOMEM. */
int rate_answer_json(const char *text, size_t len, const char *path, double *ret,
		     struct diag *diag);
/* The same for a text, given to the caller; it is a secret that no diagnosis repeats. */
int rate_answer_text(const char *text, size_t len, const char *path, char **ret, struct diag *diag);
/* 0; -EINVAL with the line; -ENODATA: all lines are in the future, or there are none. */
int rate_answer_file(const char *text, int64_t now_s, struct rate_reading *ret, struct diag *diag);

// SPDX-License-Identifier: Apache-2.0
#include "modelling/times.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "repository/model_json.h"

#define USEC_PER_SEC 1000000
#define LOG_MAX      (16U * 1024 * 1024)
#define SECONDS_MAX  1e11

int time_parse(const char *text, int64_t *ret_us)
{
	struct tm tm = { .tm_isdst = 0 };
	const char *end;
	double seconds;

	if (parse_double(text, &seconds) == 0 && seconds >= 0 && seconds < SECONDS_MAX) {
		*ret_us = llround(seconds * USEC_PER_SEC);
		return 0;
	}
	end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	if (!end || timegm(&tm) < 0)
		return -EINVAL;
	if (*end == '.')
		end += 1 + strspn(end + 1, "0123456789");
	if (*end && strcmp(end, "Z") != 0)
		return -EINVAL;
	*ret_us = (int64_t)timegm(&tm) * USEC_PER_SEC;
	return 0;
}

int seconds_parse(const char *text, int64_t *ret_us)
{
	uint64_t ns;
	double seconds;

	if (parse_double(text, &seconds) == 0 && seconds >= 0 && seconds < SECONDS_MAX) {
		*ret_us = llround(seconds * USEC_PER_SEC);
		return 0;
	}
	if (parse_duration_ns(text, &ns) < 0)
		return -EINVAL;
	*ret_us = (int64_t)(ns / NSEC_PER_USEC);
	return 0;
}

void time_format(int64_t time_us, char *ret, size_t size)
{
	time_t seconds = (time_t)(time_us / USEC_PER_SEC);
	struct tm tm;

	ret[0] = '\0';
	if (gmtime_r(&seconds, &tm))
		(void)strftime(ret, size, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

static int64_t time_of(const json_t *log, const char *key)
{
	const char *text = json_string_value(json_object_get(log, key));
	int64_t time_us;

	return text && time_parse(text, &time_us) == 0 ? time_us : -1;
}

int times_of_log(const char *path, int64_t *ret_start_us, int64_t *ret_end_us, struct diag *diag)
{
	CLEANUP(model_json_release) json_t *log = NULL;
	CLEANUP_FREE char *text = NULL;
	int64_t start_us, end_us;
	size_t len;
	int r = read_file_alloc(path, LOG_MAX, &text, &len);

	if (r < 0)
		return diag_set(diag, r, "%s: cannot be read: %s", path, strerrordesc_np(-r));
	log = model_json_parse(path, text, len, diag);
	if (!log)
		return -EINVAL;
	start_us = time_of(log, "startTimeUTC");
	end_us = time_of(log, "endTimeUTC");
	if (start_us < 0 || end_us < start_us)
		return diag_set(diag, -EINVAL,
				"%s: needs startTimeUTC and a later endTimeUTC, such as "
				"\"2026-11-24T13:00:00Z\"",
				path);
	*ret_start_us = start_us;
	*ret_end_us = end_us;
	return 0;
}

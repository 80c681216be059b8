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
#include "samples/json_stream.h"

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

struct log_times {
	unsigned depth;
	char key[16];
	int64_t start_us, end_us; /* -1 until they are found */
};

static int take_token(void *userdata, enum json_token token, const char *text, size_t len)
{
	struct log_times *times = userdata;

	if (token == JSON_TOKEN_OBJECT || token == JSON_TOKEN_ARRAY)
		times->depth++;
	else if (token == JSON_TOKEN_OBJECT_END || token == JSON_TOKEN_ARRAY_END)
		times->depth--;
	if (token == JSON_TOKEN_STRING && times->depth == 1 &&
	    strcmp(times->key, "startTimeUTC") == 0)
		(void)time_parse(text, &times->start_us);
	if (token == JSON_TOKEN_STRING && times->depth == 1 &&
	    strcmp(times->key, "endTimeUTC") == 0)
		(void)time_parse(text, &times->end_us);
	times->key[0] = '\0';
	if (token == JSON_TOKEN_KEY && len < sizeof(times->key))
		memcpy(times->key, text, len + 1);
	return 0;
}

int times_of_log(const char *path, int64_t *ret_start_us, int64_t *ret_end_us, struct diag *diag)
{
	struct log_times times = { .start_us = -1, .end_us = -1 };
	CLEANUP(json_stream_release) struct json_stream stream;
	CLEANUP_FREE char *text = NULL;
	struct diag why = { "" };
	size_t len;
	int r = read_file_alloc(path, LOG_MAX, &text, &len);

	json_stream_init(&stream, take_token, &times);
	if (r < 0)
		return diag_set(diag, r, "%s: cannot be read: %s", path, strerrordesc_np(-r));
	r = json_stream_feed(&stream, text, len, &why);
	if (r == 0)
		r = json_stream_end(&stream, &why);
	if (r < 0)
		return diag_set(diag, -EINVAL, "%s: %s", path, why.text);
	if (times.start_us < 0 || times.end_us < times.start_us)
		return diag_set(diag, -EINVAL,
				"%s: needs startTimeUTC and a later endTimeUTC, such as "
				"\"2026-11-24T13:00:00Z\"",
				path);
	*ret_start_us = times.start_us;
	*ret_end_us = times.end_us;
	return 0;
}

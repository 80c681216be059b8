// SPDX-License-Identifier: Apache-2.0
#include "doctor/cluster/kube_object.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

static json_t *walk(const json_t *object, const char *key, va_list ap)
{
	json_t *at = json_object_get(object, key);

	for (key = va_arg(ap, const char *); at && key; key = va_arg(ap, const char *))
		at = json_object_get(at, key);
	return at;
}

json_t *kube_at(const json_t *object, const char *key, ...)
{
	json_t *found;
	va_list ap;

	va_start(ap, key);
	found = walk(object, key, ap);
	va_end(ap);
	return found;
}

const char *kube_text(const json_t *object, const char *key, ...)
{
	const char *text;
	va_list ap;

	va_start(ap, key);
	text = json_string_value(walk(object, key, ap));
	va_end(ap);
	return text ? text : "";
}

bool kube_is_name(const char *text)
{
	return *text && text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789.-")] == '\0' &&
	       *text != '.';
}

double kube_time_s(const char *text)
{
	struct tm tm = { .tm_isdst = 0 };
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	double fraction = 0, scale = 0.1;

	if (!end)
		return (double)NAN;
	if (*end == '.') {
		for (end++; *end >= '0' && *end <= '9'; end++, scale /= 10)
			fraction += (*end - '0') * scale;
	}
	return strcmp(end, "Z") == 0 ? (double)timegm(&tm) + fraction : (double)NAN;
}

// SPDX-License-Identifier: Apache-2.0
#include "verdict-report/json_members.h"

#include <math.h>

#include "judging/result.h"

void json_members_set(json_t *object, const char *key, json_t *value)
{
	(void)json_object_set_new(object, key, value);
}

void json_members_set_number(json_t *object, const char *key, double value)
{
	json_members_set(object, key, isfinite(value) ? json_real(value) : json_null());
}

void json_members_set_text(json_t *object, const char *key, const char *text)
{
	json_t *value = json_string(text);

	if (!value) {
		char plain[RESULT_REASON_MAX];
		size_t len = 0;
		for (; text[len] && len + 1 < sizeof(plain); len++)
			plain[len] = (text[len] & 0x80) ? '?' : text[len];
		plain[len] = '\0';
		value = json_string(plain);
	}
	json_members_set(object, key, value);
}

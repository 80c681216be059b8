// SPDX-License-Identifier: Apache-2.0
#include "bmc/answer_object.h"

#include "base/text/json_scan.h"

json_t *answer_object(const char *text, size_t len)
{
	json_t *object;

	if (!text || json_is_too_deep(text, len))
		return NULL;
	object = json_loadb(text, len, 0, NULL);
	if (json_is_object(object))
		return object;
	json_decref(object);
	return NULL;
}

bool answer_number(const json_t *value, double max, double *ret)
{
	double number = json_is_number(value) ? json_number_value(value) : -1;

	if (!(number >= 0 && number <= max)) /* also if it is not a number */
		return false;
	*ret = number;
	return true;
}

const char *answer_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

void answer_object_release(json_t **object)
{
	json_decref(*object);
}

// SPDX-License-Identifier: Apache-2.0
#include "repository/model_json.h"

#include <errno.h>
#include <math.h>

#include "base/macro.h"
#include "base/text/json_scan.h"

#define DUMP_DIGITS 15

json_t *model_json_parse(const char *name, const char *text, size_t size, struct diag *diag)
{
	json_error_t error = { 0 };
	json_t *value;

	if (json_is_too_deep(text, size)) {
		(void)diag_set(diag, -EINVAL, "%s: more than %d levels of brackets", name,
			       JSON_DEPTH_MAX);
		return NULL;
	}
	value = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
	if (!value) {
		(void)diag_set(diag, -EINVAL, "%s:%d:%d: not JSON: %s", name, error.line,
			       error.column, error.text);
		return NULL;
	}
	if (!json_is_object(value)) {
		(void)diag_set(diag, -EINVAL, "%s: must be a JSON object", name);
		json_decref(value);
		return NULL;
	}
	return value;
}

void model_json_release(json_t **value)
{
	json_decref(*value);
}

const char *model_json_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

double model_json_number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	double number = json_is_number(value) ? json_number_value(value) : (double)NAN;

	return isfinite(number) ? number : (double)NAN;
}

uint32_t model_json_u32(const json_t *object, const char *key, uint32_t none)
{
	double number = model_json_number(object, key);

	return number >= 0 && number <= (double)UINT32_MAX ? (uint32_t)number : none;
}

static int add_piece(const char *buffer, size_t size, void *data)
{
	strbuf_add(data, buffer, size);
	return 0;
}

bool model_json_dump(const json_t *value, struct strbuf *out)
{
	int r = json_dump_callback(value, add_piece, out,
				   JSON_SORT_KEYS | JSON_INDENT(1) |
					   JSON_REAL_PRECISION(DUMP_DIGITS));

	strbuf_add_char(out, '\n');
	return r == 0 && strbuf_error(out) == 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "model/json_values.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"

int json_value_refuse(const struct json_source *source, const char *place, const char *fmt, ...)
{
	char text[DIAG_TEXT_MAX];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return diag_set(source->diag, -EINVAL, "%s: %s%s%s", source->file, place,
			place[0] ? ": " : "", text);
}

static int get(const struct json_source *source, const json_t *object, const char *place,
	       const char *key, json_type type, const char *what, const json_t **ret)
{
	const json_t *value = json_object_get(object, key);

	if (!value)
		return json_value_refuse(source, place, "\"%s\" is missing", key);
	if (json_typeof(value) != type)
		return json_value_refuse(source, place, "\"%s\" must be %s", key, what);
	*ret = value;
	return 0;
}

int json_value_object(const struct json_source *source, const json_t *object, const char *place,
		      const char *key, const json_t **ret)
{
	return get(source, object, place, key, JSON_OBJECT, "an object", ret);
}

int json_value_array(const struct json_source *source, const json_t *object, const char *place,
		     const char *key, size_t max, const json_t **ret)
{
	const json_t *array = NULL;
	int r = get(source, object, place, key, JSON_ARRAY, "an array", &array);

	if (r < 0)
		return r;
	if (json_array_size(array) > max)
		return json_value_refuse(source, place, "\"%s\" has %zu elements, more than %zu",
					 key, json_array_size(array), max);
	*ret = array;
	return 0;
}

int json_value_number(const struct json_source *source, const json_t *object, const char *place,
		      const char *key, double *ret)
{
	const json_t *value = json_object_get(object, key);

	if (!value)
		return json_value_refuse(source, place, "\"%s\" is missing", key);
	if (!json_is_number(value) || !isfinite(json_number_value(value)))
		return json_value_refuse(source, place, "\"%s\" must be a finite number", key);
	*ret = json_number_value(value);
	return 0;
}

int json_value_number_or(const struct json_source *source, const json_t *object, const char *place,
			 const char *key, double otherwise, double *ret)
{
	const json_t *value = json_object_get(object, key);

	if (value && !json_is_null(value))
		return json_value_number(source, object, place, key, ret);
	*ret = otherwise;
	return 0;
}

static bool is_count(const json_t *value, uint64_t max)
{
	return json_is_integer(value) && json_integer_value(value) >= 0 &&
	       (uint64_t)json_integer_value(value) <= max;
}

int json_value_count(const struct json_source *source, const json_t *object, const char *place,
		     const char *key, uint64_t max, uint64_t *ret)
{
	const json_t *value = json_object_get(object, key);

	if (value && !is_count(value, max))
		return json_value_refuse(source, place,
					 "\"%s\" must be a whole number from 0 to %ju", key,
					 (uintmax_t)max);
	*ret = value ? (uint64_t)json_integer_value(value) : 0;
	return 0;
}

static bool has_control(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return true;
	}
	return false;
}

int json_value_text(const struct json_source *source, const json_t *object, const char *place,
		    const char *key, char *ret, size_t size)
{
	const json_t *value = json_object_get(object, key);
	const char *text = value ? json_string_value(value) : "";

	if (!text)
		return json_value_refuse(source, place, "\"%s\" must be text", key);
	if (strlen(text) >= size)
		return json_value_refuse(source, place, "\"%s\" is longer than %zu bytes", key,
					 size - 1);
	if (has_control(text))
		return json_value_refuse(source, place, "\"%s\" has a control character", key);
	(void)snprintf(ret, size, "%s", text);
	return 0;
}

int json_value_numbers(const struct json_source *source, const json_t *object, const char *place,
		       const char *key, size_t max, double **ret, size_t *ret_count)
{
	CLEANUP_FREE double *numbers = NULL;
	const json_t *array = NULL;
	size_t count;
	int r = json_value_array(source, object, place, key, max, &array);

	if (r < 0)
		return r;
	count = json_array_size(array);
	if (count > 0 && ARRAY_RESIZE(numbers, count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const json_t *value = json_array_get(array, i);

		if (!json_is_number(value) || !isfinite(json_number_value(value)))
			return json_value_refuse(source, place,
						 "\"%s\"[%zu] must be a finite number", key, i);
		numbers[i] = json_number_value(value);
	}
	*ret = TAKE_PTR(numbers);
	*ret_count = count;
	return 0;
}

int json_value_counts(const struct json_source *source, const json_t *object, const char *place,
		      const char *key, size_t count, uint32_t max, uint32_t **ret)
{
	CLEANUP_FREE uint32_t *numbers = NULL;
	const json_t *array = NULL;
	int r = json_value_array(source, object, place, key, count, &array);

	if (r < 0)
		return r;
	if (json_array_size(array) != count)
		return json_value_refuse(source, place, "\"%s\" has %zu elements, not %zu", key,
					 json_array_size(array), count);
	if (count > 0 && ARRAY_RESIZE(numbers, count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const json_t *value = json_array_get(array, i);

		if (!is_count(value, max))
			return json_value_refuse(source, place,
						 "\"%s\"[%zu] must be a whole number from 0 to %u",
						 key, i, max);
		numbers[i] = (uint32_t)json_integer_value(value);
	}
	*ret = TAKE_PTR(numbers);
	return 0;
}

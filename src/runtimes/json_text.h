/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Untrusted JSON, parsed by jansson: one array element at a time, strings are never NULL, and text
 * that is nested too deeply is refused (base/text/json_scan.h).
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

typedef int json_element_fn(void *userdata, const json_t *element);

/*
 * Calls @fn with each element of the array in @text. 0, what @fn returned if not 0, or -EBADMSG
 * where the text stops being an array of JSON values. Too deep: -EBADMSG before any call.
 */
int json_each_element(const char *text, size_t len, json_element_fn *fn, void *userdata);

/* The object in @text, owned by the caller; NULL: not an object, or too deep. */
json_t *json_read_object(const char *text, size_t len);

/* The string under @key; "" when there is none. */
const char *json_text(const json_t *object, const char *key);

static inline void json_cleanup(json_t **json)
{
	json_decref(*json);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * A list of a thousand containers takes ten times its bytes as a tree, so it is never built: the
 * brackets and commas are read here, and jansson parses one element and reports where it ended. A
 * NUL inside a string is allowed and cuts that string: it must not cost the elements that follow.
 */
#include "runtimes/json_text.h"

#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "base/text/json_scan.h"

#define ELEMENT_FLAGS (JSON_DISABLE_EOF_CHECK | JSON_DECODE_ANY | JSON_ALLOW_NUL)

static size_t skip_space(const char *text, size_t len, size_t at)
{
	while (at < len && json_is_blank(text[at]))
		at++;
	return at;
}

/* Reads the element at *at, and moves *at after it. */
static int one_element(const char *text, size_t len, size_t *at, json_element_fn *fn, void *data)
{
	json_error_t error;
	json_t *element CLEANUP(json_cleanup) =
		json_loadb(text + *at, len - *at, ELEMENT_FLAGS, &error);

	if (!element || error.position <= 0 || (size_t)error.position > len - *at)
		return -EBADMSG;
	*at += (size_t)error.position;
	return fn(data, element);
}

int json_each_element(const char *text, size_t len, json_element_fn *fn, void *userdata)
{
	size_t at = skip_space(text, len, 0);

	if (at >= len || text[at] != '[' || json_is_too_deep(text, len))
		return -EBADMSG;
	at = skip_space(text, len, at + 1);
	if (at < len && text[at] == ']')
		return 0;
	for (;;) {
		int r = one_element(text, len, &at, fn, userdata);

		if (r != 0)
			return r;
		at = skip_space(text, len, at);
		if (at < len && text[at] == ']')
			return 0;
		if (at >= len || text[at] != ',')
			return -EBADMSG;
		at = skip_space(text, len, at + 1);
	}
}

json_t *json_read_object(const char *text, size_t len)
{
	json_t *json =
		json_is_too_deep(text, len) ? NULL : json_loadb(text, len, JSON_ALLOW_NUL, NULL);

	if (json && !json_is_object(json)) {
		json_decref(json);
		return NULL;
	}
	return json;
}

const char *json_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

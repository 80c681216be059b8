// SPDX-License-Identifier: Apache-2.0
/* Brackets outside of strings are counted. */
#include "base/json_depth.h"

bool json_is_too_deep(const char *text, size_t len)
{
	const char *end = text + len;
	bool in_string = false;
	size_t depth = 0;

	for (; text < end; text++) {
		if (in_string && *text == '\\')
			text++;
		else if (*text == '"')
			in_string = !in_string;
		else if (!in_string && (*text == '{' || *text == '['))
			depth++;
		else if (!in_string && (*text == '}' || *text == ']') && depth)
			depth--;
		if (depth > JSON_DEPTH_MAX)
			return true;
	}
	return false;
}

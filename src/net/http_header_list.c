// SPDX-License-Identifier: Apache-2.0
#include "net/http_header_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN_MAX 16384

/* Only printable ASCII is allowed: the end of a line would begin another header. */
static bool is_header_value(const char *text)
{
	for (; *text; text++) {
		if (*text <= ' ' || *text > '~')
			return false;
	}
	return true;
}

int http_header_list_add_line(const struct curl_library *curl, const char *line,
			      struct curl_slist **list)
{
	struct curl_slist *longer = curl->slist_append(*list, line);

	if (longer)
		*list = longer;
	return longer ? 0 : -ENOMEM;
}

int http_header_list_add(const struct curl_library *curl, const char *name, const char *value,
			 struct curl_slist **list)
{
	size_t name_len = strlen(name), len = strlen(value);
	char *line = malloc(name_len + len + 1);
	int r;

	if (!line)
		return -ENOMEM;
	memcpy(line, name, name_len);
	memcpy(line + name_len, value, len + 1);
	r = http_header_list_add_line(curl, line, list);
	explicit_bzero(line, name_len + len);
	free(line);
	return r;
}

bool http_header_is_token(const char *token)
{
	return !token || (is_header_value(token) && strlen(token) <= TOKEN_MAX);
}

void http_header_list_free(const struct curl_library *curl, struct curl_slist *list)
{
	for (struct curl_slist *line = list; line; line = line->next)
		explicit_bzero(line->data, strlen(line->data));
	curl->slist_free_all(list);
}

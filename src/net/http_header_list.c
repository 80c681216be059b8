// SPDX-License-Identifier: Apache-2.0
#include "net/http_header_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/ascii.h"

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

/* RFC 9110, 5.6.2: a token. */
static bool is_header_name(const char *name)
{
	static const char others[] = "!#$%&'*+-.^_`|~";
	size_t len = 0;

	for (; name[len]; len++) {
		if (!ascii_is_alnum(name[len]) && !strchr(others, name[len]))
			return false;
	}
	return len > 0 && len <= HTTP_HEADER_NAME_MAX;
}

int http_header_check(const char *name, const char *value, struct diag *diag)
{
	size_t len = strlen(value);

	if (!is_header_name(name))
		return diag_set(diag, -EINVAL,
				"must begin with the name of a header, such as X-Scope-OrgID");
	for (size_t i = 0; i < len; i++) {
		if (value[i] < ' ' || value[i] > '~')
			len = 0;
	}
	/* libcurl takes a name without a value as the wish to send no such header. */
	if (len == 0 || len > TOKEN_MAX || value[0] == ' ' || value[len - 1] == ' ')
		return diag_set(diag, -EINVAL,
				"%s must have a value of printable ASCII without blanks around it",
				name);
	return 0;
}

bool http_header_is_secret(const char *name)
{
	static const char *const parts[] = { "auth", "token", "key", "secret", "cookie", "passw" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (strcasestr(name, parts[i]))
			return true;
	}
	return false;
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

int http_header_list_add_all(const struct curl_library *curl, const struct http_header *headers,
			     size_t count, struct curl_slist **list, struct diag *diag)
{
	char name[HTTP_HEADER_NAME_MAX + 3];

	for (size_t i = 0; i < count; i++) {
		int r = http_header_check(headers[i].name, headers[i].value, diag);

		if (r < 0)
			return r;
		(void)snprintf(name, sizeof(name), "%s: ", headers[i].name);
		if (http_header_list_add(curl, name, headers[i].value, list) < 0)
			return diag_set(diag, -ENOMEM, "out of memory");
	}
	return 0;
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

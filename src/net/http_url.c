// SPDX-License-Identifier: Apache-2.0
/*
 * What is between "://" and the first slash, question mark or hash is the authority; its host
 * begins behind the last "@" and ends at the last colon that is not within brackets.
 */
#include "net/http_url.h"

#include <string.h>
#include <strings.h>

/* Where in @text, of @len bytes, the colon before a port is; @len where there is none. */
static size_t find_port(const char *text, size_t len)
{
	size_t at = len;

	while (at > 0 && text[at - 1] != ':' && text[at - 1] != ']')
		at--;
	return at > 0 && text[at - 1] == ':' ? at - 1 : len;
}

void http_url_split(const char *url, struct http_url *ret)
{
	const char *scheme_end = strstr(url, "://"), *user_end;
	size_t left;

	ret->authority = scheme_end ? scheme_end + 3 : url;
	ret->authority_len = strcspn(ret->authority, "/?#");
	user_end = memrchr(ret->authority, '@', ret->authority_len);
	ret->host = user_end ? user_end + 1 : ret->authority;
	left = ret->authority_len - (size_t)(ret->host - ret->authority);
	ret->host_len = find_port(ret->host, left);
}

bool http_url_has_user(const char *url)
{
	struct http_url parts;

	http_url_split(url, &parts);
	return parts.host != parts.authority;
}

bool http_url_is_https(const char *url)
{
	return strncasecmp(url, "https://", 8) == 0;
}

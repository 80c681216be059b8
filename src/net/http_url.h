/* SPDX-License-Identifier: Apache-2.0 */
/* Where in a URL does it say which host to ask? Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Parts of the text that was given; nothing of it is checked. */
struct http_url {
	const char *authority; /* "USER@HOST:PORT" */
	const char *host;      /* IPv6 in its brackets */
	size_t authority_len, host_len;
};

void http_url_split(const char *url, struct http_url *ret);
bool http_url_has_user(const char *url); /* or a password */
bool http_url_is_https(const char *url);

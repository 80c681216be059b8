/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the authority and the host in a URL, and escapes text as a part of a path. Pure. */
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
/* Is its host this machine: localhost, 127.0.0.0/8 or [::1]? */
bool http_url_is_loopback(const char *url);
/* How many bytes the scheme and host of @url take, at most 128: the rest may be secret or long. */
int http_url_site_len(const char *url);

/*
 * Writes @text as a segment of a path: all but letters, digits and "-._~" as %XX. 0, or -ENOSPC;
 * @buf is terminated in any case.
 */
int http_url_escape(const char *text, char *buf, size_t size);
/*
 * And back. 0; -ENOSPC; -EINVAL: a "%" without two hexadecimal digits, or a byte that no name has
 * (a control character).
 */
int http_url_unescape(const char *text, char *buf, size_t size);

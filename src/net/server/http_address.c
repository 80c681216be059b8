// SPDX-License-Identifier: Apache-2.0
/*
 * "HOST:PORT" as in --web.listen-address. This only parses the text; http_listen.c turns it into a
 * socket. A host is a numeric address or empty: a name would have to be looked up, and nothing in
 * this program waits for a resolver.
 */
#include "net/server/http_address.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"

/*
 * The host part of @text without brackets; the text after it begins with the colon. NULL when the
 * brackets are wrong.
 */
static const char *split_host(const char *text, const char **ret_host, size_t *ret_len)
{
	const char *end;

	if (text[0] == '[') {
		end = strchr(text, ']');
		if (!end || end == text + 1 || end[1] != ':')
			return NULL;
		*ret_host = text + 1;
		*ret_len = (size_t)(end - text - 1);
		return end + 1;
	}
	end = strchr(text, ':');
	if (!end || strchr(end + 1, ':'))
		return NULL;
	*ret_host = text;
	*ret_len = (size_t)(end - text);
	return end;
}

int http_parse_address(const char *text, char *host, size_t host_size, uint16_t *ret_port,
		       struct diag *diag)
{
	const char *name, *colon;
	uint64_t port;
	size_t len;

	colon = split_host(text, &name, &len);
	if (!colon)
		return diag_set(diag, -EINVAL,
				"\"%.200s\": must be HOST:PORT, [IPv6]:PORT, or :PORT for all "
				"addresses",
				text);
	if (parse_u64(colon + 1, strlen(colon + 1), &port) < 0 || port > UINT16_MAX ||
	    strchr(colon, '\n'))
		return diag_set(diag, -EINVAL,
				"\"%.200s\": the port must be a number from 0 to "
				"65535",
				text);
	if (len >= host_size)
		return diag_set(diag, -EINVAL, "\"%.200s\": the address is too long", text);
	memcpy(host, name, len);
	host[len] = '\0';
	*ret_port = (uint16_t)port;
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
/* A URL is taken apart at its first slash, and the part before that at its last colon. */
#include "net/http_route.h"

#include <errno.h>

#define SCHEME       "https://"
#define NAME_MAX_DNS 253

static bool is_name(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len <= NAME_MAX_DNS &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") ==
		       len;
}

/* Where in @authority, of @len bytes, the colon before a port is; @len where there is none. */
static size_t find_port(const char *authority, size_t len)
{
	size_t at = len;

	while (at > 0 && authority[at - 1] != ':' && authority[at - 1] != ']')
		at--;
	return at > 0 && authority[at - 1] == ':' ? at - 1 : len;
}

void http_route_release(struct http_route *route)
{
	strbuf_release(&route->url);
	strbuf_release(&route->connect_to);
	strbuf_release(&route->host);
}

int http_route_find(const char *url, const char *tls_name, struct http_route *ret)
{
	const char *authority = url + strlen(SCHEME), *port = ":443";
	struct http_route route = { 0 };
	size_t len, host_len;

	if (strncmp(url, SCHEME, strlen(SCHEME)) != 0 || !is_name(tls_name))
		return -EINVAL;
	len = strcspn(authority, "/?#");
	host_len = find_port(authority, len);
	if (host_len == 0 || memchr(authority, '@', len))
		return -EINVAL;
	if (host_len < len)
		port = authority + host_len;
	strbuf_addf(&route.url, SCHEME "%s%s", tls_name, authority + host_len);
	strbuf_addf(&route.connect_to, "%s%.*s:%.*s%.*s", tls_name, (int)strcspn(port, "/?#"), port,
		    (int)host_len, authority, (int)strcspn(port, "/?#"), port);
	strbuf_addf(&route.host, "Host: %.*s", (int)len, authority);
	if (strbuf_error(&route.url) || strbuf_error(&route.connect_to) ||
	    strbuf_error(&route.host)) {
		http_route_release(&route);
		return -ENOMEM;
	}
	*ret = route;
	return 0;
}

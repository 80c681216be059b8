// SPDX-License-Identifier: Apache-2.0
/* The name takes the host's place in the URL, and libcurl connects to the given address instead. */
#include "net/http_tls_name.h"

#include <errno.h>

#include "net/http_url.h"

#define SCHEME       "https://"
#define NAME_MAX_DNS 253

static bool is_name(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len <= NAME_MAX_DNS &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") ==
		       len;
}

void http_tls_name_release(struct http_tls_name *route)
{
	strbuf_release(&route->url);
	strbuf_release(&route->connect_to);
	strbuf_release(&route->host);
}

int http_tls_name_apply(const char *url, const char *tls_name, struct http_tls_name *ret)
{
	struct http_tls_name route = { 0 };
	const char *port = ":443";
	struct http_url parts;
	int port_len;

	http_url_split(url, &parts);
	if (!http_url_is_https(url) || http_url_has_user(url) || parts.host_len == 0 ||
	    !is_name(tls_name))
		return -EINVAL;
	if (parts.host_len < parts.authority_len)
		port = parts.host + parts.host_len;
	port_len = (int)strcspn(port, "/?#");
	strbuf_addf(&route.url, SCHEME "%s%s", tls_name, parts.host + parts.host_len);
	strbuf_addf(&route.connect_to, "%s%.*s:%.*s%.*s", tls_name, port_len, port,
		    (int)parts.host_len, parts.host, port_len, port);
	strbuf_addf(&route.host, "Host: %.*s", (int)parts.authority_len, parts.authority);
	if (strbuf_error(&route.url) || strbuf_error(&route.connect_to) ||
	    strbuf_error(&route.host)) {
		http_tls_name_release(&route);
		return -ENOMEM;
	}
	*ret = route;
	return 0;
}

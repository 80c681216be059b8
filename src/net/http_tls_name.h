/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that is reached at one address and has a certificate for another name, such as an API
 * server behind a tunnel or a load balancer. TLS uses the name, everything else the address. Pure.
 */
#pragma once

#include "base/strbuf.h"

struct http_tls_name {
	struct strbuf url;        /* with the name in place of the host: what TLS looks at */
	struct strbuf connect_to; /* "NAME:PORT:HOST:PORT", for libcurl */
	struct strbuf host;       /* "Host: HOST:PORT" */
};

void http_tls_name_release(struct http_tls_name *route);
/*
 * The route to @url (https:// without user) if its certificate has @tls_name, a DNS name or an IPv4
 * address. 0, -EINVAL or -ENOMEM; *ret is to be released only after 0.
 */
int http_tls_name_apply(const char *url, const char *tls_name, struct http_tls_name *ret);

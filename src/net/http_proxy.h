/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy that the environment names for a URL, by the rules of curl: https_proxy or HTTPS_PROXY
 * for https; http_proxy for http, in lower case only, because a web server's programs get a
 * request's header as HTTP_PROXY; else all_proxy or ALL_PROXY; none for what no_proxy or NO_PROXY
 * names.
 *
 * libcurl reads these variables itself, but compares no_proxy with the host of its URL. With
 * http_tls_name.h that is the name for TLS, and not the host that is asked.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A text of the environment; NULL: no proxy. */
const char *http_proxy_find(const char *url);
/*
 * True if @list, as in no_proxy, names @host, of @host_len bytes: a name, or an address (IPv6 in
 * brackets or not). The list has commas or blanks between "*" (every host), names (they and what is
 * below them, with or without a dot before), addresses, and networks as ADDRESS/BITS.
 */
bool http_proxy_is_excepted(const char *list, const char *host, size_t host_len);

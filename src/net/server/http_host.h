/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the host of a request. A page in a browser can make any name of its own point at this
 * machine (DNS rebinding) and then read what this machine answers; but it cannot choose the Host
 * header, which has that name. So names that an attacker can own are refused unless they are
 * allowed. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "net/server/http_own_names.h"

struct http_hosts {
	const char *const *names; /* "node1.example.org", "*.example.org", or "*" for all */
	size_t count;
	/* borrowed: where other machines can connect, those by which they do; NULL: none */
	const struct http_own_names *own;
};

/*
 * Is @host, of @len bytes ("NAME", "NAME:PORT", "[IPv6]:PORT"), a host that an attacker cannot own?
 * True for addresses, localhost, names without a dot, *.svc, *.cluster.local and those of @hosts,
 * regardless of case, port and final dot; also for an empty host.
 */
bool http_host_is_ours(const char *host, size_t len, const struct http_hosts *hosts);
/* Can @text stand in http_hosts.names? 0, or -EINVAL with what it must be. */
int http_host_check_name(const char *text, struct diag *diag);
/*
 * The path of a request's target, which may have its scheme and host before it; those are *ret_host
 * then, of *ret_len bytes, else NULL.
 */
const char *http_target_path(const char *target, const char **ret_host, size_t *ret_len);

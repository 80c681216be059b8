/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of requests that were refused with 421, so that the program can log each of them once. The
 * server's thread notes them, another takes them. A client chooses them, so their number is
 * limited: from HTTP_REFUSED_NAMES on, new ones are only counted, by http_stats.misdirected.
 */
#pragma once

#include <pthread.h>
#include <stddef.h>

#define HTTP_REFUSED_NAMES    16
#define HTTP_REFUSED_NAME_MAX 80 /* longer ones are cut */

struct http_refused {
	pthread_mutex_t lock;
	char names[HTTP_REFUSED_NAMES][HTTP_REFUSED_NAME_MAX + 1];
	size_t count, taken;
};

void http_refused_init(struct http_refused *refused);
/* @host: as in the request; characters that no name has are replaced by "?". */
void http_refused_note(struct http_refused *refused, const char *host, size_t len);
/* The next name that was not taken yet; NULL: none. It lives as long as @refused. */
const char *http_refused_take(struct http_refused *refused);

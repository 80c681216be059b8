/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the lists with weights of Accept and Accept-Encoding headers (RFC 9110 §12.4.2, §12.5).
 * Pure; any bytes may come. A weight is in thousandths: 1000 where none is named, 0 (a refusal)
 * where it is not a number of 0 to 1 with at most three decimals, because an unclear request need
 * not be served.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define HTTP_WEIGHT_MAX 1000U

/* Borrowed from the header. */
struct http_accepted {
	const char *name; /* "text/plain", "gzip", "*" */
	size_t name_len;
	const char *parameters; /* behind the name: "; version=1.0.0; q=0.5" */
	size_t parameters_len;
	unsigned weight; /* 0..HTTP_WEIGHT_MAX */
};

/* Takes the next element off @header, which moves on; false: there is none. */
bool http_accept_next(const char **header, struct http_accepted *ret);
/* Is that its name, without regard to case? */
bool http_accepted_is(const struct http_accepted *accepted, const char *name);
/* The first parameter of that name, as it is written (maybe in quotes), or NULL. */
const char *http_accepted_parameter(const struct http_accepted *accepted, const char *name,
				    size_t *ret_len);
/* Does an Accept-Encoding header offer gzip? "gzip" or "x-gzip" decides before "*". */
bool http_accepts_gzip(const char *accept_encoding);

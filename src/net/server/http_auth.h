/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bearer tokens of a server (RFC 6750): a request must present one of them. The server asks
 * before it looks for a route, so a new route is closed unless it says otherwise
 * (http_route.is_open).
 *
 * The tokens are read from a file with one per line. Empty lines and lines that begin with "#" are
 * skipped. Comparing takes the same time whether a token is right, wrong or nearly right.
 */
#pragma once

#include <stdbool.h>

#include "base/diag.h"

#define HTTP_TOKENS_MAX 256
#define HTTP_TOKEN_MIN  16 /* characters */
#define HTTP_TOKEN_MAX  512

struct http_auth; /* does not change once it is made */

/*
 * Reads the tokens from the file @path, which only its owner may be able to read. 0 or -errno with
 * a diagnosis that names the file and the line.
 */
int http_auth_open(const char *path, struct http_auth **ret, struct diag *diag);
void http_auth_free(struct http_auth *auth); /* NULL is fine */
/* Returns true if the value of a request's Authorization header presents one of the tokens. */
bool http_auth_admits(const struct http_auth *auth, const char *authorization);
/* The token in the value of an Authorization header; NULL: it has another scheme. */
const char *http_auth_bearer(const char *authorization);
/* The first of the tokens: for a client of the same server on this machine. */
const char *http_auth_token(const struct http_auth *auth);
/* As http_auth_open(), from the @text of a file called @name. */
int http_auth_parse(const char *name, const char *text, struct http_auth **ret, struct diag *diag);

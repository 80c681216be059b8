/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Users with passwords (RFC 7617), which are stored as bcrypt hashes. To compare one costs about
 * 70 ms at cost 10, on purpose, so that it is not done on the thread that serves: a question that
 * has not been asked before is PENDING, and is to be asked again.
 *
 * Answers are kept, by an HMAC of name, hash and password under a key that only this process has.
 * An unknown name is compared with a hash that no password has, so that it takes the same time. One
 * comparison is made at a time; after a wrong password the next waits for three times as long as it
 * took, so that guesses, however many, cost a quarter of one CPU, and no more than WAITING_MAX may
 * wait, WAITING_PER_PEER of them from one address.
 */
#pragma once

#include <stdint.h>

#include "base/diag.h"
#include "net/web/web_config.h"

#define HTTP_BASIC_WAITING_MAX      16
#define HTTP_BASIC_WAITING_PER_PEER 4
#define HTTP_BASIC_PAUSE_TIMES      3

enum http_basic_verdict {
	HTTP_BASIC_REFUSED,
	HTTP_BASIC_ADMITTED,
	HTTP_BASIC_PENDING, /* is being compared: ask again */
	HTTP_BASIC_BUSY,    /* too many wait already */
};

struct http_basic_stats {
	uint64_t comparisons; /* hashes that were computed */
	uint64_t wrong;       /* of these, for a wrong password or name */
	uint64_t busy;        /* questions that were not taken: HTTP_BASIC_BUSY */
};

struct http_basic_auth;

/*
 * Needs libcrypt, loaded before (crypt_library.h), and starts a thread. 0 or -errno with a
 * diagnosis.
 */
int http_basic_auth_new(struct http_basic_auth **ret, struct diag *diag);
/* Waits for the comparison under way. NULL is fine. */
void http_basic_auth_free(struct http_basic_auth *auth);
/*
 * Is this the password of the user @name of @config? @peer is a hash of the address. Any thread. It
 * takes microseconds, and all memory with a password is cleared.
 */
enum http_basic_verdict http_basic_auth_ask(struct http_basic_auth *auth,
					    const struct web_config *config, const char *name,
					    const char *password, uint64_t peer);
void http_basic_auth_get_stats(struct http_basic_auth *auth, struct http_basic_stats *ret);

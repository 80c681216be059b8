/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which requests a server admits: by tokens (http_auth.h), users with passwords
 * (http_basic_auth.h), a third party that knows further tokens (http_review.h), and the limit on
 * requests of a web configuration (web_security.h). One of the tokens or users is enough; without
 * any of these, all requests are admitted.
 *
 * The server's thread asks; other threads may replace what is admitted at any time.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <microhttpd.h>

#include "base/diag.h"
#include "net/server/http_auth.h"
#include "net/server/http_basic_auth.h"
#include "net/server/http_connections.h"
#include "net/server/http_rate.h"
#include "net/server/http_review.h"
#include "net/web/web_security.h"

/* The longest that a request waits for the verdict on it. */
#define HTTP_GATE_HOLD_NS (5ULL * 1000000000ULL)

struct http_gate {
	pthread_mutex_t lock;
	struct http_auth *tokens;          /* owned, under the lock; NULL: none */
	struct web_security *security;     /* a reference, under the lock; NULL: none */
	struct http_basic_auth *passwords; /* owned, atomic; made with the first users, and kept */
	struct http_reviewer reviewer;     /* does not change; .ask NULL: none */
	struct http_rate rate;             /* of the server's thread */
};

void http_gate_init(struct http_gate *gate);
void http_gate_release(struct http_gate *gate);
/* Replaces the tokens by @tokens, which is taken over. */
void http_gate_set_tokens(struct http_gate *gate, struct http_auth *tokens);
/*
 * Replaces the web configuration; a reference to @security is taken over if this succeeds. 0 or
 * -errno with a diagnosis: then the earlier one stays.
 */
int http_gate_set_security(struct http_gate *gate, struct web_security *security,
			   struct diag *diag);
/* A reference to the web configuration, or NULL. */
struct web_security *http_gate_security(struct http_gate *gate);
/*
 * The verdict on the request of @mhd after its headers have come. @question: what it asks for,
 * without the token; NULL: it needs neither token nor password and counts against no limit, as
 * health checks.
 */
enum http_verdict http_gate_ask(struct http_gate *gate, struct MHD_Connection *mhd,
				const struct http_connection *connection,
				const struct http_question *question, uint64_t now_ns);
/* The schemes for WWW-Authenticate: "Basic realm=…", "Bearer", or both. Static. */
const char *http_gate_schemes(struct http_gate *gate);
/* All 0 without users. */
struct http_basic_stats http_gate_password_stats(const struct http_gate *gate);

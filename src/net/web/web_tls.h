/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS of a server by exporter-toolkit's rules: its certificate, the versions and suites, and which
 * certificates of clients are accepted. libmicrohttpd has one set of credentials for its whole
 * life; here each connection gets the newest before its handshake, so that a renewed certificate
 * counts from the next connection on.
 *
 * Clients' certificates are verified during the handshake, so that a client without the right one
 * gets an alert and never a connection. Thread-safe; it does not change once it is made.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "net/web/web_config.h"

struct web_tls;

/*
 * From @config, which stays the caller's, and the PEM texts that it names; @ca may be NULL. 0, or
 * -errno with a diagnosis without a position, which says which of them is wrong.
 */
int web_tls_new(const struct web_config *config, const char *certificate, const char *key,
		const char *ca, struct web_tls **ret, struct diag *diag);
void web_tls_free(struct web_tls *tls); /* NULL is fine */
/*
 * Sets up a gnutls_session_t before its handshake. @tls must outlive the handshake. Certificates of
 * clients that are refused are counted in @refused, atomically. 0 or -EIO: the connection must be
 * closed, because the library has no credentials of its own.
 */
int web_tls_attach(const struct web_tls *tls, void *session, uint64_t *refused);
/* Days until the first certificate ends, negative once it has; INT32_MAX: not known. */
int web_tls_days_left(const struct web_tls *tls, int64_t now_s);

/* SPDX-License-Identifier: Apache-2.0 */
/* Options of all commands that have an HTTP server: its connections and its TLS. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "net/http_server.h"
#include "options/option.h"

#define WEB_OPTION_COUNT 5
#define WEB_HOSTS_MAX    64

struct web_values {
	char *allowed_hosts[WEB_HOSTS_MAX];
	size_t allowed_hosts_count;
	char *socket_mode, *certificate, *key;
	uint32_t max_connections;
};

/* Rows over struct web_values. */
extern const struct option web_rows_of_options[WEB_OPTION_COUNT];

/* Whether they go together: 0 or -EINVAL with a diagnosis. */
int web_options_check(const struct web_values *values, struct diag *diag);
/*
 * The text of a PEM file, given in *ret; a @secret one only its owner may read. 0 or -errno with a
 * diagnosis.
 */
int web_options_read_pem(const char *path, bool secret, char **ret, struct diag *diag);
/*
 * Starts a server with addresses and routes of @options, and all else from @values, which it
 * borrows. 0 or -errno with a diagnosis.
 */
int web_options_start(const struct web_values *values, const struct http_options *options,
		      struct http_server **ret, struct diag *diag);
/* Logs where the server listens. */
void web_options_say_addresses(const struct web_values *values, const struct http_server *server);

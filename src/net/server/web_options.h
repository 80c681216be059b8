/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a program that has an HTTP server: where it listens, which Host headers it
 * accepts, its limits, TLS, and the tokens of its clients. Every program has the same ones, so that
 * none of them can offer a server without TLS or tokens.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "net/server/http_listen.h"
#include "net/server/http_server.h"
#include "options/option.h"

#define WEB_OPTION_COUNT 6
#define WEB_LISTEN_MAX   8
#define WEB_HOSTS_MAX    64

struct web_values {
	char *listen[WEB_LISTEN_MAX];
	size_t listen_count;
	char *allowed_hosts[WEB_HOSTS_MAX];
	size_t allowed_hosts_count;
	char *socket_mode, *certificate, *key, *token_file, *config_file;
	uint32_t max_connections;
};

/* Rows over struct web_values, the same for every program. */
extern const struct option web_rows_of_options[WEB_OPTION_COUNT];

/*
 * Rows with a default of each program, for a section over the struct @type, which has a member
 * `struct web_values web`.
 */
#define WEB_LISTEN_OPTION(type, address)                                                           \
	{                                                                                          \
		"web.listen-address", "web.listenAddresses", OPTION_STRINGS,                       \
			.offset = offsetof(type, web.listen),                                      \
			.count_offset = offsetof(type, web.listen_count),                          \
			.list_max = WEB_LISTEN_MAX, .default_text = (address),                     \
			.metavar = "ADDRESS", .check = http_listen_check, .known_as = "port",      \
			.help = "Address to listen on: HOST:PORT, [IPV6]:PORT, :PORT for all "     \
				"addresses, unix:PATH for a socket in an existing directory, or "  \
				"vsock://:PORT between a virtual machine and its host."            \
	}
#define WEB_CONNECTIONS_OPTION(type, number)                                                       \
	{                                                                                          \
		"web.max-connections", NULL, OPTION_U32,                                           \
			.offset = offsetof(type, web.max_connections), .min = 4, .max = 10000,     \
			.default_text = (number), .metavar = "N",                                  \
			.help = "Limit on simultaneous connections. Beyond it, idle and slow "     \
				"clients lose theirs first."                                       \
	}

/* Checks that the values go together: 0 or -EINVAL with a diagnosis. */
int web_options_check(const struct web_values *values, struct diag *diag);
/*
 * Reads the file of web.config-file, and those that it names, in *ret: a reference, or NULL if the
 * option is not set. They must not set what other options set. 0 or -errno with a diagnosis.
 */
int web_options_open_security(const struct web_values *values, struct web_security **ret,
			      struct diag *diag);
/*
 * The text of a PEM file, given in *ret; a @secret one only its owner may read. 0 or -errno with a
 * diagnosis.
 */
int web_options_read_pem(const char *path, bool secret, char **ret, struct diag *diag);
/*
 * Completes @options, which has routes and maybe names and tokens, with everything else from
 * @values, which it borrows: the files are read here. Without names in @options, the server is
 * reached as the host of this machine. 0 or -errno with a diagnosis; in both cases tokens in
 * @options are the caller's until a server takes them over, and web_options_release() frees the
 * rest.
 */
int web_options_apply(const struct web_values *values, struct http_options *options,
		      struct diag *diag);
void web_options_release(struct http_options *options);
/* Starts a server with @options, completed as above. 0 or -errno with a diagnosis. */
int web_options_start(const struct web_values *values, const struct http_options *options,
		      struct http_server **ret, struct diag *diag);
/*
 * Reads the tokens and the web configuration again; on failure the earlier ones stay valid. 0 or
 * -errno with a diagnosis.
 */
int web_options_reload(const struct web_values *values, struct http_server *server,
		       struct diag *diag);
/* Logs where the server listens. */
void web_options_say_addresses(const struct http_server *server);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file in the format of --web.config.file of Prometheus and its exporters (exporter-toolkit,
 * docs/web-configuration.md there): TLS, users with passwords, headers of answers, a limit on
 * requests. Pure: the text becomes values; the files that it names are read by web_security.h.
 *
 * What exporter-toolkit refuses is refused here, and a little more: a file without any key, TLS
 * without a certificate or below 1.2, rules for certificates of clients that would check nothing.
 * Each is a diagnosis NAME:LINE:COLUMN with the key.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define WEB_CONFIG_MAX   (1U << 20) /* bytes of a file */
#define WEB_USERS_MAX    1024
#define WEB_SANS_MAX     256
#define WEB_HEADER_COUNT 5
#define WEB_BCRYPT_LEN   60 /* of a hash, as text */
#define WEB_COST_MAX     14 /* of bcrypt: about a second */

enum web_client_auth {
	WEB_CLIENT_NONE,         /* no certificate is asked for */
	WEB_CLIENT_REQUEST,      /* asked for, and not verified */
	WEB_CLIENT_ANY,          /* required, and not verified */
	WEB_CLIENT_VERIFY_GIVEN, /* not required; if there is one, it is verified */
	WEB_CLIENT_VERIFY,       /* required and verified */
};

/* At most one of both. */
struct web_pem {
	char *text;          /* inline */
	char *path;          /* with the folder of the file, if it is relative */
	size_t line, column; /* where that stands; the file's first line is 1 */
};

struct web_user {
	char *name, *hash; /* "$2y$10$…" */
};

struct web_config {
	bool has_tls;
	bool asks_http2; /* it says http2: true */
	struct web_pem cert, key, client_ca;
	enum web_client_auth client_auth;
	char **sans; /* a client's certificate needs one of them; none: any */
	size_t san_count;
	char *priority;                  /* of GnuTLS */
	char *headers[WEB_HEADER_COUNT]; /* by web_header_names[]; NULL: not set */
	struct web_user *users;          /* sorted by name */
	size_t user_count;
	unsigned max_cost;         /* of the users' hashes */
	uint64_t rate_interval_ns; /* from one request to the next; 0: no limit */
	uint32_t rate_burst;
};

extern const char *const web_header_names[WEB_HEADER_COUNT];

/* @name stands for the file, and has its folder. 0, -EINVAL or -ENOMEM with a diagnosis. */
int web_config_parse(const char *name, const char *text, size_t len, struct web_config **ret,
		     struct diag *diag);
void web_config_free(struct web_config *config); /* NULL is fine */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that Go has for cipher suites and curves (crypto/tls), in which exporter-toolkit's file
 * is written, and the GnuTLS priority string that allows these and no others. Pure.
 *
 * GnuTLS has no list of suites: it combines lists of key exchanges, ciphers and MACs. A list whose
 * combinations include a suite that it does not name is therefore refused. The ciphers of the list
 * are also those of TLS 1.3, whereas Go ignores the list there.
 */
#pragma once

#include <stddef.h>

#include "base/diag.h"

#define WEB_TLS_SUITES_MAX 32
#define WEB_TLS_CURVES_MAX 8

struct web_tls_choice {
	unsigned min_version, max_version; /* 12 or 13 */
	int suites[WEB_TLS_SUITES_MAX];    /* of web_tls_suite(); none: those of GnuTLS */
	size_t suite_count;
	int curves[WEB_TLS_CURVES_MAX]; /* of web_tls_curve(); none: those of GnuTLS */
	size_t curve_count;
	int client_precedence; /* the client's order of suites decides */
};

/* The number of the suite or curve with this name, or -EINVAL with a diagnosis (what is wrong). */
int web_tls_suite(const char *name, struct diag *diag);
int web_tls_curve(const char *name, struct diag *diag);
/*
 * The priority string, in *ret, given to the caller. 0, -ENOMEM, or -EINVAL with a diagnosis: no
 * suite is left, or one that is not named would be allowed.
 */
int web_tls_priority(const struct web_tls_choice *choice, char **ret, struct diag *diag);

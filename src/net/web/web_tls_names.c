// SPDX-License-Identifier: Apache-2.0
#include "net/web/web_tls_names.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/macro.h"
#include "base/strbuf.h"

/* The parts of a suite, by their names in a GnuTLS priority string. kx: NULL with TLS 1.3. */
static const struct suite {
	const char *name, *kx, *cipher, *mac;
} suites[] = {
	{ "TLS_AES_128_GCM_SHA256", NULL, "AES-128-GCM", "AEAD" },
	{ "TLS_AES_256_GCM_SHA384", NULL, "AES-256-GCM", "AEAD" },
	{ "TLS_CHACHA20_POLY1305_SHA256", NULL, "CHACHA20-POLY1305", "AEAD" },
	{ "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA", "AES-128-GCM", "AEAD" },
	{ "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA", "AES-256-GCM", "AEAD" },
	{ "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA", "CHACHA20-POLY1305",
	  "AEAD" },
	{ "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA", "AES-128-CBC", "SHA1" },
	{ "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA", "AES-256-CBC", "SHA1" },
	{ "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA", "AES-128-GCM", "AEAD" },
	{ "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA", "AES-256-GCM", "AEAD" },
	{ "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA", "CHACHA20-POLY1305", "AEAD" },
	{ "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA", "AES-128-CBC", "SHA1" },
	{ "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA", "AES-256-CBC", "SHA1" },
	{ "TLS_RSA_WITH_AES_128_GCM_SHA256", "RSA", "AES-128-GCM", "AEAD" },
	{ "TLS_RSA_WITH_AES_256_GCM_SHA384", "RSA", "AES-256-GCM", "AEAD" },
	{ "TLS_RSA_WITH_AES_128_CBC_SHA", "RSA", "AES-128-CBC", "SHA1" },
	{ "TLS_RSA_WITH_AES_256_CBC_SHA", "RSA", "AES-256-CBC", "SHA1" },
};

static const struct curve {
	const char *name, *group;
} curves[] = {
	{ "CurveP256", "SECP256R1" },
	{ "CurveP384", "SECP384R1" },
	{ "CurveP521", "SECP521R1" },
	{ "X25519", "X25519" },
};

int web_tls_suite(const char *name, struct diag *diag)
{
	for (size_t i = 0; i < ARRAY_SIZE(suites); i++) {
		if (strcmp(suites[i].name, name) == 0)
			return (int)i;
	}
	return diag_set(diag, -EINVAL,
			"\"%.80s\" is not a cipher suite that this server offers; the names are "
			"those of Go, as in TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, without those "
			"that Go calls insecure",
			name);
}

int web_tls_curve(const char *name, struct diag *diag)
{
	for (size_t i = 0; i < ARRAY_SIZE(curves); i++) {
		if (strcmp(curves[i].name, name) == 0)
			return (int)i;
	}
	return diag_set(diag, -EINVAL,
			"\"%.80s\" is not a curve that this server offers: CurveP256, CurveP384, "
			"CurveP521 or X25519",
			name);
}

static bool is_listed(const struct web_tls_choice *choice, size_t suite)
{
	for (size_t i = 0; i < choice->suite_count; i++) {
		if ((size_t)choice->suites[i] == suite)
			return true;
	}
	return false;
}

/* Has a suite of the list this part? The parts are the table's own texts, but compared by value. */
static bool has_part(const struct web_tls_choice *choice, size_t part, const char *name)
{
	for (size_t i = 0; i < choice->suite_count; i++) {
		const struct suite *suite = &suites[choice->suites[i]];
		const char *own[] = { suite->kx, suite->cipher, suite->mac };

		if (own[part] && strcmp(own[part], name) == 0)
			return true;
	}
	return false;
}

/* TLS 1.3's own names need no counterpart: a cipher of the list is one of TLS 1.3's, too. */
static int check_closure(const struct web_tls_choice *choice, struct diag *diag)
{
	for (size_t i = 0; i < ARRAY_SIZE(suites); i++) {
		const struct suite *suite = &suites[i];

		if (!suite->kx || choice->min_version > 12 || is_listed(choice, i) ||
		    !has_part(choice, 0, suite->kx) || !has_part(choice, 1, suite->cipher) ||
		    !has_part(choice, 2, suite->mac))
			continue;
		return diag_set(diag, -EINVAL,
				"this list would allow %s as well, because GnuTLS combines key "
				"exchanges and ciphers freely: add it, or remove the suites with "
				"its key exchange or its cipher",
				suite->name);
	}
	return 0;
}

static void add_parts(const struct web_tls_choice *choice, size_t part, struct strbuf *out)
{
	for (size_t i = 0; i < choice->suite_count; i++) {
		const struct suite *suite = &suites[choice->suites[i]];
		const char *own[] = { suite->kx, suite->cipher, suite->mac };
		struct web_tls_choice earlier = *choice;

		earlier.suite_count = i;
		if (own[part] && !has_part(&earlier, part, own[part]))
			strbuf_addf(out, ":+%s", own[part]);
	}
}

int web_tls_priority(const struct web_tls_choice *choice, char **ret, struct diag *diag)
{
	struct strbuf out = STRBUF_INIT;
	bool with_12 = choice->min_version == 12, with_13 = choice->max_version == 13;
	bool has_12 = !choice->suite_count, has_13 = !choice->suite_count;
	int r = check_closure(choice, diag);

	if (r < 0)
		return r;
	for (size_t i = 0; i < choice->suite_count; i++) {
		const struct suite *suite = &suites[choice->suites[i]];

		has_12 = has_12 || suite->kx;
		has_13 = has_13 || strcmp(suite->mac, "AEAD") == 0;
	}
	if (!(with_12 && has_12) && !(with_13 && has_13))
		return diag_set(diag, -EINVAL,
				"none of these suites belongs to a TLS version from min_version to "
				"max_version");
	strbuf_add_str(&out, "NORMAL:-VERS-ALL");
	if (with_13 && has_13)
		strbuf_add_str(&out, ":+VERS-TLS1.3");
	if (with_12 && has_12)
		strbuf_add_str(&out, ":+VERS-TLS1.2");
	if (choice->suite_count) {
		strbuf_add_str(&out, has_12 ? ":-KX-ALL" : "");
		add_parts(choice, 0, &out);
		strbuf_add_str(&out, ":-CIPHER-ALL");
		add_parts(choice, 1, &out);
		strbuf_add_str(&out, ":-MAC-ALL");
		add_parts(choice, 2, &out);
	}
	if (choice->curve_count)
		strbuf_add_str(&out, ":-GROUP-ALL");
	for (size_t i = 0; i < choice->curve_count; i++)
		strbuf_addf(&out, ":+GROUP-%s", curves[choice->curves[i]].group);
	if (!choice->client_precedence)
		strbuf_add_str(&out, ":%SERVER_PRECEDENCE");
	if (strbuf_error(&out) < 0) {
		strbuf_release(&out);
		return diag_set(diag, -ENOMEM, "out of memory");
	}
	*ret = out.data; /* it is the caller's now */
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "net/web/web_tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

#define SAN_TEXT_MAX 1024

struct web_tls {
	gnutls_certificate_credentials_t credentials;
	gnutls_priority_t priorities;
	enum web_client_auth client_auth;
	char **sans;
	size_t san_count;
	int64_t ends_s; /* of the certificate; -1: not known */
};

void web_tls_free(struct web_tls *tls)
{
	if (!tls)
		return;
	if (tls->credentials)
		gnutls_certificate_free_credentials(tls->credentials);
	if (tls->priorities)
		gnutls_priority_deinit(tls->priorities);
	for (size_t i = 0; i < tls->san_count; i++)
		free(tls->sans[i]);
	free(tls->sans);
	free(tls);
}

static void free_tls(struct web_tls **tls)
{
	web_tls_free(*tls);
}

static gnutls_datum_t datum(const char *text)
{
	return (gnutls_datum_t){ (unsigned char *)(uintptr_t)text, (unsigned)strlen(text) };
}

static int64_t end_of(const char *certificate)
{
	const gnutls_datum_t data = datum(certificate);
	gnutls_x509_crt_t crt;
	int64_t ends_s = -1;

	if (gnutls_x509_crt_init(&crt) < 0)
		return -1;
	if (gnutls_x509_crt_import(crt, &data, GNUTLS_X509_FMT_PEM) == 0)
		ends_s = gnutls_x509_crt_get_expiration_time(crt);
	gnutls_x509_crt_deinit(crt);
	return ends_s;
}

static int load_own(struct web_tls *tls, const char *certificate, const char *key,
		    struct diag *diag)
{
	const gnutls_datum_t cert_data = datum(certificate), key_data = datum(key);
	int r = gnutls_certificate_set_x509_key_mem2(tls->credentials, &cert_data, &key_data,
						     GNUTLS_X509_FMT_PEM, NULL, 0);

	if (r == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
		return diag_set(diag, -EINVAL,
				"the key does not belong to the certificate; if both were renewed, "
				"replace both");
	if (r < 0)
		return diag_set(diag, -EINVAL,
				"the certificate and key cannot be used (PEM, the key without a "
				"password): %s",
				gnutls_strerror(r));
	tls->ends_s = end_of(certificate);
	return 0;
}

static int load_authority(struct web_tls *tls, const char *ca, struct diag *diag)
{
	const gnutls_datum_t data = datum(ca);
	int count =
		gnutls_certificate_set_x509_trust_mem(tls->credentials, &data, GNUTLS_X509_FMT_PEM);

	if (count > 0)
		return 0;
	return diag_set(diag, -EINVAL, "client_ca has no certificate (PEM)%s%s",
			count < 0 ? ": " : "", count < 0 ? gnutls_strerror(count) : "");
}

static int copy_sans(struct web_tls *tls, const struct web_config *config, struct diag *diag)
{
	tls->sans = calloc(config->san_count + 1, sizeof(*tls->sans));
	while (tls->sans && tls->san_count < config->san_count) {
		tls->sans[tls->san_count] = strdup(config->sans[tls->san_count]);
		if (!tls->sans[tls->san_count])
			return diag_set(diag, -ENOMEM, "out of memory");
		tls->san_count++;
	}
	return tls->sans ? 0 : diag_set(diag, -ENOMEM, "out of memory");
}

int web_tls_new(const struct web_config *config, const char *certificate, const char *key,
		const char *ca, struct web_tls **ret, struct diag *diag)
{
	CLEANUP(free_tls) struct web_tls *tls = calloc(1, sizeof(*tls));
	int r;

	if (!tls || gnutls_certificate_allocate_credentials(&tls->credentials) < 0)
		return diag_set(diag, -ENOMEM, "out of memory");
	tls->client_auth = config->client_auth;
	if (gnutls_priority_init(&tls->priorities, config->priority, NULL) < 0)
		return diag_set(diag, -EINVAL,
				"this machine's GnuTLS refuses these versions, suites or curves; "
				"its system-wide policy may forbid them (%s)",
				config->priority);
	r = load_own(tls, certificate, key, diag);
	if (r == 0 && ca)
		r = load_authority(tls, ca, diag);
	if (r == 0)
		r = copy_sans(tls, config, diag);
	if (r == 0)
		*ret = TAKE_PTR(tls);
	return r;
}

int web_tls_days_left(const struct web_tls *tls, int64_t now_s)
{
	if (tls->ends_s < 0)
		return INT32_MAX;
	return (int)((tls->ends_s - now_s) / 86400) - (tls->ends_s < now_s);
}

/* The name number @index of @crt as text, in the form in which Go writes it; false: the end. */
static bool san_at(gnutls_x509_crt_t crt, unsigned index, char *buf, size_t size, bool *ret_known)
{
	unsigned char data[SAN_TEXT_MAX];
	size_t len = sizeof(data);
	int type = gnutls_x509_crt_get_subject_alt_name(crt, index, data, &len, NULL);
	int family = len == 16 ? AF_INET6 : AF_INET;

	*ret_known = false;
	if (type < 0)
		return type == GNUTLS_E_SHORT_MEMORY_BUFFER;
	if (type == GNUTLS_SAN_IPADDRESS && (len == 4 || len == 16)) {
		*ret_known = inet_ntop(family, data, buf, (socklen_t)size);
	} else if ((type == GNUTLS_SAN_DNSNAME || type == GNUTLS_SAN_RFC822NAME ||
		    type == GNUTLS_SAN_URI) &&
		   len < size && !memchr(data, '\0', len)) {
		memcpy(buf, data, len);
		buf[len] = '\0';
		*ret_known = true;
	}
	return true;
}

static bool has_allowed_san(const struct web_tls *tls, const gnutls_datum_t *certificate)
{
	gnutls_x509_crt_t crt;
	char san[SAN_TEXT_MAX];
	bool found = false, known;

	if (gnutls_x509_crt_init(&crt) < 0)
		return false;
	if (gnutls_x509_crt_import(crt, certificate, GNUTLS_X509_FMT_DER) == 0) {
		for (unsigned i = 0; !found && san_at(crt, i, san, sizeof(san), &known); i++) {
			for (size_t j = 0; known && !found && j < tls->san_count; j++)
				found = strcmp(tls->sans[j], san) == 0;
		}
	}
	gnutls_x509_crt_deinit(crt);
	return found;
}

/* Is the client's certificate, or its absence, in order? */
static bool is_accepted(const struct web_tls *tls, gnutls_session_t session)
{
	gnutls_typed_vdata_st purpose = {
		.type = GNUTLS_DT_KEY_PURPOSE_OID,
		.data = (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT
	};
	unsigned count = 0, status = ~0U;
	const gnutls_datum_t *chain = gnutls_certificate_get_peers(session, &count);

	if (!chain || !count)
		return tls->client_auth != WEB_CLIENT_VERIFY && tls->client_auth != WEB_CLIENT_ANY;
	if (tls->client_auth != WEB_CLIENT_VERIFY && tls->client_auth != WEB_CLIENT_VERIFY_GIVEN)
		return true;
	if (gnutls_certificate_verify_peers(session, &purpose, 1, &status) < 0 || status != 0)
		return false;
	return !tls->san_count || has_allowed_san(tls, &chain[0]);
}

/* GnuTLS calls it when the client's certificate has come; anything but 0 ends the handshake. */
static int verify_peer(gnutls_session_t session)
{
	const struct web_tls *tls = gnutls_session_get_ptr(session);
	uint64_t *refused = gnutls_db_get_ptr(session);

	if (tls && is_accepted(tls, session))
		return 0;
	if (refused)
		__atomic_fetch_add(refused, 1, __ATOMIC_RELAXED);
	return GNUTLS_E_CERTIFICATE_ERROR;
}

int web_tls_attach(const struct web_tls *tls, void *session, uint64_t *refused)
{
	gnutls_session_t gnutls = session;

	if (!session || gnutls_priority_set(gnutls, tls->priorities) < 0 ||
	    gnutls_credentials_set(gnutls, GNUTLS_CRD_CERTIFICATE, tls->credentials) < 0)
		return -EIO;
	gnutls_session_set_ptr(gnutls, (void *)(uintptr_t)tls);
	gnutls_db_set_ptr(gnutls, refused); /* there is no data base of sessions */
	gnutls_certificate_server_set_request(
		gnutls,
		tls->client_auth == WEB_CLIENT_NONE ? GNUTLS_CERT_IGNORE
		: tls->client_auth == WEB_CLIENT_VERIFY || tls->client_auth == WEB_CLIENT_ANY
			? GNUTLS_CERT_REQUIRE
			: GNUTLS_CERT_REQUEST);
	if (tls->client_auth != WEB_CLIENT_NONE)
		gnutls_session_set_verify_function(gnutls, verify_peer);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "repository/checksum.h"

#include <errno.h>
#include <string.h>

#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

#include "base/macro.h"

#define SHA256_BYTES 32

struct signing_key {
	gnutls_privkey_t key;
};

int checksum_of(const void *data, size_t size, char ret[CHECKSUM_TEXT_LEN + 1])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char hash[SHA256_BYTES];

	if (gnutls_hash_fast(GNUTLS_DIG_SHA256, data, size, hash) < 0)
		return -EIO;
	for (size_t i = 0; i < SHA256_BYTES; i++) {
		ret[2 * i] = digits[hash[i] >> 4];
		ret[2 * i + 1] = digits[hash[i] & 15];
	}
	ret[CHECKSUM_TEXT_LEN] = '\0';
	return 0;
}

/* GnuTLS takes input without const, and only reads it. */
static gnutls_datum_t datum(const void *data, size_t size)
{
	return (gnutls_datum_t){ (unsigned char *)(uintptr_t)data, (unsigned)size };
}

int signing_key_parse(const char *name, const char *pem, size_t size, struct signing_key **ret,
		      struct diag *diag)
{
	struct signing_key *key = calloc(1, sizeof(*key));
	const gnutls_datum_t text = datum(pem, size);
	int r = key ? gnutls_privkey_init(&key->key) : GNUTLS_E_MEMORY_ERROR;

	if (r == 0)
		r = gnutls_privkey_import_x509_raw(key->key, &text, GNUTLS_X509_FMT_PEM, NULL, 0);
	if (r == 0 && gnutls_privkey_get_pk_algorithm(key->key, NULL) == GNUTLS_PK_EDDSA_ED25519) {
		*ret = key;
		return 0;
	}
	signing_key_free(key);
	return diag_set(diag, -EINVAL,
			"%s: must be an Ed25519 private key in PEM, as `openssl genpkey -algorithm "
			"ed25519` writes it%s%s",
			name, r < 0 ? ": " : "", r < 0 ? gnutls_strerror(r) : "");
}

void signing_key_free(struct signing_key *key)
{
	if (!key)
		return;
	if (key->key)
		gnutls_privkey_deinit(key->key);
	free(key);
}

int signing_key_sign(const struct signing_key *key, const void *data, size_t size, char **ret)
{
	const gnutls_datum_t text = datum(data, size);
	gnutls_datum_t signature = { 0 }, base64 = { 0 };
	int r = gnutls_privkey_sign_data2(key->key, GNUTLS_SIGN_EDDSA_ED25519, 0, &text,
					  &signature);

	if (r == 0)
		r = gnutls_base64_encode2(&signature, &base64);
	gnutls_free(signature.data);
	if (r < 0)
		return -EIO;
	*ret = base64.data ? strndup((const char *)base64.data, base64.size) : NULL;
	gnutls_free(base64.data);
	return *ret ? 0 : -ENOMEM;
}

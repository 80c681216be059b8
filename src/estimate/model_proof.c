// SPDX-License-Identifier: Apache-2.0
#include "estimate/model_proof.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/shared_library.h"
#include "kube/base64.h"

#define LIBRARY       "libgnutls.so.30"
#define SHA256_BYTES  32
#define KEY_FILE_MAX  4096
#define SIGNATURE_MAX 512 /* characters; one has 88 */

struct functions {
	__typeof__(gnutls_hash_fast) *hash_fast;
	__typeof__(gnutls_pubkey_init) *pubkey_init;
	__typeof__(gnutls_pubkey_deinit) *pubkey_deinit;
	__typeof__(gnutls_pubkey_import) *pubkey_import;
	__typeof__(gnutls_pubkey_verify_data2) *pubkey_verify_data2;
};

#define SYMBOL(name)                                                                               \
	{                                                                                          \
		"gnutls_" #name, offsetof(struct functions, name)                                  \
	}
static const struct shared_function symbols[] = {
	SYMBOL(hash_fast),     SYMBOL(pubkey_init),         SYMBOL(pubkey_deinit),
	SYMBOL(pubkey_import), SYMBOL(pubkey_verify_data2),
};

/* Never unloaded: other libraries use it, too. */
static struct {
	pthread_once_t once;
	struct functions functions;
	int error;
	const char *missing; /* a function */
} library = { .once = PTHREAD_ONCE_INIT };

static void load(void)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	library.error = handle ? 0 : -ENOENT;
	if (handle)
		library.missing = shared_library_find(handle, symbols, ARRAY_SIZE(symbols),
						      &library.functions);
	if (library.missing)
		library.error = -ENOSYS;
}

int model_proof_load(struct diag *diag)
{
	(void)pthread_once(&library.once, load);
	if (library.error == -ENOENT)
		return diag_set(diag, library.error,
				"%s, which checks fetched models, is missing: install libgnutls30",
				LIBRARY);
	if (library.error < 0)
		return diag_set(diag, library.error, "%s has no %s: install a newer libgnutls30",
				LIBRARY, library.missing);
	return 0;
}

int model_proof_check_sum(const void *data, size_t size, const char *wanted, struct diag *diag)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char hash[SHA256_BYTES];
	char text[MODEL_PROOF_SHA256_LEN + 1] = "";
	int r = model_proof_load(diag);

	if (r < 0)
		return r;
	if (library.functions.hash_fast(GNUTLS_DIG_SHA256, data, size, hash) < 0)
		return diag_set(diag, -EIO, "its SHA-256 cannot be computed");
	for (size_t i = 0; i < SHA256_BYTES; i++) {
		text[2 * i] = digits[hash[i] >> 4];
		text[2 * i + 1] = digits[hash[i] & 15];
	}
	if (strcmp(text, wanted) == 0)
		return 0;
	return diag_set(diag, -EBADMSG,
			"its SHA-256 is %.16s..., but the server announced "
			"%.16s...",
			text, wanted);
}

/* GnuTLS takes input without const, and only reads it. */
static gnutls_datum_t datum(const void *data, size_t size)
{
	return (gnutls_datum_t){ (unsigned char *)(uintptr_t)data, (unsigned)size };
}

static int import_key(const char *path, gnutls_pubkey_t key, struct diag *diag)
{
	CLEANUP_FREE char *text = NULL;
	gnutls_datum_t pem;
	size_t len = 0;
	int r = read_file_alloc(path, KEY_FILE_MAX, &text, &len);

	if (r < 0)
		return diag_set(diag, r, "%s: cannot be read: %s", path, strerrordesc_np(-r));
	pem = datum(text, len);
	if (library.functions.pubkey_import(key, &pem, GNUTLS_X509_FMT_PEM) < 0)
		return diag_set(diag, -EINVAL,
				"%s: must be an Ed25519 public key in PEM, as `openssl pkey "
				"-pubout` writes it",
				path);
	return 0;
}

int model_proof_check_signature(const void *data, size_t size, const char *signature,
				const char *key_file, struct diag *diag)
{
	CLEANUP_FREE char *bytes = NULL;
	gnutls_datum_t text = datum(data, size), proof;
	gnutls_pubkey_t key = NULL;
	size_t len = 0;
	int r = model_proof_load(diag);

	if (r < 0)
		return r;
	if (strlen(signature) > SIGNATURE_MAX || base64_decode(signature, &bytes, &len) < 0)
		return diag_set(diag, -EKEYREJECTED, "its signature is not valid base64");
	if (library.functions.pubkey_init(&key) < 0)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = import_key(key_file, key, diag);
	proof = datum(bytes, len);
	if (r == 0 && library.functions.pubkey_verify_data2(key, GNUTLS_SIGN_EDDSA_ED25519, 0,
							    &text, &proof) < 0)
		r = diag_set(diag, -EKEYREJECTED,
			     "its signature does not match the key in %s: it was signed with "
			     "another key, or modified",
			     key_file);
	library.functions.pubkey_deinit(key);
	return r;
}

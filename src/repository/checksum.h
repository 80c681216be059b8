/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proofs that a model arrived unchanged: its SHA-256, and a signature with an Ed25519 key (RFC
 * 8032). Over GnuTLS.
 */
#pragma once

#include <stddef.h>

#include "base/diag.h"

#define CHECKSUM_TEXT_LEN 64 /* hexadecimal digits */

/* The SHA-256 of @data in hexadecimal, terminated. 0 or -EIO. */
int checksum_of(const void *data, size_t size, char ret[CHECKSUM_TEXT_LEN + 1]);

struct signing_key;

/* A private key in PEM. 0, or -EINVAL with a diagnosis of the file @name; -ENOMEM. */
int signing_key_parse(const char *name, const char *pem, size_t size, struct signing_key **ret,
		      struct diag *diag);
void signing_key_free(struct signing_key *key);
/* The signature of @data in base64, given to the caller. 0, -ENOMEM or -EIO. */
int signing_key_sign(const struct signing_key *key, const void *data, size_t size, char **ret);

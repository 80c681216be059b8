/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that a fetched model is the one that its publisher meant: SHA-256 and signatures with
 * Ed25519 (RFC 8032), by libgnutls, which is loaded when it is first needed: the program does not
 * link it.
 */
#pragma once

#include <stddef.h>

#include "base/diag.h"

#define MODEL_PROOF_SHA256_LEN 64 /* hexadecimal digits */

/* Loads the library, on a thread that still may. 0; -ENOENT or -ENOSYS with the package. */
int model_proof_load(struct diag *diag);
/* 0; -EBADMSG with diag: @data has another SHA-256 than @wanted, which is in hexadecimal. */
int model_proof_check_sum(const void *data, size_t size, const char *wanted, struct diag *diag);
/*
 * 0; -EKEYREJECTED with diag: the base64 in @signature does not sign @data by the public key in the
 * file @key_file (PEM); or an error about that file.
 */
int model_proof_check_signature(const void *data, size_t size, const char *signature,
				const char *key_file, struct diag *diag);

/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 (RFC 4648 §4), the encoding of certificates and keys in kubeconfig files. Pure. */
#pragma once

#include <stddef.h>

/*
 * Decodes @text with its padding; blanks and newlines are skipped. Gives *ret (to be freed,
 * terminated) and its length. 0, -EINVAL or -ENOMEM.
 */
int base64_decode(const char *text, char **ret, size_t *ret_len);

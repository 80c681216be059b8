/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens that clients of a server have to present (RFC 6750): a file with one a line. Comparing
 * takes the same time whether a token is right, wrong or nearly right.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

#define ACCESS_TOKENS_MAX 256
#define ACCESS_TOKEN_MIN  16 /* characters */
#define ACCESS_TOKEN_MAX  512

struct access_tokens {
	char **tokens;
	size_t count; /* 0: every client may ask */
};

/*
 * Lines that are empty or begin with "#" are left out. 0, or -EINVAL with FILE:LINE: what is wrong.
 */
int access_tokens_parse(const char *name, const char *text, struct access_tokens *ret,
			struct diag *diag);
/* Reads a file that only its owner may read. 0 or -errno. */
int access_tokens_read(const char *path, struct access_tokens *ret, struct diag *diag);
void access_tokens_release(struct access_tokens *tokens);
/* Whether the header Authorization has one of them, or there are none. */
bool access_tokens_admit(const struct access_tokens *tokens, const char *authorization);

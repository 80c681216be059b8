// SPDX-License-Identifier: Apache-2.0
/*
 * A file of tokens of any bytes: it is refused with a reason that names the file, or its first
 * token is one that a header can have, which alone is admitted, whatever a client sends instead.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "net/server/http_auth.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct http_auth *auth, const char *text)
{
	const char *token = http_auth_token(auth);
	size_t len = strlen(token);
	char header[HTTP_TOKEN_MAX + 16];

	if (len < HTTP_TOKEN_MIN || len > HTTP_TOKEN_MAX || strpbrk(token, " \t\r\n"))
		abort();
	(void)snprintf(header, sizeof(header), "Bearer %s", token);
	if (!http_auth_admits(auth, header))
		abort();
	if (http_auth_admits(auth, token))
		abort();
	(void)http_auth_admits(auth, text);
	/* Shorter than any token. */
	(void)snprintf(header, sizeof(header), "Bearer %.*s", HTTP_TOKEN_MIN - 1, token);
	if (http_auth_admits(auth, header))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP_FREE char *text = calloc(1, size + 1);
	struct http_auth *auth = NULL;
	struct diag diag = { "" };
	int r;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	r = http_auth_parse("f", text, &auth, &diag);
	if (r < 0 ? auth || strncmp(diag.text, "f:", 2) != 0 : !auth)
		abort();
	if (r == 0)
		check(auth, text);
	http_auth_free(auth);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "net/server/http_auth.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/secret_file.h"

#define FILE_MAX (1U << 18)

struct http_auth {
	char **tokens;
	size_t count, size;
};

void http_auth_free(struct http_auth *auth)
{
	if (!auth)
		return;
	for (size_t i = 0; i < auth->count; i++)
		free(auth->tokens[i]);
	free(auth->tokens);
	free(auth);
}

static void free_auth(struct http_auth **auth)
{
	http_auth_free(*auth);
}

static bool is_token(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	return len >= HTTP_TOKEN_MIN && len <= HTTP_TOKEN_MAX;
}

static int add(struct http_auth *auth, const char *text, size_t len)
{
	char *token;

	if (auth->count == HTTP_TOKENS_MAX)
		return -E2BIG;
	if (ARRAY_RESERVE(auth->tokens, auth->size, auth->count + 1) < 0)
		return -ENOMEM;
	token = strndup(text, len);
	if (!token)
		return -ENOMEM;
	auth->tokens[auth->count++] = token;
	return 0;
}

int http_auth_parse(const char *name, const char *text, struct http_auth **ret, struct diag *diag)
{
	CLEANUP(free_auth) struct http_auth *auth = calloc(1, sizeof(*auth));

	if (!auth)
		return diag_set(diag, -ENOMEM, "out of memory");
	for (unsigned line = 1; *text; line++) {
		size_t len = strcspn(text, "\r\n");
		int r = 0;

		if (len && *text != '#' && !is_token(text, len))
			return diag_set(
				diag, -EINVAL,
				"%s:%u: a token must have %d to %d characters without blanks", name,
				line, HTTP_TOKEN_MIN, HTTP_TOKEN_MAX);
		if (len && *text != '#')
			r = add(auth, text, len);
		if (r < 0)
			return diag_set(diag, r, "%s:%u: %s", name, line, strerrordesc_np(-r));
		text += len;
		text += *text == '\r';
		text += *text == '\n';
	}
	if (!auth->count)
		return diag_set(diag, -EINVAL, "%s: has no token", name);
	*ret = TAKE_PTR(auth);
	return 0;
}

int http_auth_open(const char *path, struct http_auth **ret, struct diag *diag)
{
	CLEANUP_FREE char *text = NULL;
	size_t len = 0;
	int r = secret_file_check(path, diag);

	if (r < 0)
		return r;
	r = read_file_alloc(path, FILE_MAX, &text, &len);
	if (r < 0)
		return diag_set(diag, r, "%s: cannot be read: %s", path, strerrordesc_np(-r));
	return http_auth_parse(path, text, ret, diag);
}

const char *http_auth_token(const struct http_auth *auth)
{
	return auth->tokens[0];
}

/* Looks at every character of @token, whatever the result. */
static unsigned differs(const char *token, const char *presented, size_t presented_len)
{
	size_t len = strlen(token);
	volatile unsigned difference = len != presented_len;

	for (size_t i = 0; i < len; i++)
		difference |= (unsigned char)token[i] ^
			      (unsigned char)presented[i < presented_len ? i : 0];
	return difference;
}

const char *http_auth_bearer(const char *authorization)
{
	static const char scheme[] = "Bearer ";

	if (strncasecmp(authorization, scheme, sizeof(scheme) - 1) != 0)
		return NULL;
	authorization += sizeof(scheme) - 1;
	return authorization + strspn(authorization, " ");
}

bool http_auth_admits(const struct http_auth *auth, const char *authorization)
{
	const char *presented = http_auth_bearer(authorization);
	unsigned admitted = 0;

	for (size_t i = 0; presented && i < auth->count; i++)
		admitted |= !differs(auth->tokens[i], presented, strlen(presented));
	return admitted;
}

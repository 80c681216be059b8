// SPDX-License-Identifier: Apache-2.0
#include "model-server/access_tokens.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/secret_file.h"

#define FILE_MAX (1U << 18)

static bool is_token(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	return len >= ACCESS_TOKEN_MIN && len <= ACCESS_TOKEN_MAX;
}

static int add(struct access_tokens *tokens, size_t *size, const char *text, size_t len)
{
	char *token;

	if (tokens->count == ACCESS_TOKENS_MAX)
		return -E2BIG;
	if (ARRAY_RESERVE(tokens->tokens, *size, tokens->count + 1) < 0)
		return -ENOMEM;
	token = strndup(text, len);
	if (!token)
		return -ENOMEM;
	tokens->tokens[tokens->count++] = token;
	return 0;
}

int access_tokens_parse(const char *name, const char *text, struct access_tokens *ret,
			struct diag *diag)
{
	CLEANUP(access_tokens_release) struct access_tokens tokens = { 0 };
	size_t size = 0;

	for (unsigned line = 1; *text; line++) {
		size_t len = strcspn(text, "\r\n");
		int r = 0;

		if (len && *text != '#' && !is_token(text, len))
			return diag_set(
				diag, -EINVAL,
				"%s:%u: a token must have %d to %d characters without blanks", name,
				line, ACCESS_TOKEN_MIN, ACCESS_TOKEN_MAX);
		if (len && *text != '#')
			r = add(&tokens, &size, text, len);
		if (r < 0)
			return diag_set(diag, r, "%s:%u: %s", name, line, strerrordesc_np(-r));
		text += len;
		text += *text == '\r';
		text += *text == '\n';
	}
	if (!tokens.count)
		return diag_set(diag, -EINVAL, "%s: has no token", name);
	*ret = tokens;
	tokens = (struct access_tokens){ 0 };
	return 0;
}

int access_tokens_read(const char *path, struct access_tokens *ret, struct diag *diag)
{
	CLEANUP_FREE char *text = NULL;
	size_t len = 0;
	int r = secret_file_check(path, diag);

	if (r < 0)
		return r;
	r = read_file_alloc(path, FILE_MAX, &text, &len);
	if (r < 0)
		return diag_set(diag, r, "%s: cannot be read: %s", path, strerrordesc_np(-r));
	return access_tokens_parse(path, text, ret, diag);
}

void access_tokens_release(struct access_tokens *tokens)
{
	for (size_t i = 0; i < tokens->count; i++)
		free(tokens->tokens[i]);
	free(tokens->tokens);
	*tokens = (struct access_tokens){ 0 };
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

bool access_tokens_admit(const struct access_tokens *tokens, const char *authorization)
{
	static const char scheme[] = "Bearer ";
	unsigned admitted = !tokens->count;
	const char *presented;

	if (strncasecmp(authorization, scheme, sizeof(scheme) - 1) != 0)
		return admitted;
	presented = authorization + sizeof(scheme) - 1;
	presented += strspn(presented, " ");
	for (size_t i = 0; i < tokens->count; i++)
		admitted |= !differs(tokens->tokens[i], presented, strlen(presented));
	return admitted;
}

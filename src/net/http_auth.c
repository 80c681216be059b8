// SPDX-License-Identifier: Apache-2.0
#include "net/http_auth.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/secret_file.h"

#define FILE_MAX (1U << 18)

struct token_list {
	char **tokens;
	size_t count, size;
};

struct http_auth {
	char *path;
	pthread_mutex_t lock;
	struct token_list list; /* under the lock */
};

static void list_release(struct token_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->tokens[i]);
	free(list->tokens);
}

static bool is_token(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	return len >= HTTP_TOKEN_MIN && len <= HTTP_TOKEN_MAX;
}

static int add(struct token_list *list, const char *text, size_t len)
{
	char *token;

	if (list->count == HTTP_TOKENS_MAX)
		return -E2BIG;
	if (ARRAY_RESERVE(list->tokens, list->size, list->count + 1) < 0)
		return -ENOMEM;
	token = strndup(text, len);
	if (!token)
		return -ENOMEM;
	list->tokens[list->count++] = token;
	return 0;
}

/* Replaces the tokens of @auth by those in @text; on failure they stay. */
static int set_tokens(struct http_auth *auth, const char *text, struct diag *diag)
{
	CLEANUP(list_release) struct token_list list = { 0 };
	struct token_list old;

	for (unsigned line = 1; *text; line++) {
		size_t len = strcspn(text, "\r\n");
		int r = 0;

		if (len && *text != '#' && !is_token(text, len))
			return diag_set(
				diag, -EINVAL,
				"%s:%u: a token must have %d to %d characters without blanks",
				auth->path, line, HTTP_TOKEN_MIN, HTTP_TOKEN_MAX);
		if (len && *text != '#')
			r = add(&list, text, len);
		if (r < 0)
			return diag_set(diag, r, "%s:%u: %s", auth->path, line,
					strerrordesc_np(-r));
		text += len;
		text += *text == '\r';
		text += *text == '\n';
	}
	if (!list.count)
		return diag_set(diag, -EINVAL, "%s: has no token", auth->path);
	(void)pthread_mutex_lock(&auth->lock);
	old = auth->list;
	auth->list = list;
	(void)pthread_mutex_unlock(&auth->lock);
	list = old;
	return 0;
}

static struct http_auth *new_auth(const char *path)
{
	struct http_auth *auth = calloc(1, sizeof(*auth));

	if (!auth)
		return NULL;
	auth->path = strdup(path);
	if (!auth->path) {
		free(auth);
		return NULL;
	}
	(void)pthread_mutex_init(&auth->lock, NULL); /* cannot fail with default attributes */
	return auth;
}

void http_auth_free(struct http_auth *auth)
{
	if (!auth)
		return;
	list_release(&auth->list);
	(void)pthread_mutex_destroy(&auth->lock);
	free(auth->path);
	free(auth);
}

static void free_and_clear(struct http_auth **auth)
{
	http_auth_free(*auth);
}

int http_auth_parse(const char *name, const char *text, struct http_auth **ret, struct diag *diag)
{
	CLEANUP(free_and_clear) struct http_auth *auth = new_auth(name);
	int r = auth ? set_tokens(auth, text, diag) : diag_set(diag, -ENOMEM, "out of memory");

	if (r == 0)
		*ret = TAKE_PTR(auth);
	return r;
}

int http_auth_reload(struct http_auth *auth, struct diag *diag)
{
	CLEANUP_FREE char *text = NULL;
	size_t len = 0;
	int r = secret_file_check(auth->path, diag);

	if (r < 0)
		return r;
	r = read_file_alloc(auth->path, FILE_MAX, &text, &len);
	if (r < 0)
		return diag_set(diag, r, "%s: cannot be read: %s", auth->path, strerrordesc_np(-r));
	return set_tokens(auth, text, diag);
}

int http_auth_open(const char *path, struct http_auth **ret, struct diag *diag)
{
	CLEANUP(free_and_clear) struct http_auth *auth = new_auth(path);
	int r = auth ? http_auth_reload(auth, diag) : diag_set(diag, -ENOMEM, "out of memory");

	if (r == 0)
		*ret = TAKE_PTR(auth);
	return r;
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

bool http_auth_admits(struct http_auth *auth, const char *authorization)
{
	static const char scheme[] = "Bearer ";
	const char *presented;
	unsigned admitted = 0;

	if (strncasecmp(authorization, scheme, sizeof(scheme) - 1) != 0)
		return false;
	presented = authorization + sizeof(scheme) - 1;
	presented += strspn(presented, " ");
	(void)pthread_mutex_lock(&auth->lock);
	for (size_t i = 0; i < auth->list.count; i++)
		admitted |= !differs(auth->list.tokens[i], presented, strlen(presented));
	(void)pthread_mutex_unlock(&auth->lock);
	return admitted;
}

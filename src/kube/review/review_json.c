// SPDX-License-Identifier: Apache-2.0
#include "kube/review/review_json.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "kube/json_bounded.h"

#define NAMESPACE_MAX 63

bool review_is_token(const char *text)
{
	size_t len = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				  "-._~+/=");

	return len > 0 && len <= REVIEW_TOKEN_MAX && !text[len];
}

static bool is_letter_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool review_is_namespace(const char *text)
{
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");

	return len > 0 && len <= NAMESPACE_MAX && !text[len] && is_letter_or_digit(text[0]) &&
	       is_letter_or_digit(text[len - 1]);
}

static void add_string(struct strbuf *out, const char *text)
{
	strbuf_add_char(out, '"');
	strbuf_add_json(out, text);
	strbuf_add_char(out, '"');
}

void review_token_body(const char *token, const char *audience, struct strbuf *out)
{
	/* All at once: growing would free memory with the token in it. */
	if (!strbuf_reserve(out, strlen(token) + 6 * strlen(audience) + 256))
		return;
	strbuf_add_str(out, "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\","
			    "\"spec\":{\"token\":\"");
	strbuf_add_str(out, token);
	strbuf_add_char(out, '"');
	if (*audience) {
		strbuf_add_str(out, ",\"audiences\":[");
		add_string(out, audience);
		strbuf_add_char(out, ']');
	}
	strbuf_add_str(out, "}}");
}

static bool is_kind(const json_t *root, const char *kind)
{
	const char *text = json_string_value(json_object_get(root, "kind"));

	return text && strcmp(text, kind) == 0;
}

/*
 * A server that knows no audiences reports none, and its yes is for its own: the reference requires
 * clients that ask for one to look for it.
 */
static bool is_for(const json_t *status, const char *audience)
{
	const json_t *list = json_object_get(status, "audiences"), *entry;
	size_t index;

	if (!*audience)
		return true;
	json_array_foreach(list, index, entry)
	{
		const char *text = json_string_value(entry);

		if (text && strcmp(text, audience) == 0)
			return true;
	}
	return false;
}

/* Appends a member of the owner, if there is one, by its name in an access review. */
static void add_member(struct strbuf *out, const json_t *user, const char *name, const char *as)
{
	const json_t *value = json_object_get(user, name);
	char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	if (!value)
		return;
	if (!text) {
		out->failed = true;
		return;
	}
	strbuf_addf(out, "%s\"%s\":", out->len ? "," : "", as);
	strbuf_add_str(out, text);
	free(text);
}

static int read_user(const json_t *user, char **ret)
{
	struct strbuf out = STRBUF_INIT;
	const char *name = json_string_value(json_object_get(user, "username"));

	if (!name || !*name)
		return -EPROTO;
	add_member(&out, user, "username", "user");
	add_member(&out, user, "uid", "uid");
	add_member(&out, user, "groups", "groups");
	add_member(&out, user, "extra", "extra");
	if (strbuf_error(&out) < 0 || out.len > REVIEW_USER_MAX) {
		bool failed = out.failed;

		strbuf_release(&out);
		return failed ? -ENOMEM : -EMSGSIZE;
	}
	*ret = out.data;
	return 0;
}

int review_token_read(const char *text, size_t len, const char *audience, char **ret_user)
{
	json_t *root = json_parse_bounded(text, len);
	const json_t *status = json_object_get(root, "status");
	int r = 0;

	*ret_user = NULL;
	if (!is_kind(root, "TokenReview") || !json_is_object(status))
		r = -EPROTO;
	else if (json_is_true(json_object_get(status, "authenticated")) && is_for(status, audience))
		r = read_user(json_object_get(status, "user"), ret_user);
	json_decref(root);
	return r;
}

void review_access_body(const char *user, const char *path, const char *namespace,
			struct strbuf *out)
{
	strbuf_add_str(out, "{\"apiVersion\":\"authorization.k8s.io/v1\","
			    "\"kind\":\"SubjectAccessReview\",\"spec\":{");
	if (namespace) {
		strbuf_add_str(out, "\"resourceAttributes\":{\"verb\":\"get\",\"version\":\"v1\","
				    "\"resource\":\"pods\",\"namespace\":");
		add_string(out, namespace);
	} else {
		strbuf_add_str(out, "\"nonResourceAttributes\":{\"verb\":\"get\",\"path\":");
		add_string(out, path);
	}
	strbuf_add_str(out, "},");
	strbuf_add_str(out, user);
	strbuf_add_str(out, "}}");
}

int review_access_read(const char *text, size_t len, bool *ret_allowed)
{
	json_t *root = json_parse_bounded(text, len);
	const json_t *status = json_object_get(root, "status");
	int r = is_kind(root, "SubjectAccessReview") && json_is_object(status) ? 0 : -EPROTO;

	/* With "denied" no other authorizer may be asked: it wins. */
	if (r == 0)
		*ret_allowed = json_is_true(json_object_get(status, "allowed")) &&
			       !json_is_true(json_object_get(status, "denied"));
	json_decref(root);
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TokenReview (authentication.k8s.io/v1) and SubjectAccessReview (authorization.k8s.io/v1): what is
 * sent to the API server, and what it answers. Pure.
 *
 * Source: the Kubernetes API reference, "TokenReview v1" and "SubjectAccessReview v1".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

#define REVIEW_TOKEN_PATH  "/apis/authentication.k8s.io/v1/tokenreviews"
#define REVIEW_ACCESS_PATH "/apis/authorization.k8s.io/v1/subjectaccessreviews"
#define REVIEW_TOKEN_MAX   8000  /* bytes of a token; a request's header has 8 KiB */
#define REVIEW_USER_MAX    16384 /* bytes of an owner with its groups, as JSON */

/* Has @text only the characters of a bearer token (RFC 6750 §2.1), and not too many? */
bool review_is_token(const char *text);
/* Can @text be the name of a namespace (a DNS label, RFC 1123)? */
bool review_is_namespace(const char *text);

/*
 * Appends the body with which a token, as review_is_token() has it, is reviewed for @audience; "":
 * the audience of the API server. It does not leave copies of the token in memory that it frees.
 */
void review_token_body(const char *token, const char *audience, struct strbuf *out);
/*
 * *ret_user: the owner as members of the spec of an access review, to be freed; NULL: the token is
 * not valid, or not for @audience. 0, -EPROTO if @text does not answer a token review, -EMSGSIZE if
 * the owner is too long, -ENOMEM.
 */
int review_token_read(const char *text, size_t len, const char *audience, char **ret_user);

/*
 * Appends the body that asks whether @user may "get" the path @path, or the pods of @namespace if
 * that is not NULL.
 */
void review_access_body(const char *user, const char *path, const char *namespace,
			struct strbuf *out);
/* 0 or -EPROTO. */
int review_access_read(const char *text, size_t len, bool *ret_allowed);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers of the API server about tokens and what their owners may read, kept for a while by the
 * SHA-256 of the token. Pure: the caller passes the time, and has a lock.
 *
 * Each of the four kinds of answers has a table of its own with a fixed number of places, so that
 * guesses push out no right answer; a full set gives up the answer that has not been used for the
 * longest time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REVIEW_HASH_LEN 32 /* SHA-256 */
/* A scope is what is read, as a text: "path:/metrics", "namespace:shop". */
#define REVIEW_SCOPE_MAX 79

/* How long answers count, those of kube-rbac-proxy. */
#define REVIEW_TOKEN_NS   (120ULL * 1000000000ULL)
#define REVIEW_UNKNOWN_NS (30ULL * 1000000000ULL) /* of tokens that are not valid */
#define REVIEW_ALLOWED_NS (300ULL * 1000000000ULL)
#define REVIEW_DENIED_NS  (30ULL * 1000000000ULL)
/* A right answer is fetched again in this last part of its time. */
#define REVIEW_RENEW_NS (60ULL * 1000000000ULL)
/* For so long after its end, a right answer distinguishes its question from a guess. */
#define REVIEW_KNOWN_NS (300ULL * 1000000000ULL)

enum review_answer { REVIEW_NOT_KEPT, REVIEW_YES, REVIEW_NO };

struct review_table;

/* 0 or -ENOMEM. */
int review_table_new(struct review_table **ret);
void review_table_free(struct review_table *table); /* NULL is fine */
/*
 * Is the token with this hash valid? With REVIEW_YES *ret_user is its owner as the caller put it,
 * until the next call that puts.
 */
enum review_answer review_table_token(struct review_table *table, const unsigned char *hash,
				      uint64_t now_ns, const char **ret_user);
/* May the owner of the token read @scope? Says nothing about whether the token is still valid. */
enum review_answer review_table_access(struct review_table *table, const unsigned char *hash,
				       const char *scope, uint64_t now_ns);
/*
 * Has a right answer about the token at most REVIEW_RENEW_NS left, or none? The second is about
 * what its owner may read.
 */
bool review_table_token_ends(const struct review_table *table, const unsigned char *hash,
			     uint64_t now_ns);
bool review_table_access_ends(const struct review_table *table, const unsigned char *hash,
			      const char *scope, uint64_t now_ns);
/*
 * Was this token valid, and its owner allowed to read @scope, less than REVIEW_KNOWN_NS ago? It
 * admits nothing.
 */
bool review_table_was_admitted(const struct review_table *table, const unsigned char *hash,
			       const char *scope, uint64_t now_ns);
/* @user is copied; NULL: the token is not valid. 0 or -ENOMEM. */
int review_table_put_token(struct review_table *table, const unsigned char *hash, const char *user,
			   uint64_t now_ns);
/* @scope has at most REVIEW_SCOPE_MAX bytes. */
void review_table_put_access(struct review_table *table, const unsigned char *hash,
			     const char *scope, bool allowed, uint64_t now_ns);

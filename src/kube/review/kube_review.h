/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --web.auth=kubernetes: the API server decides whether the owner of a bearer token may read a
 * page. A TokenReview reports the owner, a SubjectAccessReview whether this account has the verb
 * "get" for the non-resource URL "/metrics", which stands for all pages. For the rows of one
 * namespace, it needs "get" for the pods there.
 *
 * The server's thread never waits: a question without a kept answer is put in a line, from which a
 * thread takes one at a time, each once however many requests ask it. Answers are kept
 * (review_table.h), also while the API server is away. What admits is asked about again in the last
 * minute of its time, while it counts. A question that was answered with yes some minutes ago is
 * known: it stands before all that are not, does not wait for the pause after a guess, and has
 * places of its own, so that no number of guesses keeps it waiting, from whatever address.
 *
 * Without a kept answer nothing is shown: the thread asks within 5 s, and after a failure not again
 * for a second, in which all such requests are HTTP_UNREVIEWED. After a token that is not valid, or
 * a refusal, the thread pauses, so that guesses cost the API server at most 20 questions a second
 * from each node.
 *
 * Tokens are kept only while their question waits, and as their SHA-256 afterwards. No log line,
 * diagnosis or metric has any of them.
 */
#pragma once

#include <stdint.h>

#include "base/diag.h"
#include "base/health.h"
#include "base/strbuf.h"
#include "kube/kube.h"
#include "net/server/http_review.h"

#define KUBE_REVIEW_WAITING_MAX      16
#define KUBE_REVIEW_WAITING_PER_PEER 4
#define KUBE_REVIEW_WAITING_PER_NET  8 /* of one IPv6 /64 */
#define KUBE_REVIEW_WAITING_KNOWN    8 /* places for known questions, besides the others */
#define KUBE_REVIEW_PAUSE_NS         (50ULL * 1000000ULL)
#define KUBE_REVIEW_RETRY_NS         (1000ULL * 1000000ULL)

struct kube_review;

/* As review_api_post(), with its userdata. */
typedef int kube_review_post(void *userdata, const char *path, const char *body,
			     struct strbuf *answer, struct diag *diag);

struct kube_review_options {
	const struct kube_options *kube; /* where the API server is, and the account to ask with */
	const char *audience;            /* that tokens have to be for; "": the API server's */
	/* For tests: they replace the API server and the clock, and there is no thread. */
	kube_review_post *post;
	void *userdata;
	uint64_t (*now_ns)(void);
};

struct kube_review_stats {
	/* Answers of the API server, by what they say, and questions that it did not answer. */
	uint64_t authenticated, unauthenticated, allowed, denied, failed;
	uint64_t from_memory; /* requests that were decided by an answer that was kept */
	uint64_t forbidden;   /* requests answered with 403 */
	uint64_t unreviewed;  /* ... with 503, because the API server does not respond */
	uint64_t crowded;     /* ... with 503, because too many questions waited */
	uint32_t waiting;     /* questions now */
	bool reachable;       /* it answered the last question; true before the first */
	char last_error[256]; /* "" while it answers */
};

/* Starts the thread. 0 or -errno with a diagnosis. */
int kube_review_start(const struct kube_review_options *options, struct kube_review **ret,
		      struct diag *diag);
/* Ends a question under way. NULL is fine. No request may be asked about any more. */
void kube_review_stop(struct kube_review *review);
/* For http_reviewer.ask; @userdata: struct kube_review. */
enum http_verdict kube_review_ask(void *userdata, const struct http_question *question);
/* Asks the first question that waits, as the thread does. Returns false if there is none. */
bool kube_review_turn(struct kube_review *review);
void kube_review_get_stats(struct kube_review *review, struct kube_review_stats *ret);

/* The owner is a struct kube_review *, or NULL. */
extern const struct health_part kube_review_health_part;

// SPDX-License-Identifier: Apache-2.0
#include "kube/review/kube_review.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"
#include "base/thread.h"
#include "kube/review/review_api.h"
#include "kube/review/review_json.h"
#include "kube/review/review_table.h"

#define THREAD_STACK_BYTES (1U << 20)
#define LINE_MAX_COUNT     (KUBE_REVIEW_WAITING_MAX + KUBE_REVIEW_WAITING_KNOWN)

/* A question in the line. The text of the token is wiped when it leaves. */
struct waiting {
	unsigned char hash[REVIEW_HASH_LEN];
	char scope[REVIEW_SCOPE_MAX + 1];
	char *token; /* owned */
	uint64_t peer, network;
	bool known; /* was answered with yes, not long ago */
};

/*
 * Whatever the path of a page is, the question is about this one: RBAC's own role system:discovery
 * lets every account get "/api/" and all below it, where some of our pages are as well.
 */
#define SCOPE_PATH      "path:/metrics"
#define SCOPE_NAMESPACE "namespace:" /* its name follows */

struct kube_review {
	char *audience;
	kube_review_post *post;
	void *userdata;
	uint64_t (*now_ns)(void);
	struct review_api *api;
	int stop_fd;
	pthread_t thread;
	bool started;

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	bool stop;
	struct review_table *table;
	struct waiting waiting[LINE_MAX_COUNT]; /* known ones first, after the one under way */
	size_t waiting_count;
	bool asking;              /* the first is under way: it keeps its place */
	uint64_t paused_until_ns; /* after a token that is not valid, or a refusal */
	uint64_t away_until_ns;   /* after a failure */
	struct kube_review_stats stats;
};

static uint64_t real_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* The answers to one question. */
struct outcome {
	bool has_token, has_access;
	char *user; /* owned; with has_token: NULL, the token is not valid */
	bool allowed;
	int failure; /* 0, or why there are no more answers: see review_api_post() */
	struct diag diag;
};

static void wipe(struct strbuf *text)
{
	if (text->data)
		explicit_bzero(text->data, text->size);
	strbuf_release(text);
}

static int ask_server(struct kube_review *review, const char *path, const struct strbuf *body,
		      struct strbuf *answer, struct diag *diag)
{
	int r = strbuf_error(body);

	if (r < 0)
		return diag_set(diag, r, "out of memory");
	r = review->post(review->userdata, path, body->data, answer, diag);
	return r == 0 && !answer->len ? diag_set(diag, -EPROTO, "%s: an empty answer", path) : r;
}

/* Whose token is it? *ret_user NULL: it is not valid, or the server takes it for no token. */
static int review_token(struct kube_review *review, const char *token, char **ret_user,
			struct diag *diag)
{
	CLEANUP(wipe) struct strbuf body = STRBUF_INIT;
	CLEANUP(wipe) struct strbuf answer = STRBUF_INIT;
	int r;

	review_token_body(token, review->audience, &body);
	r = ask_server(review, REVIEW_TOKEN_PATH, &body, &answer, diag);
	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	r = review_token_read(answer.data, answer.len, review->audience, ret_user);
	/* An owner with too many groups cannot be asked about: nothing is shown. */
	if (r == -EMSGSIZE)
		return 0;
	return r < 0 ? diag_set(diag, r, "the answer is not a TokenReview") : 0;
}

static int review_access(struct kube_review *review, const char *user, const char *scope,
			 bool *ret_allowed, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT;
	CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT;
	bool is_namespace = strncmp(scope, SCOPE_NAMESPACE, strlen(SCOPE_NAMESPACE)) == 0;
	const char *what = strchr(scope, ':') + 1;
	int r;

	review_access_body(user, what, is_namespace ? what : NULL, &body);
	r = ask_server(review, REVIEW_ACCESS_PATH, &body, &answer, diag);
	*ret_allowed = false;
	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	r = review_access_read(answer.data, answer.len, ret_allowed);
	return r < 0 ? diag_set(diag, r, "the answer is not a SubjectAccessReview") : 0;
}

/*
 * Without the lock. @user: what is kept of the token's owner, or NULL. @may_read: so is that it may
 * read this.
 */
static void find_out(struct kube_review *review, const struct waiting *question, const char *user,
		     bool may_read, struct outcome *ret)
{
	if (!user) {
		ret->failure = review_token(review, question->token, &ret->user, &ret->diag);
		ret->has_token = ret->failure == 0;
		user = ret->user;
	}
	if (ret->failure == 0 && user && !may_read) {
		ret->failure =
			review_access(review, user, question->scope, &ret->allowed, &ret->diag);
		ret->has_access = ret->failure == 0;
	}
}

static void drop_first(struct kube_review *review)
{
	struct waiting *first = &review->waiting[0];

	explicit_bzero(first->token, strlen(first->token));
	free(first->token);
	review->waiting_count--;
	memmove(&review->waiting[0], &review->waiting[1],
		review->waiting_count * sizeof(review->waiting[0]));
}

/* Under the lock. The other questions would fail as well: their requests are answered now. */
static void note_failure(struct kube_review *review, const struct outcome *outcome, uint64_t now_ns)
{
	review->stats.failed++;
	review->stats.reachable = false;
	(void)snprintf(review->stats.last_error, sizeof(review->stats.last_error), "%.255s",
		       outcome->diag.text);
	review->away_until_ns = now_ns + KUBE_REVIEW_RETRY_NS;
	while (review->waiting_count > 0)
		drop_first(review);
}

/* Under the lock. */
static void keep(struct kube_review *review, struct outcome *outcome, uint64_t now_ns)
{
	const struct waiting *question = &review->waiting[0];

	if (outcome->has_token &&
	    review_table_put_token(review->table, question->hash, outcome->user, now_ns) < 0) {
		outcome->failure = diag_set(&outcome->diag, -ENOMEM, "out of memory");
		outcome->has_access = false;
	}
	if (outcome->has_token) {
		review->stats.authenticated += outcome->user != NULL;
		review->stats.unauthenticated += !outcome->user;
	}
	if ((outcome->has_token && !outcome->user) || (outcome->has_access && !outcome->allowed))
		review->paused_until_ns = now_ns + KUBE_REVIEW_PAUSE_NS;
	if (outcome->has_access) {
		review_table_put_access(review->table, question->hash, question->scope,
					outcome->allowed, now_ns);
		review->stats.allowed += outcome->allowed;
		review->stats.denied += !outcome->allowed;
	}
}

/* Under the lock, which is released while the server is asked. */
static void answer_first(struct kube_review *review)
{
	struct waiting *first = &review->waiting[0];
	struct outcome outcome = { 0 };
	const char *kept = NULL;
	CLEANUP_FREE char *user = NULL;
	uint64_t now_ns = review->now_ns();
	bool may_read = !review_table_access_ends(review->table, first->hash, first->scope, now_ns);

	/* An answer that ends soon is fetched again. */
	if (!review_table_token_ends(review->table, first->hash, now_ns) &&
	    review_table_token(review->table, first->hash, now_ns, &kept) == REVIEW_YES)
		user = strdup(kept);
	review->asking = true;
	(void)pthread_mutex_unlock(&review->lock);
	/* Others only add to the line meanwhile, after this one, which stays where it is. */
	find_out(review, first, user, may_read, &outcome);
	(void)pthread_mutex_lock(&review->lock);
	review->asking = false;
	now_ns = review->now_ns();
	keep(review, &outcome, now_ns);
	if (outcome.failure == 0) {
		review->stats.reachable = true;
		review->stats.last_error[0] = '\0';
		drop_first(review);
	} else {
		note_failure(review, &outcome, now_ns);
	}
	free(outcome.user);
}

bool kube_review_turn(struct kube_review *review)
{
	bool any;

	(void)pthread_mutex_lock(&review->lock);
	any = review->waiting_count > 0;
	if (any)
		answer_first(review);
	(void)pthread_mutex_unlock(&review->lock);
	return any;
}

static void wait_until(struct kube_review *review, uint64_t until_ns)
{
	const struct timespec until = { .tv_sec = (time_t)(until_ns / NSEC_PER_SEC),
					.tv_nsec = (long)(until_ns % NSEC_PER_SEC) };

	(void)pthread_cond_timedwait(&review->changed, &review->lock, &until);
}

static void *work(void *userdata)
{
	struct kube_review *review = userdata;

	(void)pthread_setname_np(pthread_self(), "kepler-review"); /* for debugging only */
	(void)pthread_mutex_lock(&review->lock);
	while (!review->stop) {
		if (!review->waiting_count)
			(void)pthread_cond_wait(&review->changed, &review->lock);
		else if (!review->waiting[0].known && review->now_ns() < review->paused_until_ns)
			wait_until(review, review->paused_until_ns);
		else
			answer_first(review);
	}
	(void)pthread_mutex_unlock(&review->lock);
	return NULL;
}

static bool waits(const struct kube_review *review, const unsigned char *hash, const char *scope)
{
	for (size_t i = 0; i < review->waiting_count; i++) {
		const struct waiting *other = &review->waiting[i];

		if (memcmp(other->hash, hash, REVIEW_HASH_LEN) == 0 &&
		    strcmp(other->scope, scope) == 0)
			return true;
	}
	return false;
}

/* Known questions have places that no other takes, and no limits of an address. */
static bool has_place(const struct kube_review *review, const struct http_question *question,
		      bool known)
{
	size_t same_peer = 0, same_network = 0;

	if (known)
		return review->waiting_count < LINE_MAX_COUNT;
	for (size_t i = 0; i < review->waiting_count; i++) {
		const struct waiting *other = &review->waiting[i];

		same_peer += !other->known && other->peer == question->peer;
		same_network += !other->known && other->network == question->network;
	}
	return review->waiting_count < KUBE_REVIEW_WAITING_MAX &&
	       same_peer < KUBE_REVIEW_WAITING_PER_PEER &&
	       same_network < KUBE_REVIEW_WAITING_PER_NET;
}

/* Under the lock. Returns false if the line has no place for it. */
static bool enqueue(struct kube_review *review, const unsigned char *hash, const char *scope,
		    const struct http_question *question, bool known)
{
	char *token = has_place(review, question, known) ? strdup(question->token) : NULL;
	size_t at = known && review->asking ? 1 : 0;
	struct waiting *place;

	if (!token)
		return false;
	while (at < review->waiting_count && (!known || review->waiting[at].known))
		at++;
	place = &review->waiting[at];
	memmove(place + 1, place, (review->waiting_count - at) * sizeof(*place));
	*place = (struct waiting){
		.token = token, .peer = question->peer, .network = question->network, .known = known
	};
	memcpy(place->hash, hash, REVIEW_HASH_LEN);
	(void)snprintf(place->scope, sizeof(place->scope), "%s", scope);
	review->waiting_count++;
	(void)pthread_cond_signal(&review->changed);
	return true;
}

/* Under the lock. */
static enum http_verdict queue(struct kube_review *review, const unsigned char *hash,
			       const char *scope, const struct http_question *question,
			       uint64_t now_ns)
{
	if (waits(review, hash, scope))
		return HTTP_UNDECIDED;
	if (now_ns < review->away_until_ns) {
		review->stats.unreviewed++;
		return HTTP_UNREVIEWED;
	}
	if (enqueue(review, hash, scope, question,
		    review_table_was_admitted(review->table, hash, scope, now_ns)))
		return HTTP_UNDECIDED;
	review->stats.crowded++;
	return HTTP_CROWDED;
}

/* Under the lock. While the kept answers count, which the request does not wait for. */
static void renew(struct kube_review *review, const unsigned char *hash, const char *scope,
		  const struct http_question *question, uint64_t now_ns)
{
	if ((review_table_token_ends(review->table, hash, now_ns) ||
	     review_table_access_ends(review->table, hash, scope, now_ns)) &&
	    now_ns >= review->away_until_ns && !waits(review, hash, scope))
		(void)enqueue(review, hash, scope, question, true);
}

/* Under the lock. */
static enum http_verdict look_up(struct kube_review *review, const unsigned char *hash,
				 const char *scope, const struct http_question *question)
{
	uint64_t now_ns = review->now_ns();
	enum review_answer access = REVIEW_NOT_KEPT;
	const char *user;

	switch (review_table_token(review->table, hash, now_ns, &user)) {
	case REVIEW_NO:
		review->stats.from_memory++;
		return HTTP_UNAUTHORIZED;
	case REVIEW_YES:
		access = review_table_access(review->table, hash, scope, now_ns);
		break;
	case REVIEW_NOT_KEPT:
		break;
	}
	if (access == REVIEW_NOT_KEPT)
		return queue(review, hash, scope, question, now_ns);
	if (access == REVIEW_YES)
		renew(review, hash, scope, question, now_ns);
	review->stats.from_memory++;
	review->stats.forbidden += access == REVIEW_NO;
	return access == REVIEW_YES ? HTTP_ADMITTED : HTTP_FORBIDDEN;
}

enum http_verdict kube_review_ask(void *userdata, const struct http_question *question)
{
	struct kube_review *review = userdata;
	unsigned char hash[REVIEW_HASH_LEN];
	char scope[REVIEW_SCOPE_MAX + 1];
	enum http_verdict verdict;
	int len;

	if (!review_is_token(question->token))
		return HTTP_UNAUTHORIZED;
	if (question->namespace && !review_is_namespace(question->namespace))
		return HTTP_MALFORMED;
	len = snprintf(scope, sizeof(scope), "%s%s",
		       question->namespace ? SCOPE_NAMESPACE : SCOPE_PATH,
		       question->namespace ? question->namespace : "");
	/* Two names must not be one scope. */
	if (len < 0 || (size_t)len >= sizeof(scope) ||
	    gnutls_hash_fast(GNUTLS_DIG_SHA256, question->token, strlen(question->token), hash) < 0)
		return HTTP_UNREVIEWED;
	(void)pthread_mutex_lock(&review->lock);
	verdict = look_up(review, hash, scope, question);
	(void)pthread_mutex_unlock(&review->lock);
	return verdict;
}

static void init_lock(struct kube_review *review)
{
	pthread_condattr_t attributes;

	(void)pthread_mutex_init(&review->lock, NULL); /* these cannot fail on Linux */
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&review->changed, &attributes);
	(void)pthread_condattr_destroy(&attributes);
}

static int post_to_api(void *userdata, const char *path, const char *body, struct strbuf *answer,
		       struct diag *diag)
{
	return review_api_post(userdata, path, body, answer, diag);
}

static int prepare(struct kube_review *review, const struct kube_review_options *options,
		   struct diag *diag)
{
	int r = review_table_new(&review->table);

	review->audience = strdup(options->audience);
	if (r < 0 || !review->audience)
		return diag_set(diag, -ENOMEM, "out of memory");
	review->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (review->stop_fd < 0)
		return diag_set(diag, -errno, "no descriptor: %s", strerrordesc_np(errno));
	if (options->post)
		return 0;
	r = review_api_new(options->kube, review->stop_fd, &review->api, diag);
	if (r < 0)
		return r;
	review->post = post_to_api;
	review->userdata = review->api;
	r = thread_start(&review->thread, THREAD_STACK_BYTES, work, review);
	review->started = r == 0;
	return r < 0 ? diag_set(diag, r, "no thread to ask the API server with: %s",
				strerrordesc_np(-r))
		     : 0;
}

int kube_review_start(const struct kube_review_options *options, struct kube_review **ret,
		      struct diag *diag)
{
	struct kube_review *review = calloc(1, sizeof(*review));
	int r;

	if (!review)
		return diag_set(diag, -ENOMEM, "out of memory");
	review->stop_fd = -1;
	review->stats.reachable = true;
	review->post = options->post;
	review->userdata = options->userdata;
	review->now_ns = options->now_ns ? options->now_ns : real_now_ns;
	init_lock(review);
	r = prepare(review, options, diag);
	if (r < 0)
		kube_review_stop(review);
	else
		*ret = review;
	return r;
}

void kube_review_stop(struct kube_review *review)
{
	if (!review)
		return;
	if (review->started) {
		(void)eventfd_write(review->stop_fd, 1); /* ends a question under way */
		(void)pthread_mutex_lock(&review->lock);
		review->stop = true;
		(void)pthread_cond_signal(&review->changed);
		(void)pthread_mutex_unlock(&review->lock);
		(void)pthread_join(review->thread, NULL);
	}
	while (review->waiting_count > 0)
		drop_first(review);
	review_api_free(review->api);
	review_table_free(review->table);
	cleanup_fd(&review->stop_fd);
	(void)pthread_cond_destroy(&review->changed);
	(void)pthread_mutex_destroy(&review->lock);
	free(review->audience);
	free(review);
}

void kube_review_get_stats(struct kube_review *review, struct kube_review_stats *ret)
{
	(void)pthread_mutex_lock(&review->lock);
	*ret = review->stats;
	ret->waiting = (uint32_t)review->waiting_count;
	(void)pthread_mutex_unlock(&review->lock);
}

static bool fill_health(const void *owner, void *ret)
{
	struct kube_review *review = *(struct kube_review *const *)owner;

	if (review)
		kube_review_get_stats(review, ret);
	return review;
}

static const struct health_variant reviews[] = {
	{ "authenticated", HEALTH_VALUE(struct kube_review_stats, authenticated) },
	{ "unauthenticated", HEALTH_VALUE(struct kube_review_stats, unauthenticated) },
	{ "allowed", HEALTH_VALUE(struct kube_review_stats, allowed) },
	{ "denied", HEALTH_VALUE(struct kube_review_stats, denied) },
	{ "failed", HEALTH_VALUE(struct kube_review_stats, failed) },
	{ 0 },
};

static const struct health_variant refused[] = {
	{ "forbidden", HEALTH_VALUE(struct kube_review_stats, forbidden) },
	{ "unreviewed", HEALTH_VALUE(struct kube_review_stats, unreviewed) },
	{ "crowded", HEALTH_VALUE(struct kube_review_stats, crowded) },
	{ 0 },
};

static const struct health_metric metrics[] = {
	{ .name = "kepler_exporter_web_auth_reviews",
	  .type = FAMILY_COUNTER,
	  .help = "Answers of the API server about clients of the web server: whether a token is "
		  "valid, and whether its owner may read what was requested. failed: it did not "
		  "decide.",
	  .variant_label = "result",
	  .variants = reviews },
	{ .name = "kepler_exporter_web_auth_kept_answers_used",
	  .type = FAMILY_COUNTER,
	  .help = "HTTP requests that were admitted or refused by a kept answer of the API server.",
	  .value = HEALTH_VALUE(struct kube_review_stats, from_memory) },
	{ .name = "kepler_exporter_web_auth_refused_requests",
	  .type = FAMILY_COUNTER,
	  .help = "HTTP requests refused. forbidden: the token is valid and its owner may not read "
		  "this (403); unreviewed: the API server did not respond (503); crowded: too many "
		  "questions waited for it (503).",
	  .variant_label = "reason",
	  .variants = refused },
	{ .name = "kepler_exporter_web_auth_waiting_questions",
	  .type = FAMILY_GAUGE,
	  .help = "Questions that wait for the API server.",
	  .value = HEALTH_VALUE(struct kube_review_stats, waiting) },
	{ .name = "kepler_exporter_web_auth_up",
	  .type = FAMILY_GAUGE,
	  .help = "1 if the API server answered the last question about a client, otherwise 0.",
	  .value = HEALTH_VALUE(struct kube_review_stats, reachable) },
};

const struct health_part kube_review_health_part = {
	.size = sizeof(struct kube_review_stats),
	.fill = fill_health,
	.metrics = metrics,
	.metric_count = ARRAY_SIZE(metrics),
};

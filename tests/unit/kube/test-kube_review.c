// SPDX-License-Identifier: Apache-2.0
/* The API server is a function of the test, and time stands until the test moves it. */
#include "kube/review/kube_review.h"

#include <errno.h>

#include "base/num.h"
#include "kube/review/review_table.h"
#include "tests/unit/unit.h"

static struct {
	uint64_t now_ns;
	unsigned token_reviews, access_reviews;
	int failure;         /* of every question */
	char last_body[512]; /* of an access review */
} lab;

static uint64_t now_ns(void)
{
	return lab.now_ns;
}

#define OWNER(name)                                                                                \
	"{\"kind\":\"TokenReview\",\"status\":{\"authenticated\":true,\"user\":{\"username\":"     \
	"\"" name "\"}}}"

/* Tokens that begin with "good" are of a user that may read metrics and the namespace shop. */
static int answer(void *userdata, const char *path, const char *body, struct strbuf *out,
		  struct diag *diag)
{
	if (lab.failure)
		return diag_set(diag, lab.failure, "a failure of the test");
	if (strstr(path, "tokenreviews")) {
		lab.token_reviews++;
		strbuf_add_str(out, strstr(body, "\"token\":\"good") ? OWNER("reader")
				    : strstr(body, "\"token\":\"poor")
					    ? OWNER("other")
					    : "{\"kind\":\"TokenReview\",\"status\":{}}");
		return 0;
	}
	lab.access_reviews++;
	(void)snprintf(lab.last_body, sizeof(lab.last_body), "%s", body);
	strbuf_addf(out, "{\"kind\":\"SubjectAccessReview\",\"status\":{\"allowed\":%s}}",
		    strstr(body, "\"user\":\"reader\"") && (strstr(body, "\"path\":\"/metrics\"") ||
							    strstr(body, "\"namespace\":\"shop\""))
			    ? "true"
			    : "false");
	return 0;
}

static int open_review(void **state)
{
	const struct kube_review_options options = { .audience = "",
						     .post = answer,
						     .now_ns = now_ns };
	struct kube_review *review = NULL;

	memset(&lab, 0, sizeof(lab));
	lab.now_ns = 1000 * NSEC_PER_SEC;
	assert_int_equal(kube_review_start(&options, &review, NULL), 0);
	*state = review;
	return 0;
}

static int close_review(void **state)
{
	kube_review_stop(*state);
	return 0;
}

static enum http_verdict ask_from(struct kube_review *review, const char *token,
				  const char *namespace, uint64_t peer)
{
	const struct http_question question = { token, namespace, peer, peer };

	return kube_review_ask(review, &question);
}

static enum http_verdict ask(struct kube_review *review, const char *token)
{
	return ask_from(review, token, NULL, 1);
}

/* As the server does: asks, has the thread find out, and asks again. */
static enum http_verdict decide(struct kube_review *review, const char *token,
				const char *namespace)
{
	enum http_verdict verdict = ask_from(review, token, namespace, 1);

	if (verdict != HTTP_UNDECIDED)
		return verdict;
	assert_true(kube_review_turn(review));
	return ask_from(review, token, namespace, 1);
}

static struct kube_review_stats stats_of(struct kube_review *review)
{
	struct kube_review_stats stats;

	kube_review_get_stats(review, &stats);
	return stats;
}

static void the_server_decides_once(void **state)
{
	assert_int_equal(ask(*state, "good"), HTTP_UNDECIDED);
	assert_int_equal(ask(*state, "good"), HTTP_UNDECIDED);
	assert_int_equal(stats_of(*state).waiting, 1);
	assert_true(kube_review_turn(*state));
	assert_false(kube_review_turn(*state));
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(ask(*state, "good"), HTTP_ADMITTED);
	assert_int_equal(lab.token_reviews, 1);
	assert_int_equal(lab.access_reviews, 1);
	assert_int_equal(stats_of(*state).from_memory, 10);
	assert_int_equal(stats_of(*state).allowed, 1);
}

static void each_namespace_is_decided_by_itself(void **state)
{
	assert_int_equal(decide(*state, "good", NULL), HTTP_ADMITTED);
	assert_non_null(strstr(lab.last_body, "\"path\":\"/metrics\""));
	assert_int_equal(decide(*state, "good", "shop"), HTTP_ADMITTED);
	assert_non_null(strstr(lab.last_body, "\"namespace\":\"shop\""));
	assert_null(strstr(lab.last_body, "nonResourceAttributes"));
	assert_int_equal(decide(*state, "good", "bank"), HTTP_FORBIDDEN);
	assert_int_equal(decide(*state, "poor", NULL), HTTP_FORBIDDEN);
	assert_int_equal(lab.token_reviews, 2); /* one of each token */
	assert_int_equal(stats_of(*state).forbidden, 2);
}

static void what_is_no_token_is_not_asked_about(void **state)
{
	assert_int_equal(ask(*state, ""), HTTP_UNAUTHORIZED);
	assert_int_equal(ask(*state, "a\"b"), HTTP_UNAUTHORIZED);
	assert_int_equal(ask_from(*state, "good", "", 1), HTTP_MALFORMED);
	assert_int_equal(ask_from(*state, "good", "a%2fb", 1), HTTP_MALFORMED);
	assert_false(kube_review_turn(*state));
}

static void a_wrong_token_is_refused_for_half_a_minute(void **state)
{
	assert_int_equal(decide(*state, "wrong", NULL), HTTP_UNAUTHORIZED);
	lab.now_ns += REVIEW_UNKNOWN_NS - 1;
	assert_int_equal(ask(*state, "wrong"), HTTP_UNAUTHORIZED);
	assert_int_equal(lab.token_reviews, 1);
	lab.now_ns += 1;
	assert_int_equal(ask(*state, "wrong"), HTTP_UNDECIDED);
	assert_int_equal(lab.access_reviews, 0);
}

/* 2 minutes for a token, 5 for what it allows, 30 s for a refusal. */
static void answers_end(void **state)
{
	uint64_t began_ns = lab.now_ns;

	assert_int_equal(decide(*state, "good", NULL), HTTP_ADMITTED);
	assert_int_equal(decide(*state, "good", "bank"), HTTP_FORBIDDEN);
	lab.now_ns = began_ns + 30 * NSEC_PER_SEC;
	assert_int_equal(ask_from(*state, "good", "bank", 1), HTTP_UNDECIDED);
	assert_true(kube_review_turn(*state));
	assert_int_equal(lab.token_reviews, 1);
	assert_int_equal(lab.access_reviews, 3);
	lab.now_ns = began_ns + 120 * NSEC_PER_SEC - 1;
	assert_int_equal(ask(*state, "good"), HTTP_ADMITTED);
	lab.now_ns++;
	assert_int_equal(ask(*state, "good"), HTTP_UNDECIDED);
	assert_true(kube_review_turn(*state));
	assert_int_equal(lab.token_reviews, 2);
	lab.now_ns = began_ns + 239 * NSEC_PER_SEC;
	assert_int_equal(decide(*state, "good", NULL), HTTP_ADMITTED);
	lab.now_ns = began_ns + 300 * NSEC_PER_SEC - 1;
	assert_int_equal(decide(*state, "good", NULL), HTTP_ADMITTED);
	assert_int_equal(lab.token_reviews, 3);
}

/* While the server is away, kept answers count; other requests are refused, without questions. */
static void it_fails_closed(void **state)
{
	assert_int_equal(decide(*state, "good", NULL), HTTP_ADMITTED);
	lab.failure = -ETIMEDOUT;
	assert_int_equal(ask(*state, "good2"), HTTP_UNDECIDED);
	assert_int_equal(ask(*state, "good3"), HTTP_UNDECIDED);
	assert_true(kube_review_turn(*state));
	assert_int_equal(ask(*state, "good2"), HTTP_UNREVIEWED);
	assert_int_equal(ask(*state, "good3"), HTTP_UNREVIEWED);
	assert_int_equal(ask(*state, "good"), HTTP_ADMITTED);
	assert_false(kube_review_turn(*state));
	assert_false(stats_of(*state).reachable);
	assert_string_equal(stats_of(*state).last_error, "a failure of the test");
	lab.now_ns += KUBE_REVIEW_RETRY_NS;
	lab.failure = 0;
	assert_int_equal(decide(*state, "good2", NULL), HTTP_ADMITTED);
	assert_true(stats_of(*state).reachable);
	assert_string_equal(stats_of(*state).last_error, "");
	assert_int_equal(stats_of(*state).failed, 1);
}

/* If the server finds a question unfit, its token is refused; the server has not failed. */
static void an_unfit_question_is_refused(void **state)
{
	lab.failure = -EBADMSG;
	assert_int_equal(decide(*state, "good", NULL), HTTP_UNAUTHORIZED);
	assert_true(stats_of(*state).reachable);
}

static void the_line_is_bounded(void **state)
{
	char token[32];

	for (unsigned i = 0; i < KUBE_REVIEW_WAITING_MAX; i++) {
		unsigned peer = i / KUBE_REVIEW_WAITING_PER_PEER;

		(void)snprintf(token, sizeof(token), "good%u", i);
		assert_int_equal(ask_from(*state, token, NULL, peer), HTTP_UNDECIDED);
		(void)snprintf(token, sizeof(token), "more%u", i);
		if (i % KUBE_REVIEW_WAITING_PER_PEER == KUBE_REVIEW_WAITING_PER_PEER - 1)
			assert_int_equal(ask_from(*state, token, NULL, peer), HTTP_CROWDED);
	}
	assert_int_equal(ask_from(*state, "another", NULL, 99), HTTP_CROWDED);
	assert_int_equal(stats_of(*state).crowded, 5);
	while (kube_review_turn(*state))
		;
	assert_int_equal(ask_from(*state, "good0", NULL, 99), HTTP_ADMITTED);
}

/* Guesses of one client fill the places of its address, of its network, and the whole line. */
static void guess(struct kube_review *review, unsigned round)
{
	char token[32];

	for (unsigned i = 0; i < 2 * KUBE_REVIEW_WAITING_MAX; i++) {
		const struct http_question question = { token, NULL, i, 1 };

		(void)snprintf(token, sizeof(token), "wrong%u-%u", round, i);
		(void)ask_from(review, token, NULL, 1 + i / KUBE_REVIEW_WAITING_PER_PEER);
		(void)kube_review_ask(review, &question);
	}
}

/* Scraped each minute, a token never waits, however many guesses come from its address. */
static void guesses_delay_no_token_in_use(void **state)
{
	assert_int_equal(decide(*state, "good", NULL), HTTP_ADMITTED);
	for (unsigned minute = 0; minute < 20; minute++) {
		lab.now_ns += 60 * NSEC_PER_SEC;
		guess(*state, minute);
		assert_int_equal(ask(*state, "good"), HTTP_ADMITTED);
		assert_true(kube_review_turn(*state)); /* of many: the first */
	}
	assert_int_equal(stats_of(*state).unauthenticated, 0);
	assert_in_range(lab.token_reviews, 20, 21);
	assert_in_range(lab.access_reviews, 4, 6);
}

/* After the end of its answers it is asked about first, for some minutes. */
static void a_known_token_is_first_in_a_full_line(void **state)
{
	assert_int_equal(decide(*state, "good", NULL), HTTP_ADMITTED);
	lab.now_ns += REVIEW_TOKEN_NS + REVIEW_KNOWN_NS - 1;
	guess(*state, 0);
	assert_int_equal(stats_of(*state).waiting, KUBE_REVIEW_WAITING_MAX);
	assert_int_equal(decide(*state, "good", NULL), HTTP_ADMITTED);
	assert_int_equal(lab.token_reviews, 2);
	/* One that its owner may not use is no more than a guess. */
	assert_int_equal(ask_from(*state, "good", "bank", 1), HTTP_CROWDED);
	lab.now_ns += REVIEW_TOKEN_NS + REVIEW_KNOWN_NS;
	assert_int_equal(ask(*state, "good"), HTTP_CROWDED);
}

/* A revoked token is refused as soon as the API server says so, and is no longer known. */
static void a_revoked_token_is_known_no_more(void **state)
{
	assert_int_equal(decide(*state, "good", NULL), HTTP_ADMITTED);
	lab.now_ns += REVIEW_TOKEN_NS - REVIEW_RENEW_NS;
	lab.failure = -EBADMSG;
	assert_int_equal(ask(*state, "good"), HTTP_ADMITTED);
	assert_true(kube_review_turn(*state));
	assert_int_equal(ask(*state, "good"), HTTP_UNAUTHORIZED);
	lab.now_ns += REVIEW_UNKNOWN_NS;
	guess(*state, 0);
	assert_int_equal(ask(*state, "good"), HTTP_CROWDED);
}

/* While the API server is away, a renewal is not asked for, and the kept answers count. */
static void a_renewal_may_fail(void **state)
{
	assert_int_equal(decide(*state, "good", NULL), HTTP_ADMITTED);
	lab.now_ns += REVIEW_TOKEN_NS - REVIEW_RENEW_NS;
	lab.failure = -ETIMEDOUT;
	assert_int_equal(ask(*state, "good"), HTTP_ADMITTED);
	assert_true(kube_review_turn(*state));
	assert_int_equal(ask(*state, "good"), HTTP_ADMITTED);
	assert_false(kube_review_turn(*state));
	assert_int_equal(stats_of(*state).unreviewed, 0);
	lab.now_ns += REVIEW_RENEW_NS;
	assert_int_equal(ask(*state, "good"), HTTP_UNDECIDED);
}

static void a_network_has_a_part_of_the_line(void **state)
{
	struct http_question question = { .network = 7 };
	char token[32];

	for (unsigned i = 0; i <= KUBE_REVIEW_WAITING_PER_NET; i++) {
		(void)snprintf(token, sizeof(token), "good%u", i);
		question.token = token;
		question.peer = i; /* each from another address */
		assert_int_equal(kube_review_ask(*state, &question),
				 i < KUBE_REVIEW_WAITING_PER_NET ? HTTP_UNDECIDED : HTTP_CROWDED);
	}
	question.network = 8;
	assert_int_equal(kube_review_ask(*state, &question), HTTP_UNDECIDED);
}

/* Guesses push out no right answer, however many. */
static void guesses_change_nothing(void **state)
{
	char token[32];

	assert_int_equal(decide(*state, "good", NULL), HTTP_ADMITTED);
	for (unsigned i = 0; i < 5000; i++) {
		(void)snprintf(token, sizeof(token), "wrong%u", i);
		assert_int_equal(decide(*state, token, NULL), HTTP_UNAUTHORIZED);
		(void)snprintf(token, sizeof(token), "n%u", i);
		assert_int_equal(decide(*state, "poor", token), HTTP_FORBIDDEN);
	}
	assert_int_equal(ask(*state, "good"), HTTP_ADMITTED);
	assert_int_equal(stats_of(*state).unauthenticated, 5000);
}

int main(void)
{
#define WITH(test) cmocka_unit_test_setup_teardown(test, open_review, close_review)
	const struct CMUnitTest tests[] = {
		WITH(the_server_decides_once),
		WITH(each_namespace_is_decided_by_itself),
		WITH(what_is_no_token_is_not_asked_about),
		WITH(a_wrong_token_is_refused_for_half_a_minute),
		WITH(answers_end),
		WITH(it_fails_closed),
		WITH(an_unfit_question_is_refused),
		WITH(the_line_is_bounded),
		WITH(guesses_change_nothing),
		WITH(guesses_delay_no_token_in_use),
		WITH(a_known_token_is_first_in_a_full_line),
		WITH(a_revoked_token_is_known_no_more),
		WITH(a_renewal_may_fail),
		WITH(a_network_has_a_part_of_the_line),
	};

	return unit_run(tests);
}

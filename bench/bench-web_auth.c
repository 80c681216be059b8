// SPDX-License-Identifier: Apache-2.0
/*
 * bench-web_auth [QUESTIONS] - how long the server's thread takes to decide about a request whose
 * answer is kept, in µs: a token of an account of Kubernetes (1,200 bytes), a user with a bcrypt
 * password, a token of a file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"
#include "kube/review/kube_review.h"
#include "net/server/crypt_library.h"
#include "net/server/http_auth.h"
#include "net/server/http_basic_auth.h"
#include "net/web/web_config.h"

#define TOKEN_LEN 1200
/* bcrypt of "right horse" at cost 10 takes some 70 ms; this one has cost 4. */
#define USERS                                                                                      \
	"basic_auth_users:\n  alice: "                                                             \
	"$2y$04$abcdefghijklmnopqrstuuLK4yYxcGJwQr33yKnQTmKjI1WQSUD2K\n"

static char token[TOKEN_LEN + 1];

static int answer(void *userdata, const char *path, const char *body, struct strbuf *out,
		  struct diag *diag)
{
	(void)userdata;
	(void)body;
	(void)diag;
	strbuf_add_str(out,
		       strstr(path, "tokenreviews")
			       ? "{\"kind\":\"TokenReview\",\"status\":{\"authenticated\":true,"
				 "\"user\":{\"username\":\"u\"}}}"
			       : "{\"kind\":\"SubjectAccessReview\",\"status\":{\"allowed\":"
				 "true}}");
	return 0;
}

static void tell(const char *what, uint64_t began_ns, unsigned questions)
{
	uint64_t took_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;

	printf("%-32s %6.2f us\n", what, (double)took_ns / 1e3 / questions);
}

static void bench_review(unsigned questions)
{
	const struct kube_review_options options = { .audience = "", .post = answer };
	const struct http_question question = { token, NULL, 1 };
	struct kube_review *review = NULL;
	uint64_t began_ns;

	if (kube_review_start(&options, &review, NULL) < 0 ||
	    kube_review_ask(review, &question) != HTTP_UNDECIDED || !kube_review_turn(review))
		abort();
	began_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (unsigned i = 0; i < questions; i++) {
		if (kube_review_ask(review, &question) != HTTP_ADMITTED)
			abort();
	}
	tell("account of Kubernetes", began_ns, questions);
	kube_review_stop(review);
}

static void bench_users(unsigned questions)
{
	struct http_basic_auth *auth = NULL;
	struct web_config *config = NULL;
	struct diag diag = { "" };
	uint64_t began_ns;

	if (crypt_library_load(&diag) < 0 || http_basic_auth_new(&auth, &diag) < 0 ||
	    web_config_parse("f", USERS, strlen(USERS), &config, &diag) < 0)
		abort();
	while (http_basic_auth_ask(auth, config, "alice", "right horse", 1) == HTTP_BASIC_PENDING)
		(void)usleep(1000);
	began_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (unsigned i = 0; i < questions; i++) {
		if (http_basic_auth_ask(auth, config, "alice", "right horse", 1) !=
		    HTTP_BASIC_ADMITTED)
			abort();
	}
	tell("user with a bcrypt password", began_ns, questions);
	http_basic_auth_free(auth);
	web_config_free(config);
}

static void bench_tokens(unsigned questions)
{
	struct http_auth *auth = NULL;
	char header[64];
	uint64_t began_ns;

	if (http_auth_parse("f", "0123456789abcdef0123456789abcdef\n", &auth, NULL) < 0)
		abort();
	(void)snprintf(header, sizeof(header), "Bearer %s", http_auth_token(auth));
	began_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (unsigned i = 0; i < questions; i++) {
		if (!http_auth_admits(auth, header))
			abort();
	}
	tell("token of a file", began_ns, questions);
	http_auth_free(auth);
}

int main(int argc, char **argv)
{
	uint64_t questions = 200000;

	if (argc > 1 && (parse_u64(argv[1], strlen(argv[1]), &questions) < 0 || !questions))
		return 2;
	memset(token, 'a', TOKEN_LEN);
	bench_review((unsigned)questions);
	bench_users((unsigned)questions);
	bench_tokens((unsigned)questions);
	return 0;
}

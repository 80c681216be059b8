// SPDX-License-Identifier: Apache-2.0
/* Real bcrypt, at its lowest cost: right, wrong, unknown, and how often a hash is computed. */
#include "net/server/http_basic_auth.h"

#include <time.h>

#include "net/server/crypt_library.h"
#include "tests/unit/unit.h"

#define FILE_TEXT                                                                                  \
	"basic_auth_users:\n  alice: "                                                             \
	"$2y$04$abcdefghijklmnopqrstuuLK4yYxcGJwQr33yKnQTmKjI1WQSUD2K\n"
#define RIGHT     "right horse"
#define TURNS_MAX 20000 /* of a millisecond: a test fails after that, it never waits for that */

static struct web_config *config;
static struct http_basic_auth *auth;

static int set_up(void **state)
{
	struct diag diag = { "" };

	if (crypt_library_load(&diag) < 0 ||
	    web_config_parse("w", FILE_TEXT, strlen(FILE_TEXT), &config, &diag) < 0 ||
	    http_basic_auth_new(&auth, &diag) < 0)
		fail_msg("%s", diag.text);
	return 0;
}

static int tear_down(void **state)
{
	http_basic_auth_free(auth);
	web_config_free(config);
	return 0;
}

static enum http_basic_verdict ask(const char *name, const char *password)
{
	const struct timespec turn = { .tv_nsec = 1000000 };
	enum http_basic_verdict verdict = HTTP_BASIC_PENDING;

	for (int i = 0; i < TURNS_MAX && verdict == HTTP_BASIC_PENDING; i++) {
		if (i)
			(void)nanosleep(&turn, NULL);
		verdict = http_basic_auth_ask(auth, config, name, password, 1);
	}
	return verdict;
}

static struct http_basic_stats stats(void)
{
	struct http_basic_stats now;

	http_basic_auth_get_stats(auth, &now);
	return now;
}

static void a_password_is_compared_once(void **state)
{
	assert_int_equal(http_basic_auth_ask(auth, config, "alice", RIGHT, 1), HTTP_BASIC_PENDING);
	for (int i = 0; i < 3; i++)
		assert_int_equal(ask("alice", RIGHT), HTTP_BASIC_ADMITTED);
	assert_int_equal(stats().comparisons, 1);
	assert_int_equal(stats().wrong, 0);
}

static void wrong_and_unknown_cost_the_same(void **state)
{
	assert_int_equal(ask("alice", "wrong"), HTTP_BASIC_REFUSED);
	assert_int_equal(ask("alice", "wrong"), HTTP_BASIC_REFUSED);
	assert_int_equal(ask("bob", RIGHT), HTTP_BASIC_REFUSED);
	assert_int_equal(ask("bob", RIGHT), HTTP_BASIC_REFUSED);
	assert_int_equal(ask("alice", ""), HTTP_BASIC_REFUSED);
	assert_int_equal(stats().comparisons, 3);
	assert_int_equal(stats().wrong, 3);
	assert_int_equal(ask("alice", RIGHT), HTTP_BASIC_ADMITTED);
}

static void another_hash_is_another_question(void **state)
{
	struct web_user *user = &config->users[0];

	assert_int_equal(ask("alice", RIGHT), HTTP_BASIC_ADMITTED);
	user->hash[WEB_BCRYPT_LEN - 1] = 'L';
	assert_int_equal(ask("alice", RIGHT), HTTP_BASIC_REFUSED);
	assert_int_equal(stats().comparisons, 2);
}

static void few_wait_and_fewer_from_one_address(void **state)
{
	char password[32];
	unsigned pending = 0, busy = 0;

	/* The first ones may be compared while the others are asked for. */
	for (unsigned i = 0; i < 1000; i++) {
		(void)snprintf(password, sizeof(password), "guess %u", i);
		switch (http_basic_auth_ask(auth, config, "alice", password, 7)) {
		case HTTP_BASIC_PENDING:
			pending++;
			break;
		case HTTP_BASIC_BUSY:
			busy++;
			break;
		case HTTP_BASIC_ADMITTED:
		case HTTP_BASIC_REFUSED:
			fail();
		}
	}
	assert_int_equal(pending + busy, 1000);
	assert_true(pending < 100);
	assert_int_equal(stats().busy, busy);
	/* Another address still has its turn. */
	assert_int_equal(ask("alice", RIGHT), HTTP_BASIC_ADMITTED);
}

static void guesses_push_out_no_right_answer(void **state)
{
	uint64_t before;
	char password[32];

	assert_int_equal(ask("alice", RIGHT), HTTP_BASIC_ADMITTED);
	for (unsigned i = 0; i < 20; i++) {
		(void)snprintf(password, sizeof(password), "guess %u", i);
		assert_int_equal(ask("alice", password), HTTP_BASIC_REFUSED);
	}
	before = stats().comparisons;
	assert_int_equal(http_basic_auth_ask(auth, config, "alice", RIGHT, 1), HTTP_BASIC_ADMITTED);
	assert_int_equal(stats().comparisons, before);
}

static void what_is_too_long_is_refused_at_once(void **state)
{
	char text[2000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(http_basic_auth_ask(auth, config, text, RIGHT, 1), HTTP_BASIC_REFUSED);
	assert_int_equal(http_basic_auth_ask(auth, config, "alice", text, 1), HTTP_BASIC_REFUSED);
	assert_int_equal(stats().comparisons, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_password_is_compared_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(wrong_and_unknown_cost_the_same, set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_hash_is_another_question, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(few_wait_and_fewer_from_one_address, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(guesses_push_out_no_right_answer, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_is_too_long_is_refused_at_once, set_up,
						tear_down),
	};

	return unit_run(tests);
}

// SPDX-License-Identifier: Apache-2.0
#include "net/grpc_answer.h"

#include "tests/unit/unit.h"

static void say(struct grpc_answer *answer, const char *name, const char *value)
{
	grpc_answer_header(answer, name, strlen(name), value, strlen(value));
}

/* However the bytes come. */
static void a_message_is_what_is_behind_its_prefix(void **state)
{
	static const char body[] = "\0\0\0\0\5hello";

	for (size_t piece = 1; piece < sizeof(body); piece++) {
		struct grpc_answer answer;

		grpc_answer_init(&answer, 5);
		say(&answer, "content-type", "application/grpc");
		for (size_t at = 0; at < sizeof(body) - 1; at += piece) {
			size_t left = sizeof(body) - 1 - at;

			assert_int_equal(
				grpc_answer_feed(&answer, body + at, piece < left ? piece : left),
				0);
		}
		assert_int_equal(grpc_answer_end(&answer, 200, NULL), -EPROTO); /* no status yet */
		say(&answer, "Grpc-Status", "0");
		assert_int_equal(grpc_answer_end(&answer, 200, NULL), 0);
		assert_int_equal(answer.message.len, 5);
		assert_memory_equal(answer.message.data, "hello", 5);
		grpc_answer_release(&answer);
	}
}

static void an_invalid_message_is_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		int error;
	} cases[] = {
		{ "\1\0\0\0\1x", 6, -EPROTO },           /* compressed */
		{ "\0\0\0\0\1xy", 7, -EPROTO },          /* more than it said */
		{ "\0\0\0\0\0\0\0\0\0\0", 10, -EPROTO }, /* two messages */
		{ "\0\0\0\0\11", 5, -EMSGSIZE },         /* nine bytes, before one of them came */
		{ "\0\377\377\377\377", 5, -EMSGSIZE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct grpc_answer answer;

		grpc_answer_init(&answer, 8);
		assert_int_equal(grpc_answer_feed(&answer, cases[i].bytes, cases[i].len),
				 cases[i].error);
		grpc_answer_release(&answer);
	}
}

static void the_end_says_what_came(void **state)
{
	static const struct {
		const char *status, *why;
		size_t bytes; /* of "\0\0\0\0\1x" */
		int http, error;
		const char *said;
	} cases[] = {
		{ "0", NULL, 6, 200, 0, "" },
		{ "0", NULL, 5, 200, -EPROTO, "the answer was cut" },
		{ "0", NULL, 3, 200, -EPROTO, "the answer was cut" },
		{ "0", NULL, 6, 404, -EPROTO, "HTTP 404" },
		{ NULL, NULL, 6, 200, -EPROTO, "the answer has no gRPC status" },
		{ "fine", NULL, 6, 200, -EPROTO, "the answer has no gRPC status" },
		{ "-1", NULL, 6, 200, -EPROTO, "the answer has no gRPC status" },
		{ "12", "unknown service", 0, 200, -ENOSYS, "gRPC status 12: unknown service" },
		{ "7", NULL, 0, 200, -EACCES, "gRPC status 7" },
		{ "16", NULL, 0, 200, -EACCES, "gRPC status 16" },
		{ "8", "rejected\nby limit", 0, 200, -EPROTO, "gRPC status 8: rejected?by limit" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct grpc_answer answer;
		struct diag diag = { "" };

		grpc_answer_init(&answer, 8);
		if (cases[i].bytes)
			assert_int_equal(grpc_answer_feed(&answer, "\0\0\0\0\1x", cases[i].bytes),
					 0);
		if (cases[i].status)
			say(&answer, "grpc-status", cases[i].status);
		if (cases[i].why)
			say(&answer, "grpc-message", cases[i].why);
		assert_int_equal(grpc_answer_end(&answer, cases[i].http, &diag), cases[i].error);
		assert_string_equal(diag.text, cases[i].said);
		grpc_answer_release(&answer);
	}
}

static void what_a_peer_says_has_an_end(void **state)
{
	struct grpc_answer answer;
	char text[1000];

	memset(text, 'a', sizeof(text));
	grpc_answer_init(&answer, 8);
	grpc_answer_header(&answer, "grpc-message", 12, text, sizeof(text));
	assert_int_equal(strlen(answer.said), sizeof(answer.said) - 1);
	grpc_answer_release(&answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_is_what_is_behind_its_prefix),
		cmocka_unit_test(an_invalid_message_is_refused),
		cmocka_unit_test(the_end_says_what_came),
		cmocka_unit_test(what_a_peer_says_has_an_end),
	};

	return unit_run(tests);
}

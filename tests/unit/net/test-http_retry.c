// SPDX-License-Identifier: Apache-2.0
#include "net/http_retry.h"

#include "tests/unit/unit.h"

static void outcomes_follow_the_protocol(void **state)
{
	static const struct {
		int status;
		enum http_outcome write, otlp;
	} cases[] = {
		{ 0, HTTP_LATER, HTTP_LATER },         { 200, HTTP_ACCEPTED, HTTP_ACCEPTED },
		{ 204, HTTP_ACCEPTED, HTTP_ACCEPTED }, { 299, HTTP_ACCEPTED, HTTP_ACCEPTED },
		{ 302, HTTP_REFUSED, HTTP_REFUSED },   { 400, HTTP_REFUSED, HTTP_REFUSED },
		{ 415, HTTP_REFUSED, HTTP_REFUSED },   { 429, HTTP_LATER, HTTP_LATER },
		{ 500, HTTP_LATER, HTTP_REFUSED },     { 501, HTTP_LATER, HTTP_REFUSED },
		{ 502, HTTP_LATER, HTTP_LATER },       { 504, HTTP_LATER, HTTP_LATER },
		{ 505, HTTP_LATER, HTTP_REFUSED },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(http_retry_outcome(cases[i].status, HTTP_RETRY_ALL_5XX),
				 cases[i].write);
		assert_int_equal(http_retry_outcome(cases[i].status, HTTP_RETRY_UNAVAILABLE),
				 cases[i].otlp);
	}
}

static void delays_double_up_to_a_limit(void **state)
{
	struct http_retry retry = { .first_ms = 100, .max_ms = 300 };

	assert_int_equal(http_retry_failed(&retry, 0, UINT32_MAX), 100);
	assert_int_equal(http_retry_failed(&retry, 0, UINT32_MAX), 200);
	assert_int_equal(http_retry_failed(&retry, 0, UINT32_MAX), 300);
	assert_int_equal(http_retry_failed(&retry, 0, UINT32_MAX), 300);
	assert_int_equal(http_retry_failed(&retry, 0, 0), 150);
	http_retry_succeeded(&retry);
	assert_int_equal(http_retry_failed(&retry, 0, 0), 50);
}

static void a_time_that_was_sent_is_waited_for(void **state)
{
	struct http_retry retry = { .first_ms = 100, .max_ms = 300 };

	assert_int_equal(http_retry_failed(&retry, 5000, 0), 5000);
	assert_int_equal(http_retry_failed(&retry, 1, UINT32_MAX), 200);
	assert_int_equal(http_retry_failed(&retry, UINT64_MAX, 0), HTTP_RETRY_TOLD_MAX_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outcomes_follow_the_protocol),
		cmocka_unit_test(delays_double_up_to_a_limit),
		cmocka_unit_test(a_time_that_was_sent_is_waited_for),
	};

	return unit_run(tests);
}

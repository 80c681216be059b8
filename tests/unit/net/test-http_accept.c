// SPDX-License-Identifier: Apache-2.0
#include "net/server/http_accept.h"
#include "tests/unit/unit.h"

static void follows_the_weights(void **state)
{
	static const struct {
		const char *value;
		bool gzip;
	} cases[] = {
		{ "", false },
		{ "gzip", true },
		{ "GZIP", true },
		{ "x-gzip", true },
		{ "deflate, gzip", true },
		{ "deflate,gzip;q=0.5,br", true },
		{ "gzip;q=0", false },
		{ "gzip; q=0.000", false },
		{ "gzip ; q=0.001", true },
		{ "gzip;q=1", true },
		{ "gzip;level=9;q=0", false },
		{ "*", true },
		{ "*;q=0", false },
		{ "*;q=0, gzip", true },
		{ "*, gzip;q=0", false },
		{ "gzip;q=0, *", false },
		{ "identity", false },
		{ "gzipped", false },
		{ "notgzip", false },
		{ "gzip;q=", false },
		{ "gzip;q=x", false },
		{ ", ,gzip", true },
		{ "gzip;", true },
		{ "gzip;q", true },
		{ ";q=1", false },
		{ "gzip;q=0.5x", false },
		{ "gzip;q=05", false },
		{ "gzip;q=.5", false },
		{ "gzip;q=1.001", false },
		{ "gzip;q=0.0001", false },
		{ "deflate;q=1,gzip;q=0,br;q=1", false },
		{ "gzip;q=0,identity;q=1", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (http_accepts_gzip(cases[i].value) != cases[i].gzip)
			fail_msg("\"%s\"", cases[i].value);
	}
}

static void takes_a_header_apart(void **state)
{
	const char *header = " ,text/Plain ; Version=\"1.0\"\t;Q=0.25 ,, b;q=0.075;x;q=1,c;q=2,d;";
	struct http_accepted accepted;
	size_t len;

	assert_true(http_accept_next(&header, &accepted));
	assert_true(http_accepted_is(&accepted, "text/plain"));
	assert_int_equal(accepted.weight, 250);
	assert_memory_equal(http_accepted_parameter(&accepted, "version", &len), "\"1.0\"", 5);
	assert_int_equal(len, 5);
	assert_null(http_accepted_parameter(&accepted, "charset", &len));
	assert_true(http_accept_next(&header, &accepted));
	assert_true(http_accepted_is(&accepted, "b"));
	assert_int_equal(accepted.weight, 75);
	assert_null(http_accepted_parameter(&accepted, "x", &len));
	assert_true(http_accept_next(&header, &accepted));
	assert_int_equal(accepted.weight, 0);
	assert_true(http_accept_next(&header, &accepted));
	assert_true(http_accepted_is(&accepted, "d"));
	assert_int_equal(accepted.weight, HTTP_WEIGHT_MAX);
	assert_false(http_accept_next(&header, &accepted));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(follows_the_weights),
					    cmocka_unit_test(takes_a_header_apart) };

	return unit_run(tests);
}

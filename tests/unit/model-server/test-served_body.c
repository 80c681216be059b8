// SPDX-License-Identifier: Apache-2.0
#include "model-server/served_body.h"

#include "tests/unit/unit.h"

#define LARGE (8U << 20)

static struct served_body *make(size_t len)
{
	return served_body_new(200, "text/plain", calloc(len + 1, 1), len, NULL);
}

/* Small bodies are still made when large ones fill the rest, until that is full as well. */
static void all_bodies_together_have_a_limit(void **state)
{
	static struct served_body *small[SERVED_BODIES_MAX / SERVED_BODY_SMALL];
	struct served_body *large[SERVED_BODIES_MAX / LARGE];
	size_t n = 0, m = 0;

	assert_int_equal(served_bodies_total(), 0);
	while (n < ARRAY_SIZE(large) && (large[n] = make(LARGE)))
		n++;
	assert_int_equal(n, (SERVED_BODIES_MAX - SERVED_BODIES_RESERVE) / LARGE - 1);
	assert_true(served_bodies_total() <= SERVED_BODIES_MAX - SERVED_BODIES_RESERVE);
	while (m < ARRAY_SIZE(small) && (small[m] = make(SERVED_BODY_SMALL)))
		m++;
	assert_true(m >= SERVED_BODIES_RESERVE / SERVED_BODY_SMALL);
	assert_true(served_bodies_total() <= SERVED_BODIES_MAX);
	while (m)
		served_body_unref(small[--m]);
	served_body_unref(large[--n]);
	large[n] = make(LARGE);
	assert_non_null(large[n++]);
	while (n)
		served_body_unref(large[--n]);
	assert_int_equal(served_bodies_total(), 0);
}

static void a_reference_adds_no_second_body(void **state)
{
	struct served_body *body = make(100);
	size_t total = served_bodies_total();

	assert_true(served_body_is_unshared(body));
	assert_ptr_equal(served_body_ref(body), body);
	assert_false(served_body_is_unshared(body));
	assert_int_equal(served_bodies_total(), total);
	served_body_unref(body);
	assert_int_equal(served_bodies_total(), total);
	served_body_unref(body);
	assert_int_equal(served_bodies_total(), 0);
}

static void tags_are_found_in_a_list(void **state)
{
	assert_true(etag_is_among("*", "\"a\""));
	assert_true(etag_is_among("\"a\"", "\"a\""));
	assert_true(etag_is_among("\"b\", W/\"a\"", "\"a\""));
	assert_false(etag_is_among("\"b\"", "\"a\""));
	assert_false(etag_is_among("", "\"a\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_bodies_together_have_a_limit),
		cmocka_unit_test(a_reference_adds_no_second_body),
		cmocka_unit_test(tags_are_found_in_a_list),
	};

	return unit_run(tests);
}

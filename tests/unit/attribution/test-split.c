// SPDX-License-Identifier: Apache-2.0
/* The promises of split.h, on known cases and on a million random ones. */
#include "attribution/split.h"

#include "tests/rig/property.h"
#include "tests/unit/unit.h"

static void assert_split(uint64_t total, const uint64_t *weights, size_t n,
			 const uint64_t *expected)
{
	struct split_scratch scratch = { 0 };
	uint64_t parts[8];

	assert_int_equal(split_exact(total, weights, n, parts, &scratch), 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(parts[i], expected[i]);
	split_scratch_release(&scratch);
}

static void test_known_cases(void **state)
{
	assert_split(10, (uint64_t[]){ 1, 1 }, 2, (uint64_t[]){ 5, 5 });
	assert_split(10, (uint64_t[]){ 1, 0, 3 }, 3, (uint64_t[]){ 3, 0, 7 }); /* 2.5, 7.5: a tie */
	assert_split(35000000, (uint64_t[]){ 7, 7, 7 }, 3,
		     (uint64_t[]){ 11666667, 11666667, 11666666 });
	assert_split(1, (uint64_t[]){ 1, 1, 1, 2 }, 4, (uint64_t[]){ 0, 0, 0, 1 });
	assert_split(0, (uint64_t[]){ 4, 5 }, 2, (uint64_t[]){ 0, 0 });
	assert_split(UINT64_MAX, (uint64_t[]){ UINT64_MAX / 2, UINT64_MAX / 2 }, 2,
		     (uint64_t[]){ UINT64_MAX / 2 + 1, UINT64_MAX / 2 });
	assert_split(UINT64_MAX, (uint64_t[]){ UINT64_MAX, 0 }, 2, (uint64_t[]){ UINT64_MAX, 0 });
}

static void test_refusals_write_zeros(void **state)
{
	struct split_scratch scratch = { 0 };
	uint64_t parts[2] = { 7, 7 };

	assert_int_equal(split_exact(5, (uint64_t[]){ 0, 0 }, 2, parts, &scratch), -EDOM);
	assert_int_equal(parts[0] | parts[1], 0);
	parts[0] = 7;
	assert_int_equal(split_exact(5, (uint64_t[]){ UINT64_MAX, 1 }, 2, parts, &scratch),
			 -EOVERFLOW);
	assert_int_equal(parts[0] | parts[1], 0);
	assert_int_equal(split_exact(5, NULL, 0, NULL, &scratch), -EDOM);
	split_scratch_release(&scratch);
}

#define PARTS_MAX 300

struct split_case {
	struct split_scratch scratch;
	uint64_t total, sum;
	size_t n;
	uint64_t weights[PARTS_MAX], parts[PARTS_MAX], again[PARTS_MAX];
};

/* Weights of all sizes, often equal or 0; their sum stays below 2^64. */
static void draw_case(struct property_source *source, struct split_case *c)
{
	uint64_t pool[3], most;

	c->n = 1 + draw_below(source, draw_chance(source, 200) ? PARTS_MAX : 8);
	c->total = draw_scaled(source);
	c->sum = 0;
	most = draw_chance(source, 4) ? UINT64_MAX / c->n : 1 + draw_below(source, 1000);
	for (size_t i = 0; i < 3; i++)
		pool[i] = draw_below(source, most);
	for (size_t i = 0; i < c->n; i++) {
		uint64_t kind = draw_below(source, 5);

		c->weights[i] = kind < 3 ? pool[kind] : kind == 3 ? 0 : draw_below(source, most);
		c->sum += c->weights[i];
	}
}

/* floor(total × w / Σ) <= part <= that + 1, and exact when it divides. */
static bool is_close(const struct split_case *c, size_t i)
{
	unsigned __int128 product = (unsigned __int128)c->total * c->weights[i];
	uint64_t floor = (uint64_t)(product / c->sum);

	return c->parts[i] == floor || (c->parts[i] == floor + 1 && product % c->sum != 0);
}

static const char *check_order(const struct split_case *c)
{
	for (size_t i = 1; i < c->n; i++) {
		uint64_t wa = c->weights[i - 1], wb = c->weights[i];

		if ((wa > wb && c->parts[i - 1] < c->parts[i]) ||
		    (wa < wb && c->parts[i - 1] > c->parts[i]))
			return "more weight got less";
		if (wa == wb && c->parts[i - 1] < c->parts[i])
			return "a tie did not go to the lower index";
	}
	return NULL;
}

static const char *split_is_exact(struct property_source *source, void *userdata)
{
	struct split_case *c = userdata;
	unsigned __int128 sum = 0;
	int r;

	draw_case(source, c);
	r = split_exact(c->total, c->weights, c->n, c->parts, &c->scratch);
	if (c->sum == 0)
		return r == -EDOM ? NULL : "no weight, but no -EDOM";
	if (r < 0)
		return "refused";
	for (size_t i = 0; i < c->n; i++) {
		sum += c->parts[i];
		if (!is_close(c, i))
			return "a part is 1 or more away from its exact value";
	}
	if (sum != c->total)
		return "the parts do not sum to the whole";
	if (split_exact(c->total, c->weights, c->n, c->again, &c->scratch) < 0 ||
	    memcmp(c->parts, c->again, c->n * sizeof(uint64_t)) != 0)
		return "not deterministic";
	return check_order(c);
}

static void test_random_cases(void **state)
{
	struct split_case c = { 0 };
	bool holds = property_check("split", split_is_exact, &c, 1000000);

	split_scratch_release(&c.scratch);
	assert_true(holds);
}

/* Quick-select must not take quadratic time for sorted, reversed or equal remainders. */
static void test_large_inputs_are_linear(void **state)
{
	enum { N = 200000 };
	struct split_scratch scratch = { 0 };
	uint64_t *weights = calloc(N, sizeof(*weights)), *parts = calloc(N, sizeof(*parts));

	assert_non_null(weights);
	assert_non_null(parts);
	for (int shape = 0; shape < 4; shape++) {
		uint64_t sum = 0;

		for (uint64_t i = 0; i < N; i++)
			weights[i] = shape == 0   ? i
				     : shape == 1 ? N - i
				     : shape == 2 ? 3
						  : i % 2 + 1;
		assert_int_equal(split_exact(N / 2 + 1, weights, N, parts, &scratch), 0);
		for (size_t i = 0; i < N; i++)
			sum += parts[i];
		assert_int_equal(sum, N / 2 + 1);
	}
	free(weights);
	free(parts);
	split_scratch_release(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_cases),
		cmocka_unit_test(test_refusals_write_zeros),
		cmocka_unit_test(test_random_cases),
		cmocka_unit_test(test_large_inputs_are_linear),
	};

	return unit_run(tests);
}

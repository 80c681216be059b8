// SPDX-License-Identifier: Apache-2.0
#include "samples/sample_grid.h"

#include "tests/unit/unit.h"

#define assert_near(a, b, slack) assert_true(fabs((a) - (b)) <= (slack))

static void make(struct sample_grid *grid, const int64_t *edges_us, size_t count)
{
	*grid = (struct sample_grid){ 0 };
	for (size_t i = 0; i < count; i++)
		assert_int_equal(grid_add_edge(grid, edges_us[i]), 0);
	grid_finish(grid);
}

static void test_edges_are_sorted_and_single(void **state)
{
	struct sample_grid grid;

	make(&grid, (const int64_t[]){ 30, 10, 20, 20, 10 }, 5);
	assert_int_equal(grid_steps(&grid), 2);
	assert_int_equal(grid_step_us(&grid, 1), 10);
	assert_int_equal(grid_typical_us(&grid), 10);
	grid_release(&grid);
	assert_int_equal(grid_steps(&grid), 0);
	assert_int_equal(grid_typical_us(&grid), 0);
}

/* A counter with steps of its own: each step of the grid gets its part, and the sum is kept. */
static void test_amounts_are_spread_by_time(void **state)
{
	double amounts[4] = { 0 }, covered[4] = { 0 };
	struct sample_grid grid;

	make(&grid, (const int64_t[]){ 0, 10, 20, 40, 50 }, 5);
	grid_spread(&grid, 5, 35, 60, amounts, covered);
	assert_near(amounts[0], 10, 1e-12);
	assert_near(amounts[1], 20, 1e-12);
	assert_near(amounts[2], 30, 1e-12);
	assert_near(amounts[3], 0, 1e-12);
	assert_near(covered[0], 0.5, 1e-12);
	assert_near(covered[1], 1, 1e-12);
	assert_near(covered[2], 0.75, 1e-12);
	/* Earlier than the last one, and beyond both ends. */
	grid_spread(&grid, -10, 10, 2, amounts, NULL);
	assert_near(amounts[0], 11, 1e-12);
	grid_spread(&grid, 45, 65, 4, amounts, NULL);
	assert_near(amounts[3], 1, 1e-12);
	grid_spread(&grid, 70, 80, 4, amounts, NULL);
	assert_near(amounts[3], 1, 1e-12);
	grid_release(&grid);
}

static void expect(struct grid_cover *cover, int64_t from_us, int64_t to_us, size_t count,
		   const struct grid_part *expected)
{
	struct grid_part parts[COVER_PARTS_MAX + 1];

	assert_int_equal(grid_cover_add(cover, from_us, to_us, parts), count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(parts[i].from_us, expected[i].from_us);
		assert_int_equal(parts[i].to_us, expected[i].to_us);
	}
}

static void test_no_time_is_counted_twice(void **state)
{
	struct grid_cover cover = { .count = 0 };

	expect(&cover, 10, 20, 1, (const struct grid_part[]){ { 10, 20 } });
	expect(&cover, 10, 20, 0, NULL);
	expect(&cover, 20, 30, 1, (const struct grid_part[]){ { 20, 30 } });
	assert_int_equal(cover.count, 1);
	expect(&cover, 40, 50, 1, (const struct grid_part[]){ { 40, 50 } });
	/* An earlier part of the same thing, under other labels. */
	expect(&cover, 0, 10, 1, (const struct grid_part[]){ { 0, 10 } });
	assert_int_equal(cover.count, 2);
	expect(&cover, -5, 60, 3, (const struct grid_part[]){ { -5, 0 }, { 30, 40 }, { 50, 60 } });
	assert_int_equal(cover.count, 1);
}

static void test_cover_has_a_limit(void **state)
{
	struct grid_cover cover = { .count = 0 };

	for (int64_t i = 0; i < COVER_PARTS_MAX; i++)
		expect(&cover, i * 10, i * 10 + 1, 1,
		       (const struct grid_part[]){ { i * 10, i * 10 + 1 } });
	expect(&cover, 10000, 10001, 0, NULL);
	expect(&cover, 1, 2, 1, (const struct grid_part[]){ { 1, 2 } });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edges_are_sorted_and_single),
		cmocka_unit_test(test_amounts_are_spread_by_time),
		cmocka_unit_test(test_no_time_is_counted_twice),
		cmocka_unit_test(test_cover_has_a_limit),
	};

	return unit_run(tests);
}

// SPDX-License-Identifier: Apache-2.0
/* The smallest of many, against sorting all of them. */
#include "snapshot/ranking.h"

#include "tests/unit/unit.h"

#define OFFERS 500U

static bool is_smaller(const struct ranked *a, const struct ranked *b)
{
	return a->used_uj != b->used_uj ? a->used_uj < b->used_uj : a->row < b->row;
}

static uint32_t smaller_than(const struct ranked *all, uint32_t count, const struct ranked *one)
{
	uint32_t smaller = 0;

	for (uint32_t i = 0; i < count; i++)
		smaller += is_smaller(&all[i], one);
	return smaller;
}

static void test_smallest_in_order(void **state)
{
	static struct ranked all[OFFERS];
	struct ranking ranking = { 0 };

	srand(7);
	for (uint32_t wanted = 0; wanted < OFFERS + 20; wanted += 13) {
		uint32_t expected = wanted < OFFERS ? wanted : OFFERS;

		assert_int_equal(ranking_begin(&ranking, wanted), 0);
		for (uint32_t i = 0; i < OFFERS; i++) {
			all[i] = (struct ranked){ (uint64_t)(rand() % 200), OFFERS - i };
			ranking_offer(&ranking, all[i].used_uj, all[i].row);
		}
		ranking_sort_smallest_first(&ranking);
		assert_int_equal(ranking.count, expected);
		for (uint32_t i = 0; i < expected; i++)
			assert_int_equal(smaller_than(all, OFFERS, &ranking.ranked[i]), i);
	}
	ranking_release(&ranking);
}

static void test_largest_first(void **state)
{
	struct ranking ranking = { 0 };

	assert_int_equal(ranking_begin(&ranking, 10), 0);
	ranking_offer(&ranking, 5, 1);
	ranking_offer(&ranking, 9, 2);
	ranking_offer(&ranking, 9, 0);
	ranking_sort_largest_first(&ranking);
	assert_int_equal(ranking.count, 3);
	assert_int_equal(ranking.ranked[0].row, 0); /* of the same use: by row */
	assert_int_equal(ranking.ranked[1].row, 2);
	assert_int_equal(ranking.ranked[2].row, 1);
	ranking_release(&ranking);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_smallest_in_order),
		cmocka_unit_test(test_largest_first),
	};

	return unit_run(tests);
}

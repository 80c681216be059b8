// SPDX-License-Identifier: Apache-2.0
#include "base/health.h"

#include "tests/unit/unit.h"

struct small {
	uint64_t number;
	char text[3]; /* so that the next block has to be aligned */
};

static bool fill_small(const void *owner, void *ret)
{
	struct small *small = ret;

	assert_true((uintptr_t)ret % sizeof(uint64_t) == 0);
	assert_int_equal(small->number, 0);
	small->number = *(const uint64_t *)owner;
	return small->number != 0;
}

static const struct health_part part = { .size = 11, .fill = fill_small };

static void each_part_has_a_block_of_its_own(void **state)
{
	const uint64_t one = 1, three = 3, nothing = 0;
	const struct health_source sources[] = {
		{ &part, &one },
		{ &part, NULL },
		{ &part, &nothing },
		{ &part, &three },
	};
	size_t size = health_size(sources, ARRAY_SIZE(sources));
	unsigned char *memory = malloc(size);
	const struct health_block *blocks;

	assert_non_null(memory);
	memset(memory, 0xff, size);
	blocks = health_fill(sources, ARRAY_SIZE(sources), memory);
	assert_int_equal(((const struct small *)blocks[0].data)->number, 1);
	assert_null(blocks[1].data); /* it does not exist here */
	assert_null(blocks[2].data); /* it is not configured */
	assert_int_equal(((const struct small *)blocks[3].data)->number, 3);
	assert_ptr_equal(blocks[1].part, &part);
	free(memory);
}

static void a_histogram_counts_up_to_its_bounds(void **state)
{
	static const double bounds[HEALTH_BUCKETS_MAX] = { 0.5, 1 };
	struct health_histogram histogram = { .count = 0 };

	health_histogram_add(&histogram, bounds, 0.5);
	health_histogram_add(&histogram, bounds, 0.75);
	health_histogram_add(&histogram, bounds, 20);
	assert_int_equal(histogram.counts[0], 1);
	assert_int_equal(histogram.counts[1], 1);
	assert_int_equal(histogram.counts[2], 0); /* only the count and the sum have it */
	assert_int_equal(histogram.count, 3);
	assert_true(fabs(histogram.sum - 21.25) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_part_has_a_block_of_its_own),
		cmocka_unit_test(a_histogram_counts_up_to_its_bounds),
	};

	return unit_run(tests);
}

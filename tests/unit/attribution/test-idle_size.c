// SPDX-License-Identifier: Apache-2.0
#include "attribution/learning/idle_size.h"

#include "tests/rig/property.h"
#include "tests/unit/unit.h"

#define SECOND_NS 1000000000ULL
#define MAX       12

static void test_request_counts_not_use(void **state)
{
	struct idle_size_scratch scratch = { 0 };
	/* 0: half a CPU, two processes; 1: of unknown size; 2: two CPUs, idle, two processes. */
	const uint32_t owner[] = { 0, 1, 0, 2, 2 }, size[] = { 500, 0, 2000 };
	const uint64_t used[] = { 300000000, 250000000, 100000000, 0, 0 };
	const struct idle_size_input input = { SECOND_NS, 5, owner, used, 3, size };
	uint64_t weights[5];

	assert_int_equal(idle_size_weights(&input, weights, &scratch), 0);
	assert_int_equal(weights[0], 375000000);
	assert_int_equal(weights[2], 125000000);
	assert_int_equal(weights[1], 250000000);
	assert_int_equal(weights[3], SECOND_NS);
	assert_int_equal(weights[4], SECOND_NS);
	idle_size_scratch_release(&scratch);
}

static void test_what_cannot_be_weighed(void **state)
{
	struct idle_size_scratch scratch = { 0 };
	const uint32_t owner[] = { 0, 0 }, size[] = { 0, UINT32_MAX };
	const uint64_t used[] = { UINT64_MAX, 1 };
	struct idle_size_input input = { SECOND_NS, 2, owner, used, 1, size };
	uint64_t weights[2] = { 1, 1 };

	assert_int_equal(idle_size_weights(&input, weights, &scratch), -EOVERFLOW);
	assert_int_equal(weights[0] | weights[1], 0);
	input.count = 0;
	assert_int_equal(idle_size_weights(&input, weights, &scratch), 0);
	input.count = 1;
	input.used_ns = used + 1;
	input.size_millicpu = size + 1;
	assert_int_equal(idle_size_weights(&input, weights, &scratch), 0);
	assert_int_equal(weights[0], IDLE_SIZE_MAX_MILLICPU / 1000 * SECOND_NS);
	idle_size_scratch_release(&scratch);
}

/* Each owner's processes weigh its size, and one that used more does not weigh less. */
static const char *check(const struct idle_size_input *input, const uint64_t *weights)
{
	for (uint32_t o = 0; o < input->owners; o++) {
		uint64_t sum = 0, used = 0, size = input->size_millicpu[o] * (input->dt_ns / 1000);
		bool there = false;

		for (size_t i = 0; i < input->count; i++) {
			if (input->owner[i] != o)
				continue;
			there = true;
			sum += weights[i];
			used += input->used_ns[i];
			for (size_t j = 0; j < input->count; j++) {
				if (input->owner[j] == o && input->used_ns[j] > input->used_ns[i] &&
				    weights[j] < weights[i])
					return "more use weighs less";
			}
		}
		if (there && sum != (input->size_millicpu[o] ? size : used))
			return "an owner's weights are not its size";
	}
	return NULL;
}

static const char *weights_are_sizes(struct property_source *source, void *userdata)
{
	uint32_t owner[MAX], size[MAX];
	uint64_t used[MAX], weights[MAX];
	const struct idle_size_input input = { (1 + draw_below(source, 1000)) * 1000,
					       draw_below(source, MAX + 1),
					       owner,
					       used,
					       1 + draw_below(source, MAX),
					       size };

	for (size_t i = 0; i < input.owners; i++)
		size[i] = draw_chance(source, 3) ? 0 : (uint32_t)draw_below(source, 5000);
	for (size_t i = 0; i < input.count; i++) {
		owner[i] = (uint32_t)draw_below(source, input.owners);
		used[i] = draw_chance(source, 2) ? 0 : draw_scaled(source) >> 8;
	}
	if (idle_size_weights(&input, weights, userdata) < 0)
		return "refused";
	return check(&input, weights);
}

static void test_any_owners(void **state)
{
	struct idle_size_scratch scratch = { 0 };

	assert_true(property_check("idle_size", weights_are_sizes, &scratch, 300000));
	idle_size_scratch_release(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request_counts_not_use),
		cmocka_unit_test(test_what_cannot_be_weighed),
		cmocka_unit_test(test_any_owners),
	};

	return unit_run(tests);
}

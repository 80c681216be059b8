// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml_use.h"

#include "base/num.h"
#include "tests/unit/unit.h"

#define SECOND NSEC_PER_SEC

static void per_cent_is_time(void **state)
{
	const struct nvml_process_sample samples[] = {
		{ .pid = 10, .sm = 60 },
		{ .pid = 11, .sm = 0, .memory = 40 },
		{ .pid = 12, .sm = 5, .encoder = 30, .decoder = 10 },
		{ .pid = 13, .sm = 100 },
		{ .pid = 14, .sm = 101 }, /* garbage */
	};
	struct device_use uses[5];

	assert_int_equal(nvml_use_of_samples(samples, 5, 7, SECOND, uses), 3);
	assert_int_equal(uses[0].device, 7);
	assert_int_equal(uses[0].pid, 10);
	assert_int_equal(uses[0].busy_ns, 600 * NSEC_PER_MSEC);
	assert_int_equal(uses[1].pid, 12);
	assert_int_equal(uses[1].busy_ns, 300 * NSEC_PER_MSEC);
	assert_int_equal(uses[2].busy_ns, SECOND);
}

/* A process that came late has fewer samples, and each is of the same time. */
static void several_samples_are_parts_of_the_time(void **state)
{
	const struct nvml_process_sample samples[] = {
		{ .pid = 10, .sm = 50 }, { .pid = 11, .sm = 100 }, { .pid = 10, .sm = 100 },
		{ .pid = 10, .sm = 30 }, { .pid = 10, .sm = 20 },
	};
	struct device_use uses[5];
	uint64_t sum_ns[2] = { 0 };
	size_t count = nvml_use_of_samples(samples, 5, 0, SECOND, uses);

	for (size_t i = 0; i < count; i++)
		sum_ns[uses[i].pid - 10] += uses[i].busy_ns;
	assert_int_equal(sum_ns[0], SECOND / 2);
	assert_int_equal(sum_ns[1], SECOND / 4);
}

static void memory_splits_the_busy_time(void **state)
{
	const struct nvml_process processes[] = {
		{ .pid = 10, .memory_bytes = 3ULL << 30 },
		{ .pid = 11, .memory_bytes = 1ULL << 30 },
		{ .pid = 10, .memory_bytes = 3ULL << 30 }, /* graphics as well */
		{ .pid = 12, .memory_bytes = NVML_MEMORY_UNKNOWN },
	};
	struct device_use uses[4];

	assert_int_equal(nvml_use_by_memory(processes, 4, 1, SECOND, uses), 3);
	assert_int_equal(uses[0].busy_ns, 3 * SECOND / 4);
	assert_int_equal(uses[1].busy_ns, SECOND / 4);
	assert_int_equal(uses[2].busy_ns, 0);
}

static void without_memory_all_are_equal(void **state)
{
	const struct nvml_process processes[] = {
		{ .pid = 10, .memory_bytes = NVML_MEMORY_UNKNOWN },
		{ .pid = 11, .memory_bytes = NVML_MEMORY_UNKNOWN },
		{ .pid = 12 },
	};
	struct device_use uses[3];

	assert_int_equal(nvml_use_by_memory(processes, 3, 1, 100, uses), 3);
	assert_int_equal(uses[0].busy_ns, 33);
	assert_int_equal(uses[1].busy_ns + uses[2].busy_ns, 67);
}

static void time_without_processes_is_the_board_s(void **state)
{
	struct device_use use;

	assert_int_equal(nvml_use_by_memory(NULL, 0, 3, SECOND, &use), 1);
	assert_int_equal(use.device, 3);
	assert_int_equal(use.pid, 0);
	assert_int_equal(use.busy_ns, SECOND);
}

/* The activity of an instance is known, and what each process in it has of that. */
static void samples_split_the_busy_time(void **state)
{
	const struct nvml_process_sample samples[] = {
		{ .pid = 10, .sm = 30 },
		{ .pid = 11, .sm = 20 },
		{ .pid = 10, .sm = 30 },
		{ .pid = 12, .sm = 0 },
	};
	struct device_use uses[4];

	assert_int_equal(nvml_use_by_samples(samples, 4, 5, 1000, uses), 3);
	assert_int_equal(uses[0].device, 5);
	assert_int_equal(uses[0].busy_ns, 375);
	assert_int_equal(uses[1].pid, 11);
	assert_int_equal(uses[1].busy_ns, 250);
	assert_int_equal(uses[2].busy_ns, 375);
	assert_int_equal(nvml_use_by_samples(samples + 3, 1, 5, 1000, uses), 0);
	assert_int_equal(nvml_use_by_samples(samples, 0, 5, 1000, uses), 0);
}

static void holders_have_equal_parts(void **state)
{
	const struct nvml_process processes[] = {
		{ .pid = 10 }, { .pid = 11 }, { .pid = 10 }, { .pid = 0 }, { .pid = 12 },
	};
	struct device_use uses[5];

	assert_int_equal(nvml_use_of_holders(processes, 5, 1, 300, uses), 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(uses[i].pid, 10 + i);
		assert_int_equal(uses[i].held, 100);
		assert_int_equal(uses[i].busy_ns, 0);
	}
	assert_int_equal(nvml_use_of_holders(processes, 0, 1, 300, uses), 0);
}

static void processes_are_sorted_by_instance(void **state)
{
	struct nvml_process processes[] = {
		{ .pid = 10, .gpu_instance = 2 }, { .pid = 11, .gpu_instance = 1 },
		{ .pid = 12, .gpu_instance = 2 }, { .pid = 13, .gpu_instance = ~0U },
		{ .pid = 14, .gpu_instance = 1 },
	};
	unsigned sum = 0;

	assert_int_equal(nvml_processes_of(processes, 5, 1), 2);
	assert_int_equal(processes[0].gpu_instance + processes[1].gpu_instance, 2);
	assert_int_equal(nvml_processes_of(processes + 2, 3, 2), 2);
	assert_int_equal(nvml_processes_of(processes, 5, 7), 0);
	for (size_t i = 0; i < 5; i++)
		sum += processes[i].pid;
	assert_int_equal(sum, 60);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(per_cent_is_time),
		cmocka_unit_test(several_samples_are_parts_of_the_time),
		cmocka_unit_test(memory_splits_the_busy_time),
		cmocka_unit_test(without_memory_all_are_equal),
		cmocka_unit_test(time_without_processes_is_the_board_s),
		cmocka_unit_test(samples_split_the_busy_time),
		cmocka_unit_test(holders_have_equal_parts),
		cmocka_unit_test(processes_are_sorted_by_instance),
	};

	return unit_run(tests);
}

// SPDX-License-Identifier: Apache-2.0
/* Registers as files: what is read at the offset of a register is its value. */
#include "meter/rapl/rapl_cores.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define MSR   0x40
#define CORES 3

static void put(const struct shared_fds *cores, size_t core, uint64_t value)
{
	assert_int_equal(pwrite(cores->fds[core], &value, sizeof(value), MSR), sizeof(value));
}

static struct shared_fds *cores_of(uint32_t generation, size_t count)
{
	struct shared_fds *cores;
	int fds[CORES];

	for (size_t i = 0; i < count; i++) {
		fds[i] = memfd_create("msr", MFD_CLOEXEC);
		assert_true(fds[i] >= 0);
	}
	cores = shared_fds_new(fds, count, generation);
	assert_non_null(cores);
	for (size_t i = 0; i < count; i++)
		put(cores, i, 0);
	return cores;
}

static void each_core_starts_again_by_itself(void **state)
{
	CLEANUP(shared_fds_release) struct shared_fds *cores = cores_of(1, CORES);
	CLEANUP(rapl_core_sum_release) struct rapl_core_sum sum = { 0 };

	put(cores, 0, 0xfffffffe);
	put(cores, 1, 1000);
	put(cores, 2, 0xabcdef0000000005); /* the upper half says nothing */
	assert_int_equal(rapl_core_sum_read(&sum, cores, MSR), 0);
	assert_int_equal(sum.counts, 0);
	put(cores, 0, 3);
	put(cores, 1, 1010);
	put(cores, 2, 5);
	assert_int_equal(rapl_core_sum_read(&sum, cores, MSR), 0);
	assert_int_equal(sum.counts, 5 + 10);
	/* All of its range but one, three times: the sum has more than 32 bits. */
	for (uint32_t i = 1; i <= 3; i++) {
		put(cores, 1, 1010 - i);
		assert_int_equal(rapl_core_sum_read(&sum, cores, MSR), 0);
	}
	assert_int_equal(sum.counts, 15 + 3 * (uint64_t)UINT32_MAX);
}

static void other_cores_begin_again(void **state)
{
	CLEANUP(shared_fds_release) struct shared_fds *two = cores_of(1, 2);
	CLEANUP(shared_fds_release) struct shared_fds *three = cores_of(2, 3);
	CLEANUP(rapl_core_sum_release) struct rapl_core_sum sum = { 0 };

	assert_int_equal(rapl_core_sum_read(&sum, two, MSR), 0);
	put(two, 0, 7);
	assert_int_equal(rapl_core_sum_read(&sum, two, MSR), 0);
	put(three, 0, 1000);
	put(three, 2, 1000);
	assert_int_equal(rapl_core_sum_read(&sum, three, MSR), 0);
	assert_int_equal(sum.counts, 7);
	put(three, 2, 1005);
	assert_int_equal(rapl_core_sum_read(&sum, three, MSR), 0);
	assert_int_equal(sum.counts, 12);
}

static void a_failed_reading_changes_nothing(void **state)
{
	CLEANUP(shared_fds_release) struct shared_fds *cores = cores_of(1, 2);
	CLEANUP(rapl_core_sum_release) struct rapl_core_sum sum = { 0 };

	assert_int_equal(rapl_core_sum_read(&sum, cores, MSR), 0);
	put(cores, 0, 100);
	assert_int_equal(ftruncate(cores->fds[1], 0), 0);
	assert_int_equal(rapl_core_sum_read(&sum, cores, MSR), -EIO);
	put(cores, 1, 1);
	assert_int_equal(rapl_core_sum_read(&sum, cores, MSR), 0);
	assert_int_equal(sum.counts, 101);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_core_starts_again_by_itself),
		cmocka_unit_test(other_cores_begin_again),
		cmocka_unit_test(a_failed_reading_changes_nothing),
	};

	return unit_run(tests);
}

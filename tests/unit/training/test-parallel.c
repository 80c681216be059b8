// SPDX-License-Identifier: Apache-2.0
#include "training/parallel.h"

#include "tests/unit/unit.h"

#define JOBS 1000

struct jobs {
	unsigned calls[JOBS]; /* each written by its own job */
	size_t fails_from;
};

static int count_call(void *context, size_t index)
{
	struct jobs *jobs = context;

	jobs->calls[index]++;
	return index >= jobs->fails_from ? -ENOMEM : 0;
}

static void test_each_job_is_done_once(void **state)
{
	static const unsigned threads[] = { 1, 2, 7, 10 * PARALLEL_THREADS_MAX };

	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		struct jobs jobs = { .fails_from = JOBS };

		assert_int_equal(parallel_run(JOBS, threads[i], count_call, &jobs), 0);
		for (size_t j = 0; j < JOBS; j++)
			assert_int_equal(jobs.calls[j], 1);
	}
	assert_int_equal(parallel_run(0, 4, count_call, NULL), 0);
}

static void test_a_failure_ends_the_work(void **state)
{
	struct jobs jobs = { .fails_from = 3 };

	assert_int_equal(parallel_run(JOBS, 1, count_call, &jobs), -ENOMEM);
	assert_int_equal(jobs.calls[3], 1);
	assert_int_equal(jobs.calls[4], 0);
	assert_int_equal(parallel_run(JOBS, 4, count_call, &jobs), -ENOMEM);
}

static void test_there_is_a_processor(void **state)
{
	assert_in_range(parallel_processors(), 1, PARALLEL_THREADS_MAX);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_job_is_done_once),
		cmocka_unit_test(test_a_failure_ends_the_work),
		cmocka_unit_test(test_there_is_a_processor),
	};

	return unit_run(tests);
}

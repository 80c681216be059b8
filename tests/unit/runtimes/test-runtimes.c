// SPDX-License-Identifier: Apache-2.0
/* The thread: scans at the start, when an id is needed, and ends at once on request. */
#include "fake_directory.h"
#include "state_tree.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <time.h>

#include "base/clock.h"
#include "runtimes/runtimes.h"

/* Until @scans are done, 20 s at most: a deadline, not a measure. */
static void await_scans(struct runtimes *runtimes, uint64_t scans, struct runtimes_stats *ret)
{
	const struct timespec moment = { .tv_nsec = 5000000 };

	for (int i = 0; i < 4000; i++) {
		runtimes_get_stats(runtimes, ret);
		if (ret->scans >= scans)
			return;
		(void)nanosleep(&moment, NULL);
	}
	fail_msg("no scan");
}

static void test_scans_on_demand(void **state)
{
	const uint64_t one = 1;
	struct runtimes_stats stats;
	struct runtimes *runtimes;
	struct state_tree tree;
	struct diag diag;
	uint64_t wishes;

	(void)state;
	tree_make(&tree);
	fake_reset();
	fake_directory.wanted_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert_true(fake_directory.wanted_fd >= 0);
	tree_write(&tree, "/run/containerd/io.containerd.runtime.v2.task/default/c1/config.json",
		   "{\"ociVersion\":\"1.0\"}");
	assert_int_equal(runtimes_start(&(struct runtimes_options){ .root = tree.root }, NULL,
					&runtimes, &diag),
			 0);
	await_scans(runtimes, 1, &stats);
	assert_int_equal(stats.containers, 1);
	assert_string_equal(stats.present, "containerd");
	tree_write(&tree, "/run/containerd/io.containerd.runtime.v2.task/default/c2/config.json",
		   "{\"ociVersion\":\"1.0\"}");
	assert_int_equal(write(fake_directory.wanted_fd, &one, sizeof(one)), sizeof(one));
	await_scans(runtimes, 2, &stats);
	assert_int_equal(stats.containers, 2);
	/* The wish was taken. */
	assert_int_equal(read(fake_directory.wanted_fd, &wishes, sizeof(wishes)), -1);
	runtimes_stop(runtimes);
	(void)close(fake_directory.wanted_fd);
	tree_remove(&tree, "");
}

static void test_the_end_does_not_wait_for_the_period(void **state)
{
	struct runtimes *runtimes;
	uint64_t began;
	struct diag diag;

	(void)state;
	fake_reset(); /* no descriptor: only the period */
	assert_int_equal(runtimes_start(&(struct runtimes_options){ .root = "/nonexistent" }, NULL,
					&runtimes, &diag),
			 0);
	began = clock_ns(CLOCK_MONOTONIC);
	runtimes_stop(runtimes);
	assert_true(clock_ns(CLOCK_MONOTONIC) - began < 30 * NSEC_PER_SEC); /* of 60 */
	runtimes_stop(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scans_on_demand),
		cmocka_unit_test(test_the_end_does_not_wait_for_the_period),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

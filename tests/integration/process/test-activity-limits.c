/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Full buffers, many threads, both kinds of pass: what is counted stays whole, and the cost follows
 * what ran.
 */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/macro.h"
#include "bpf/kepler_types.h"
#include "tests/rig/activity_rig.h"

#include <cmocka.h>

#define TINY_RING 4096 /* 56 ends */

static struct rig_tally start(uint32_t ring_bytes, bool allow_walk)
{
	struct activity_options options = {
		.procfs = "/proc",
		.allow_bpf = true,
		.allow_walk = allow_walk,
		.end_buffer_bytes = ring_bytes,
	};

	return (struct rig_tally){ .reader = rig_open(&options), .comm = rig_comm() };
}

static bool is_strict;

static bool is_guarded(const struct rig_tally *tally)
{
	bool guarded = rig_is_guarded(tally->reader);

	if (is_strict && guarded)
		fail_msg("a process is guarded from BPF here");
	return guarded;
}

static uint64_t drops_of(const struct rig_tally *tally)
{
	struct activity_info info;

	activity_get_info(tally->reader, &info);
	return info.drops;
}

/* A cgroup of our own in the v2 hierarchy, so that no other process's time is in it. */
struct own_cgroup {
	char path[256];
	uint64_t id;
};

static bool make_cgroup(struct own_cgroup *cgroup)
{
	char mounts[16384], *line;
	struct stat st;

	cgroup->path[0] = '\0';
	if (read_file_at(AT_FDCWD, "/proc/self/mounts", mounts, sizeof(mounts)) < 0)
		return false;
	for (line = mounts; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		char where[200], type[32];

		if (sscanf(line, "%*s %199s %31s", where, type) == 2 &&
		    strcmp(type, "cgroup2") == 0)
			(void)snprintf(cgroup->path, sizeof(cgroup->path), "%s/kepler-test-%d",
				       where, getpid());
	}
	if (!cgroup->path[0] || mkdir(cgroup->path, 0755) < 0 || stat(cgroup->path, &st) < 0)
		return false;
	cgroup->id = st.st_ino;
	return true;
}

static void join_and_burn(void *arg)
{
	char path[300];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/cgroup.procs", ((struct own_cgroup *)arg)->path);
	fd = open(path, O_WRONLY);
	if (write(fd, "0", 1) == 1)
		rig_burn_ms(2);
}

static void test_full_ring_keeps_cgroups_of_the_young(void **state)
{
	struct own_cgroup cgroup;
	struct rig_tally tally;
	uint64_t truth_ns = 0;

	(void)state;
	if (!make_cgroup(&cgroup)) {
		print_message("# not possible here: no cgroup of v2 can be made\n");
		assert_false(is_strict);
		return;
	}
	tally = start(TINY_RING, true);
	tally.cgroup_id = cgroup.id;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 200; i++)
			truth_ns += rig_wait(rig_fork(rig_comm(), join_and_burn, &cgroup));
		rig_wait_for_frees();
		rig_pass(&tally);
	}
	rig_pass_until(&tally, 400);
	assert_int_equal(rmdir(cgroup.path), 0);
	printf("# %lu ends lost, %.1f ms of them in their cgroup, %.1f ms the node's\n",
	       (unsigned long)drops_of(&tally), (double)tally.dropped_cgroup_ns / 1e6,
	       (double)tally.dropped_ns / 1e6);
	assert_true(drops_of(&tally) >= 250);
	assert_true(tally.ended < 400);
	/*
	 * A process that is freed on top of a guarded one is not reported if there is no room for
	 * exits: one to four of the 400, measured, which are 0.2 to 0.9 % of the time. The guest
	 * `full-ring` has no such process.
	 */
	assert_true(tally.ended + drops_of(&tally) >= (is_guarded(&tally) ? 392 : 400));
	/*
	 * wait4() does not know how long a child runs after its parent is notified: 0.05 % here,
	 * 1 % in a guest whose host is busy.
	 */
	rig_assert_between("full ring, young", tally.named_ns + tally.dropped_cgroup_ns, truth_ns,
			   is_guarded(&tally) ? 15 : 5, is_strict ? 30 : 10);
	activity_close(tally.reader);
}

static void burn_then_sleep_then_burn(void *arg)
{
	char byte;

	rig_burn_ms(3);
	(void)!read(*(int *)arg, &byte, 1); /* until the other end is closed */
	rig_burn_ms(2);
}

/*
 * Passes reported them before their ends were lost: the rest is the node's, and nothing is reported
 * twice.
 */
static void test_full_ring_reports_the_rest_of_the_old(void **state)
{
	struct rig_tally tally = start(TINY_RING, true);
	uint64_t truth_ns = 0, start_ns = clock_ns(CLOCK_MONOTONIC);
	struct activity_info before, after;
	int fds[2];

	(void)state;
	activity_get_info(tally.reader, &before);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	for (int i = 0; i < 200; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			(void)close(fds[1]);
			(void)rig_wait(rig_fork(rig_comm(), burn_then_sleep_then_burn, &fds[0]));
			_exit(0);
		}
	}
	rig_sleep_ms(1500);
	rig_pass(&tally);
	(void)close(fds[1]);
	for (int i = 0; i < 200; i++)
		truth_ns += rig_wait(-1);
	(void)close(fds[0]);
	tally.comm = NULL;
	rig_pass_until(&tally, 100000);
	activity_get_info(tally.reader, &after);
	printf("# %lu ends lost, %.1f ms dropped\n", (unsigned long)after.drops,
	       (double)tally.dropped_ns / 1e6);
	assert_true(after.drops >= 100);
	assert_true(after.threads_known < before.threads_known + 200); /* rows do not leak */
	assert_true(tally.busy_ns >= truth_ns);
	assert_true(tally.busy_ns <= (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) *
					     (clock_ns(CLOCK_MONOTONIC) - start_ns));
	activity_close(tally.reader);
}

static void burn_1_ms(void *arg)
{
	(void)arg;
	rig_burn_ms(1);
}

static void test_half_full_ring_wakes_the_reader(void **state)
{
	struct rig_tally tally = start(TINY_RING, true);
	struct pollfd poll_fd = { .fd = activity_fd(tally.reader), .events = POLLIN };
	unsigned int woken = 0;

	(void)state;
	assert_true(poll_fd.fd >= 0);
	for (int i = 0; i < 200; i++) {
		(void)rig_wait(rig_fork(rig_comm(), burn_1_ms, NULL));
		if (poll(&poll_fd, 1, 0) == 1) {
			activity_drain(tally.reader);
			woken++;
		}
	}
	rig_pass_until(&tally, 200);
	printf("# woken %u times, %lu lost\n", woken, (unsigned long)drops_of(&tally));
	assert_in_range(woken, 1, 100); /* about every 28 records, an exit and an end each */
	assert_true(tally.ended > 150); /* without it: 56 and a pass's */
	activity_close(tally.reader);
}

static void burn_300_ms(void *arg)
{
	(void)arg;
	rig_burn_ms(300);
}

static void test_walk_and_iterator_agree(void **state)
{
	struct rig_tally walk = start(0, true), iterator = start(0, false);
	struct activity_info info;

	(void)state;
	activity_get_info(iterator.reader, &info);
	assert_string_equal(info.reader, "bpf-iter");
	walk.pid = iterator.pid = rig_fork(rig_comm(), burn_300_ms, NULL);
	for (int i = 0; i < 3; i++) {
		rig_sleep_ms(50);
		rig_pass(&walk);
		rig_pass(&iterator);
	}
	(void)rig_wait(walk.pid);
	rig_pass_until(&walk, 1);
	rig_pass_until(&iterator, 1);
	assert_true(walk.named_ns > 0);
	assert_int_equal(walk.named_ns, iterator.named_ns);
	activity_close(walk.reader);
	activity_close(iterator.reader);
}

static void test_kernel_threads_are_flagged(void **state)
{
	struct activity_options options = { .allow_bpf = true, .allow_walk = true };
	struct activity_reader *reader = NULL;
	struct activity activity;
	unsigned int kthreads = 0, self = 0;

	(void)state;
	assert_int_equal(activity_open(&options, &reader), 0);
	assert_int_equal(activity_read(reader, &activity), 0);
	for (size_t i = 0; i < activity.count; i++) {
		const struct activity_sample *sample = &activity.samples[i];

		assert_int_not_equal(sample->key.pid, 0); /* the idle task is not counted */
		kthreads += !!(sample->flags & ACTIVITY_KTHREAD);
		if (sample->key.pid == (uint32_t)getpid()) {
			assert_false(sample->flags & ACTIVITY_KTHREAD);
			self++;
		}
		if (strcmp(sample->comm, "kthreadd") == 0)
			assert_true(sample->flags & ACTIVITY_KTHREAD);
	}
	assert_int_equal(self, 1);
	assert_true(kthreads > 5);
	activity_close(reader);
}

static void sleep_until_told(void *arg)
{
	char byte;

	while (read(*(int *)arg, &byte, 1) == 1)
		rig_burn_ms(1);
}

/* Passes until one is small: whatever made the reader look at everyone is over. */
static void pass_until_small(struct activity_reader *reader, unsigned int count,
			     struct activity_info *info)
{
	struct activity activity;

	for (int i = 0; i < 20; i++) {
		rig_sleep_ms(100);
		assert_int_equal(activity_read(reader, &activity), 0);
		activity_get_info(reader, info);
		if (info->tasks_sent < count / 4)
			break;
	}
}

static void test_cost_follows_what_ran(void **state)
{
	enum { COUNT = 400, WOKEN = 10 };
	static pid_t pids[COUNT];
	struct rig_tally tally = start(0, true);
	struct activity_info info;
	int fds[2];

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	for (unsigned int i = 0; i < COUNT; i++)
		pids[i] = rig_fork(rig_comm(), sleep_until_told, &fds[0]);
	pass_until_small(tally.reader, COUNT, &info);
	printf("# %lu looked at, %lu handed over\n", (unsigned long)info.tasks_walked,
	       (unsigned long)info.tasks_sent);
	assert_true(info.tasks_walked > COUNT);
	assert_true(info.tasks_sent < COUNT / 4);
	assert_int_equal(write(fds[1], "0123456789", WOKEN), WOKEN);
	rig_sleep_ms(300);
	rig_pass(&tally);
	printf("# of %d woken, %u told of, %.3f ms\n", WOKEN, tally.samples,
	       (double)tally.named_ns / 1e6);
	assert_in_range(tally.samples, 1, WOKEN);
	assert_true(tally.named_ns > 3000000);
	for (unsigned int i = 0; i < COUNT; i++) {
		(void)kill(pids[i], SIGKILL);
		(void)rig_wait(pids[i]);
	}
	(void)close(fds[0]);
	(void)close(fds[1]);
	activity_close(tally.reader);
}

/* More threads than the array of records holds come through the iterator, in the same pass. */
static void test_more_threads_than_records(void **state)
{
	enum { COUNT = KEPLER_RECORDS_MAX + 100 };
	static pid_t pids[COUNT];
	struct rig_tally tally = start(0, true);
	char *const argv[] = { (char *)(uintptr_t) "sleep", (char *)(uintptr_t) "300", NULL };
	struct activity_info info;
	unsigned int count = 0;

	(void)state;
	while (count < COUNT &&
	       posix_spawn(&pids[count], "/bin/sleep", NULL, NULL, argv, NULL) == 0)
		count++;
	tally.comm = "sleep";
	rig_pass(&tally);
	activity_get_info(tally.reader, &info);
	printf("# %lu handed over\n", (unsigned long)info.tasks_sent);
	for (unsigned int i = 0; i < count; i++) {
		(void)kill(pids[i], SIGKILL);
		(void)rig_wait(pids[i]);
	}
	assert_int_equal(count, COUNT);
	assert_true(info.tasks_sent >= COUNT);
	assert_true(tally.samples >= COUNT);
	activity_close(tally.reader);
}

/*
 * test-activity-limits [--strict] [PATTERN]: only the cases with such names. Strict: who cannot run
 * as on a machine that guards no process fails.
 */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_threads_are_flagged),
		cmocka_unit_test(test_walk_and_iterator_agree),
		cmocka_unit_test(test_full_ring_keeps_cgroups_of_the_young),
		cmocka_unit_test(test_full_ring_reports_the_rest_of_the_old),
		cmocka_unit_test(test_half_full_ring_wakes_the_reader),
		cmocka_unit_test(test_cost_follows_what_ran),
		cmocka_unit_test(test_more_threads_than_records),
	};

	rig_calibrate();
	is_strict = argc > 1 && strcmp(argv[1], "--strict") == 0;
	if (argc > 1 + is_strict)
		cmocka_set_test_filter(argv[1 + is_strict]);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

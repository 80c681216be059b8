/* SPDX-License-Identifier: Apache-2.0 */
/* The BPF reader's reports against the kernel's own account, for each way of living and dying. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/num.h"
#include "tests/rig/activity_rig.h"

#include <cmocka.h>

#define CHILDREN_SHORT 600 /* about 15 s of CPU; KEPLER_TEST_CHILDREN=10000 for the full number */

static bool allow_walk = true;

static struct rig_tally start(void)
{
	struct activity_options options = { .allow_bpf = true, .allow_walk = allow_walk };

	return (struct rig_tally){ .reader = rig_open(&options) };
}

/* No process can have run longer than the CPUs allow. */
static void stop(struct rig_tally *tally)
{
	activity_close(tally->reader);
}

static void burn(void *arg)
{
	rig_burn_ms(*(unsigned int *)arg);
}

static void test_burner(void **state)
{
	struct rig_tally tally = start();
	unsigned int ms = 2000;
	uint64_t truth_ns;

	(void)state;
	tally.pid = rig_fork(rig_comm(), burn, &ms);
	for (int i = 0; i < 15; i++) {
		rig_sleep_ms(100);
		rig_pass(&tally);
	}
	truth_ns = rig_wait(tally.pid);
	rig_pass_until(&tally, 1);
	assert_int_equal(tally.ended, 1);
	rig_assert_near("burner", tally.named_ns, truth_ns, 5);
	stop(&tally);
}

/* Two at a time, 1 to 50 ms each, a pass every 100 ms. */
static void test_short_children(void **state)
{
	const char *wanted = getenv("KEPLER_TEST_CHILDREN");
	unsigned int count = wanted ? (unsigned int)strtoul(wanted, NULL, 10) : CHILDREN_SHORT;
	uint64_t start_ns = clock_ns(CLOCK_MONOTONIC); /* before the baseline */
	struct rig_tally tally = start();
	uint64_t truth_ns = 0, next_pass_ns = 0, seed = 1;
	struct activity_info info;

	(void)state;
	tally.comm = rig_comm();
	for (unsigned int begun = 0, ended = 0; ended < count;) {
		if (begun < count && begun - ended < 2) {
			unsigned int ms;

			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			ms = 1 + (unsigned int)(seed >> 33) % 50;
			(void)rig_fork(rig_comm(), burn, &ms);
			begun++;
			continue;
		}
		truth_ns += rig_wait(-1);
		ended++;
		if (clock_ns(CLOCK_MONOTONIC) >= next_pass_ns) {
			rig_pass(&tally);
			next_pass_ns = clock_ns(CLOCK_MONOTONIC) + 100 * NSEC_PER_MSEC;
		}
	}
	rig_pass_until(&tally, count);
	activity_get_info(tally.reader, &info);
	printf("# %u children, %lu drops\n", count, (unsigned long)info.drops);
	assert_int_equal(tally.ended, count);
	rig_assert_near("short children", tally.named_ns + tally.dropped_ns, truth_ns, 5);
	assert_true(tally.busy_ns <= (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) *
					     (clock_ns(CLOCK_MONOTONIC) - start_ns));
	stop(&tally);
}

static void *thread_burn(void *arg)
{
	rig_burn_ms(*(unsigned int *)arg);
	return NULL;
}

static void burn_in_threads(void *arg)
{
	pthread_t threads[4];

	for (int round = 0; round < 8; round++) {
		for (int i = 0; i < 4; i++)
			(void)pthread_create(&threads[i], NULL, thread_burn, arg);
		for (int i = 0; i < 4; i++)
			(void)pthread_join(threads[i], NULL);
	}
}

static void test_threads_that_end(void **state)
{
	struct rig_tally tally = start();
	unsigned int ms = 15;
	uint64_t truth_ns;

	(void)state;
	tally.pid = rig_fork(rig_comm(), burn_in_threads, &ms);
	for (int i = 0; i < 8; i++) {
		rig_sleep_ms(20);
		rig_pass(&tally);
	}
	truth_ns = rig_wait(tally.pid);
	rig_pass_until(&tally, 1);
	assert_int_equal(tally.ended, 1);
	/*
	 * A thread that is reported by its exit lacks up to a tick of 4 ms, of some 490 ms. The
	 * four of a round may be freed together, on top of the process that is guarded: two rounds.
	 */
	rig_assert_between("ending threads", tally.named_ns, truth_ns,
			   rig_is_guarded(tally.reader) ? 65 : 5, 5);
	stop(&tally);
}

/* Threads and leader end at once, unseen by any pass. */
static void test_threads_between_two_passes(void **state)
{
	unsigned int ms = 1;

	(void)state;
	/*
	 * A thread that is freed on top of a guarded process is reported by its exit, and lacks up
	 * to a tick: all that it ran. What loses time wrongly does so each time.
	 */
	for (int i = 0; i < 4; i++) {
		struct rig_tally tally = start();
		uint64_t truth_ns = 0;
		bool is_guarded, is_last;

		tally.comm = rig_comm();
		for (int child = 0; child < 20; child++)
			truth_ns += rig_wait(rig_fork(rig_comm(), burn_in_threads, &ms));
		rig_pass_until(&tally, 20);
		assert_int_equal(tally.ended, 20);
		is_guarded = rig_is_guarded(tally.reader);
		stop(&tally);
		is_last = !is_guarded || i == 3 || tally.named_ns > truth_ns * 995 / 1000;
		/* wait4() does not know what a thread runs after its end: 5 to 6 us each. */
		if (is_last) {
			rig_assert_between("unseen threads", tally.named_ns, truth_ns, 5, 15);
			return;
		}
	}
}

static void *thread_exec(void *arg)
{
	rig_burn_ms(150);
	(void)execl("/proc/self/exe", rig_comm(), "burn", "150", (char *)NULL);
	return arg;
}

static void exec_in_thread(void *arg)
{
	pthread_t thread;

	rig_burn_ms(50);
	(void)pthread_create(&thread, NULL, thread_exec, arg);
	(void)pthread_join(thread, NULL);
}

/* The thread takes over the leader's tid: neither's time may be lost, or reported twice. */
static void test_exec_by_another_thread(void **state)
{
	struct rig_tally tally = start();
	uint64_t truth_ns;

	(void)state;
	tally.pid = rig_fork(rig_comm(), exec_in_thread, NULL);
	for (int i = 0; i < 12; i++) {
		rig_sleep_ms(25);
		rig_pass(&tally);
	}
	truth_ns = rig_wait(tally.pid);
	rig_pass_until(&tally, 1);
	assert_int_equal(tally.ended, 1);
	rig_assert_near("exec by a thread", tally.named_ns, truth_ns, 5);
	stop(&tally);
}

/* Shared with the runner; it says what it does, since only it knows when it has its CPU. */
struct runner {
	int go, done;
	volatile sig_atomic_t runs, stop;
};

static void pin(size_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	(void)sched_setaffinity(0, sizeof(set), &set);
}

/*
 * Not preempted by its peers (without the right to it, only seldom), so that it arrives on its CPU
 * but once: between reading from one pipe and from the other.
 */
static void run_across(void *arg)
{
	struct runner *runner = arg;
	struct sched_param param = { .sched_priority = 10 };
	char byte;

	pin(1);
	(void)sched_setscheduler(0, SCHED_FIFO, &param);
	(void)!read(runner->go, &byte, 1);
	runner->runs = 1;
	while (!runner->stop)
		rig_burn_ms(1);
	(void)!read(runner->done, &byte, 1);
}

static uint64_t schedstat_ns(pid_t pid)
{
	char path[64], text[128];
	uint64_t run_ns = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	assert_true(read_file_at(AT_FDCWD, path, text, sizeof(text)) > 0);
	assert_int_equal(parse_u64(text, strcspn(text, " "), &run_ns), 0);
	return run_ns;
}

/* The kernel answers with a system call's number only once the thread is off its CPU. */
static bool is_in_read(pid_t pid)
{
	char path[64], text[512];
	uint64_t number;

	(void)snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	assert_true(read_file_at(AT_FDCWD, path, text, sizeof(text)) > 0);
	return parse_u64(text, strcspn(text, " \n"), &number) == 0 && number == SYS_read;
}

/* However long a busy machine takes: each step waits for what it needs, at most 10 s. */
static void wait_until_in_read(pid_t pid)
{
	for (int i = 0; i < 10000 && !is_in_read(pid); i++)
		rig_sleep_ms(1);
	assert_true(is_in_read(pid));
}

static void run_across_a_pass_and_sleep(struct runner *runner)
{
	struct rig_tally tally = start();
	int go[2], done[2];

	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(done), 0);
	*runner = (struct runner){ .go = go[0], .done = done[0] };
	tally.pid = rig_fork(rig_comm(), run_across, runner);
	pin(0);
	wait_until_in_read(tally.pid);
	rig_pass(&tally);
	assert_int_equal(write(go[1], "", 1), 1);
	for (int i = 0; i < 10000 && !runner->runs; i++)
		rig_sleep_ms(1);
	assert_true(runner->runs);
	rig_sleep_ms(50);
	rig_pass(&tally); /* it is on CPU 1 */
	rig_sleep_ms(50);
	runner->stop = 1;
	wait_until_in_read(tally.pid);
	rig_pass(&tally); /* it sleeps, and arrived long before the last pass */
	assert_int_equal(tally.named_ns, schedstat_ns(tally.pid));
	(void)kill(tally.pid, SIGKILL);
	(void)rig_wait(tally.pid);
	stop(&tally);
	for (int i = 0; i < 2; i++) {
		(void)close(go[i]);
		(void)close(done[i]);
	}
}

static void test_thread_that_runs_across_a_pass_and_sleeps(void **state)
{
	struct runner *runner = mmap(NULL, sizeof(*runner), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cpu_set_t before;

	(void)state;
	assert_ptr_not_equal(runner, MAP_FAILED);
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		print_message("# not possible here: one CPU\n");
		return;
	}
	(void)sched_getaffinity(0, sizeof(before), &before);
	for (int i = 0; i < 3; i++) {
		run_across_a_pass_and_sleep(runner);
		(void)sched_setaffinity(0, sizeof(before), &before);
	}
	(void)munmap(runner, sizeof(*runner));
}

static int use_iterator(void **state)
{
	(void)state;
	allow_walk = false;
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_burner),
		cmocka_unit_test(test_short_children),
		cmocka_unit_test(test_threads_that_end),
		cmocka_unit_test(test_threads_between_two_passes),
		cmocka_unit_test(test_exec_by_another_thread),
		cmocka_unit_test(test_thread_that_runs_across_a_pass_and_sleeps),
	};
	const struct CMUnitTest iterator_tests[] = {
		cmocka_unit_test(test_burner),
		cmocka_unit_test(test_threads_that_end),
		cmocka_unit_test(test_exec_by_another_thread),
		cmocka_unit_test(test_thread_that_runs_across_a_pass_and_sleeps),
	};
	int failed;

	rig_calibrate();
	if (argc == 3 && strcmp(argv[1], "burn") == 0) { /* after an exec */
		rig_burn_ms((unsigned int)strtoul(argv[2], NULL, 10));
		_exit(0); /* a sanitizer's work at exit() runs in a child of its own */
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	failed = cmocka_run_group_tests_name("walk", tests, NULL, NULL);
	failed += cmocka_run_group_tests_name("iterator", iterator_tests, use_iterator, NULL);
	(void)fflush(NULL);
	if (failed > 0) /* what a failed test has left would hide in the log why it failed */
		_exit(1);
	return 0;
}

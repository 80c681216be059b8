// SPDX-License-Identifier: Apache-2.0
/*
 * The loop is inline assembly, so that no compiler or sanitizer makes it shorter or reads a clock
 * in it.
 */
#include "tests/rig/activity_rig.h"

#include <linux/membarrier.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#include <cmocka.h>

static uint64_t loops_per_ms = 500000;
static unsigned int name_number;

static void burn_loops(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		__asm__ volatile("" : "+r"(i));
}

void rig_burn_ms(unsigned int ms)
{
	burn_loops(loops_per_ms * ms);
}

void rig_calibrate(void)
{
	uint64_t best_ns = UINT64_MAX;

	for (int i = 0; i < 5; i++) {
		uint64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

		burn_loops(5000000);
		start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
		best_ns = start_ns < best_ns ? start_ns : best_ns;
	}
	loops_per_ms = 5000000 * NSEC_PER_MSEC / best_ns;
}

void rig_rename(void)
{
	name_number++;
}

const char *rig_comm(void)
{
	static char comm[COMM_MAX];
	static unsigned int named;

	if (comm[0] == '\0' || named != name_number) {
		(void)snprintf(comm, sizeof(comm), "rig-%d-%u", getpid(), name_number);
		named = name_number;
	}
	return comm;
}

pid_t rig_fork(const char *comm, rig_fn *fn, void *arg)
{
	char own[COMM_MAX];
	pid_t pid;

	(void)prctl(PR_GET_NAME, own);
	(void)prctl(PR_SET_NAME, comm);
	(void)fflush(NULL);
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, 9);
		fn(arg);
		_exit(0);
	}
	(void)prctl(PR_SET_NAME, own);
	assert_true(pid > 0);
	return pid;
}

static uint64_t timeval_ns(struct timeval tv)
{
	return (uint64_t)tv.tv_sec * NSEC_PER_SEC + (uint64_t)tv.tv_usec * 1000;
}

uint64_t rig_wait(pid_t pid)
{
	struct rusage usage;

	assert_true(wait4(pid, NULL, 0, &usage) > 0);
	return timeval_ns(usage.ru_utime) + timeval_ns(usage.ru_stime);
}

void rig_sleep_ms(unsigned int ms)
{
	struct timespec ts = { ms / 1000, (long)(ms % 1000) * 1000000 };

	(void)nanosleep(&ts, NULL);
}

void rig_wait_for_frees(void)
{
	for (int i = 0; i < 2; i++)
		(void)syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	rig_sleep_ms(100);
}

struct activity_reader *rig_open(const struct activity_options *options)
{
	struct activity_reader *reader = NULL;
	struct activity_info info;
	struct activity activity;

	assert_int_equal(activity_open(options, &reader), 0);
	rig_rename();
	activity_get_info(reader, &info);
	if (strcmp(info.reader, "procfs") == 0) {
		printf("no BPF here: %s\n", info.why_not_bpf);
		exit(77);
	}
	assert_int_equal(activity_read(reader, &activity), 0);
	return reader;
}

bool rig_is_guarded(struct activity_reader *reader)
{
	struct activity_info info;

	activity_get_info(reader, &info);
	return info.unseen > 0;
}

static bool is_wanted(const struct rig_tally *tally, const struct activity_sample *sample)
{
	return (!tally->pid || sample->key.pid == (uint32_t)tally->pid) &&
	       (!tally->comm || strcmp(sample->comm, tally->comm) == 0);
}

static bool has_ended(const struct rig_tally *tally, const struct process_key *key)
{
	for (size_t i = 0; i < tally->ended && i < RIG_GONE_MAX; i++)
		if (tally->gone[i].pid == key->pid && tally->gone[i].start_ns == key->start_ns)
			return true;
	return false;
}

void rig_pass(struct rig_tally *tally)
{
	struct activity activity;

	assert_int_equal(activity_read(tally->reader, &activity), 0);
	tally->busy_ns += activity.busy_ns;
	tally->dropped_ns += activity.dropped_ns;
	for (size_t i = 0; i < activity.count; i++) {
		const struct activity_sample *sample = &activity.samples[i];

		if (!is_wanted(tally, sample))
			continue;
		tally->samples++;
		tally->named_ns += sample->cpu_ns;
		tally->flags = sample->flags;
		if (sample->flags & ACTIVITY_ENDED && !has_ended(tally, &sample->key))
			tally->gone[tally->ended++ % RIG_GONE_MAX] = sample->key;
	}
	for (size_t i = 0; i < activity.dropped_cgroup_count; i++) {
		if (activity.dropped_cgroups[i].cgroup_id == tally->cgroup_id)
			tally->dropped_cgroup_ns += activity.dropped_cgroups[i].cpu_ns;
	}
}

void rig_pass_until(struct rig_tally *tally, unsigned int ended)
{
	for (int i = 0; i < 400 && tally->ended < ended; i++) {
		rig_pass(tally);
		rig_sleep_ms(20);
	}
	for (int i = 0; i < 4; i++) {
		rig_sleep_ms(20);
		rig_pass(tally);
	}
}

void rig_assert_between(const char *what, uint64_t seen_ns, uint64_t truth_ns,
			uint64_t less_permille, uint64_t more_permille)
{
	uint64_t off_ns = seen_ns > truth_ns ? seen_ns - truth_ns : truth_ns - seen_ns;
	uint64_t permille = seen_ns > truth_ns ? more_permille : less_permille;

	printf("# %s: %.6f s seen, %.6f s true: %+.4f %%\n", what, (double)seen_ns / 1e9,
	       (double)truth_ns / 1e9,
	       ((double)seen_ns - (double)truth_ns) / (double)truth_ns * 100);
	if (off_ns > truth_ns * permille / 1000)
		fail_msg("%s is off by more than %lu per mille", what, (unsigned long)permille);
}

void rig_assert_near(const char *what, uint64_t seen_ns, uint64_t truth_ns, uint64_t permille)
{
	rig_assert_between(what, seen_ns, truth_ns, permille, permille);
}

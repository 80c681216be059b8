// SPDX-License-Identifier: Apache-2.0
/*
 * A worker that wants a part of a CPU computes for that part of each 20 ms. Short processes are
 * children of a worker, which waits for each before it starts the next, so that the kernel's
 * account of the worker has theirs as well. SIGTERM ends a worker between two chunks of work; it is
 * blocked until the worker handles it, because the handler that it inherits does not end it.
 */
#include "trial/load.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "trial/load_cgroup.h"

#define CHUNK_TURNS   300000U /* about 1 ms */
#define PERIOD_NS     (20 * NSEC_PER_MSEC)
#define SHORT_LIFE_NS (10 * NSEC_PER_MSEC)
#define CHURN_LIFE_NS NSEC_PER_SEC

struct load_work {
	_Atomic uint64_t chunks, processes;
	double wanted_cpus;
	pid_t parent;
	size_t own; /* the first workers are the load, the others its neighbour */
};

static volatile sig_atomic_t is_over;

static void end_worker(int number)
{
	(void)number;
	is_over = 1;
}

static void do_chunk(struct load_work *work)
{
	volatile uint64_t value = 88172645463325252ULL;

	for (unsigned i = 0; i < CHUNK_TURNS; i++) {
		uint64_t x = value;

		x ^= x << 13;
		x ^= x >> 7;
		value = x ^ (x << 17);
	}
	atomic_fetch_add_explicit(&work->chunks, 1, memory_order_relaxed);
}

static void sleep_until(uint64_t ns)
{
	const struct timespec time = { (time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC) };

	(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static void run_steady(struct load_work *work, double part)
{
	uint64_t period = clock_ns(CLOCK_MONOTONIC);

	while (!is_over) {
		do_chunk(work);
		if (part >= 1)
			continue;
		if (clock_ns(CLOCK_MONOTONIC) - period >= (uint64_t)(part * (double)PERIOD_NS)) {
			period += PERIOD_NS;
			sleep_until(period);
		}
	}
}

/* One process after another, each with @life_ns of CPU time. */
static void run_processes(struct load_work *work, uint64_t life_ns)
{
	while (!is_over) {
		pid_t pid = fork();

		if (pid == 0) {
			while (!is_over && clock_ns(CLOCK_PROCESS_CPUTIME_ID) < life_ns)
				do_chunk(work);
			_exit(0);
		}
		while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			(void)kill(pid, SIGTERM);
		if (pid < 0)
			return;
		atomic_fetch_add_explicit(&work->processes, 1, memory_order_relaxed);
	}
}

static void fill_with_sigterm(sigset_t *ret)
{
	(void)sigemptyset(ret);
	(void)sigaddset(ret, SIGTERM);
}

__attribute__((noreturn)) static void be_worker(const struct plan_phase *phase, double part,
						bool is_neighbour, struct load_work *work,
						const struct load_cgroup *cgroup)
{
	const struct sigaction end = { .sa_handler = end_worker };
	sigset_t signals;

	(void)sigaction(SIGTERM, &end, NULL);
	(void)signal(SIGINT, SIG_IGN);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != work->parent)
		_exit(0);
	fill_with_sigterm(&signals);
	(void)sigprocmask(SIG_UNBLOCK, &signals, NULL);
	(void)prctl(PR_SET_NAME, is_neighbour ? LOAD_NEIGHBOUR : LOAD_COMM);
	if (!is_neighbour)
		load_cgroup_join(cgroup);
	if (phase->load == LOAD_SHORT_LIVED)
		run_processes(work, SHORT_LIFE_NS);
	else if (phase->load == LOAD_CHURN)
		run_processes(work, CHURN_LIFE_NS);
	else
		run_steady(work, part);
	_exit(0);
}

static int start_workers(const struct plan_phase *phase, const struct load_cgroup *cgroup,
			 size_t count, struct load *load)
{
	size_t own = load->work->own;

	while (load->count < count) {
		pid_t pid = fork();

		if (pid == 0)
			be_worker(phase, phase->cpus / (double)own, load->count >= own, load->work,
				  cgroup);
		if (pid < 0)
			return -errno;
		load->pids[load->count++] = pid;
	}
	return 0;
}

int load_start(const struct plan_phase *phase, const struct load_cgroup *cgroup, struct load *ret)
{
	size_t own = (size_t)ceil(phase->cpus);
	size_t count = phase->load == LOAD_SHARED ? 2 * own : own;
	sigset_t signals, before;

	*ret = (struct load){ 0 };
	if (phase->load == LOAD_NONE)
		return 0;
	if (count > LOAD_WORKERS_MAX)
		return -E2BIG;
	ret->work = mmap(NULL, sizeof(*ret->work), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (ret->work == MAP_FAILED) {
		ret->work = NULL;
		return -ENOMEM;
	}
	ret->work->own = own;
	ret->work->parent = getpid();
	ret->work->wanted_cpus = phase->cpus * (phase->load == LOAD_SHARED ? 2 : 1);
	fill_with_sigterm(&signals);
	(void)sigprocmask(SIG_BLOCK, &signals, &before);
	int r = start_workers(phase, cgroup, count, ret);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	if (r < 0) {
		struct load_result ignored;

		load_stop(ret, 0, &ignored);
	}
	return r;
}

static double cpu_seconds(const struct rusage *usage)
{
	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       1e-6 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

void load_stop(struct load *load, double ran_s, struct load_result *ret)
{
	*ret = (struct load_result){ 0 };
	for (size_t i = 0; i < load->count; i++)
		(void)kill(load->pids[i], SIGTERM);
	for (size_t i = 0; i < load->count; i++) {
		struct rusage usage;
		pid_t pid;

		do
			pid = wait4(load->pids[i], NULL, 0, &usage);
		while (pid < 0 && errno == EINTR);
		if (pid > 0 && i < load->work->own)
			ret->cpu_s += cpu_seconds(&usage);
		else if (pid > 0)
			ret->other_cpu_s += cpu_seconds(&usage);
	}
	if (!load->work)
		return;
	ret->chunks = load->work->chunks;
	ret->processes = load->work->processes;
	ret->wanted_s = ran_s * load->work->wanted_cpus;
	(void)munmap(load->work, sizeof(*load->work));
	*load = (struct load){ 0 };
}

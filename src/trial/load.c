// SPDX-License-Identifier: Apache-2.0
/*
 * SIGTERM ends a worker between two chunks of work; it is blocked until the worker handles it,
 * because the handler that it inherits does not end it.
 */
#include "trial/load.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "trial/load_worker.h"

struct load_works {
	struct load_work own, neighbour;
	double wanted_cpus, wanted_per_s;
	pid_t parent;
};

static void fill_with_sigterm(sigset_t *ret)
{
	(void)sigemptyset(ret);
	(void)sigaddset(ret, SIGTERM);
}

/* To the CPU with number @index among @cpus, counted in a circle. */
static bool pin(const cpu_set_t *cpus, size_t index)
{
	size_t left = index % (size_t)CPU_COUNT(cpus);
	cpu_set_t one;
	size_t cpu = 0;

	for (; !CPU_ISSET(cpu, cpus) || left > 0; cpu++)
		if (CPU_ISSET(cpu, cpus))
			left--;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return sched_setaffinity(0, sizeof(one), &one) == 0;
}

__attribute__((noreturn)) static void
be_worker(const struct plan_phase *phase, const struct load *load, const struct load_cgroup *cgroup)
{
	bool is_neighbour = load->count >= load->own;
	struct load_work *work = is_neighbour ? &load->works->neighbour : &load->works->own;
	const struct load_worker worker = { work, phase->replicas,
					    phase->cpus / (double)load->own };
	sigset_t signals;

	load_worker_begin();
	(void)signal(SIGINT, SIG_IGN);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != load->works->parent)
		_exit(EXIT_SUCCESS);
	fill_with_sigterm(&signals);
	(void)sigprocmask(SIG_UNBLOCK, &signals, NULL);
	(void)prctl(PR_SET_NAME, is_neighbour ? LOAD_NEIGHBOUR : LOAD_COMM);
	if (!is_neighbour)
		load_cgroup_join(cgroup);
	/* A worker that is elsewhere would prove something else: its CPU time is missing. */
	if (phase->pinned && !pin(phase->pinned, load->count))
		_exit(EXIT_FAILURE);
	(is_neighbour ? phase->neighbour : phase->load)->run(&worker);
	_exit(EXIT_SUCCESS);
}

static int start_workers(const struct plan_phase *phase, const struct load_cgroup *cgroup,
			 size_t count, struct load *load)
{
	while (load->count < count) {
		pid_t pid = fork();

		if (pid == 0)
			be_worker(phase, load, cgroup);
		if (pid < 0)
			return -errno;
		load->pids[load->count++] = pid;
	}
	return 0;
}

static double wanted_cpus(const struct plan_phase *phase)
{
	double own = phase->load->duty * phase->cpus;

	if (phase->processes > 0)
		own = phase->processes * phase->load->process_s / phase->length_s;
	return own + (phase->neighbour ? phase->neighbour->duty * phase->cpus : 0);
}

int load_start(const struct plan_phase *phase, const struct load_cgroup *cgroup, struct load *ret)
{
	size_t own = phase->load && phase->load->is_one_worker ? 1 : (size_t)ceil(phase->cpus);
	size_t count = phase->neighbour ? own + (size_t)ceil(phase->cpus) : own;
	sigset_t signals, before;

	*ret = (struct load){ .own = own };
	if (!phase->load)
		return 0;
	if (count > LOAD_WORKERS_MAX)
		return -E2BIG;
	ret->works = mmap(NULL, sizeof(*ret->works), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (ret->works == MAP_FAILED) {
		ret->works = NULL;
		return -ENOMEM;
	}
	ret->works->own.processes_wanted = phase->processes;
	ret->works->own.length_s = phase->length_s;
	ret->works->own.began_ns = clock_ns(CLOCK_MONOTONIC);
	ret->works->neighbour.began_ns = ret->works->own.began_ns;
	ret->works->wanted_cpus = wanted_cpus(phase);
	ret->works->wanted_per_s = phase->load->units_per_s * phase->replicas;
	ret->works->parent = getpid();
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
		if (pid > 0 && i < load->own)
			ret->cpu_s += cpu_seconds(&usage);
		else if (pid > 0)
			ret->other_cpu_s += cpu_seconds(&usage);
	}
	if (!load->works)
		return;
	ret->units = load->works->own.units;
	ret->processes = load->works->own.processes;
	for (size_t i = 0; i < LOAD_STAGES; i++)
		ret->stage_cpu_s[i] = 1e-6 * (double)load->works->own.stage_cpu_us[i];
	ret->wanted_units = ran_s * load->works->wanted_per_s;
	ret->wanted_s = ran_s * load->works->wanted_cpus;
	(void)munmap(load->works, sizeof(*load->works));
	*load = (struct load){ 0 };
}

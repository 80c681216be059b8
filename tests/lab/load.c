// SPDX-License-Identifier: Apache-2.0
/*
 * load - work whose CPU time is known from outside. Prints what wait4(2) says, which shares no code
 * with us.
 *
 *   load burn SECONDS          one process that burns for about that long (of CPU time)
 *   load span SECONDS          one process that burns until so much time has passed
 *   load storm RATE MS SECONDS RATE children a second for SECONDS, each burning about MS ms
 *   load mix MIN MAX COUNT     COUNT children one after another, MIN..MAX ms each, evenly spread
 *   load bomb SECONDS          each process forks as fast as it can, and ends when no more may be
 *   load switch SECONDS        two pairs that hand a byte to and fro: hardly anything but switches
 *   load idle COUNT            COUNT sleeping children, until a signal comes
 *   load light COUNT           as idle; they share memory, so that 100,000 of them fit in 4 GB
 *   load ring COUNT            COUNT children; each runs for some microseconds every second
 *
 * Children burn by counting calibrated loops: a task that reads its CPU clock makes the kernel
 * bring its run time up to date, which would hide just the error that we look for. Last line:
 * "children=N cpu_us=N self_us=N": Σ user + system of the children (for burn and span, of itself),
 * and what the parent ran. Children of idle, light and ring die with their parent.
 */
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIGHT_STACK 2048 /* bytes, for one call of pause() */

static uint64_t loops_per_ms;
static volatile sig_atomic_t time_is_up;
static uint64_t children, children_us;

static uint64_t now_ns(clockid_t id)
{
	struct timespec ts;

	(void)clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

static void spin(uint64_t loops)
{
	for (volatile uint64_t i = 0; i < loops; i++)
		;
}

static void calibrate(void)
{
	uint64_t loops = 1000000, best = UINT64_MAX;

	for (int i = 0; i < 5; i++) {
		uint64_t began = now_ns(CLOCK_PROCESS_CPUTIME_ID), took;

		spin(loops);
		took = now_ns(CLOCK_PROCESS_CPUTIME_ID) - began;
		best = took < best ? took : best;
	}
	loops_per_ms = loops * 1000000 / (best ? best : 1);
}

static uint64_t usage_us(const struct rusage *usage)
{
	return (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000 +
	       (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

static int reap(int flags)
{
	struct rusage usage;
	int status;

	if (wait4(-1, &status, flags, &usage) <= 0)
		return 0;
	children++;
	children_us += usage_us(&usage);
	return 1;
}

static void spawn(uint64_t ms)
{
	pid_t pid = fork();

	if (pid == 0) {
		spin(ms * loops_per_ms);
		_exit(0);
	}
	if (pid < 0) {
		perror("fork");
		exit(1);
	}
}

static void storm(uint64_t rate, uint64_t ms, uint64_t seconds)
{
	uint64_t began = now_ns(CLOCK_MONOTONIC), spawned = 0;

	while (spawned < rate * seconds) {
		uint64_t due = began + spawned * 1000000000ULL / rate;
		struct timespec ts = { (time_t)(due / 1000000000ULL), (long)(due % 1000000000ULL) };

		(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		spawn(ms);
		spawned++;
		while (reap(WNOHANG))
			;
	}
	while (reap(0))
		;
}

static void mix(uint64_t min, uint64_t max, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		spawn(min + i % (max - min + 1));
		while (reap(0))
			;
	}
}

/*
 * The first process is the only one that waits, for all of them: it inherits whose parent ended.
 * Others fork until that is refused; it itself begins again when there is room.
 */
static void bomb(uint64_t seconds)
{
	uint64_t end = now_ns(CLOCK_MONOTONIC) + seconds * 1000000000ULL;
	bool is_first = true;

	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	while (now_ns(CLOCK_MONOTONIC) < end) {
		pid_t pid = fork();

		if (pid == 0)
			is_first = false;
		else if (pid < 0 && !is_first)
			break;
		while (is_first && reap(WNOHANG))
			;
	}
	if (!is_first)
		_exit(0);
	while (reap(0))
		;
}

/* Hands on what it gets, until a signal comes. */
static void hand_on(int from, int to)
{
	char byte = 0;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1)
		;
	_exit(1);
}

static void switches(uint64_t seconds)
{
	enum { PAIRS = 2 };
	pid_t pids[2 * PAIRS];

	for (int pair = 0; pair < PAIRS; pair++) {
		int there[2], back[2];

		if (pipe(there) < 0 || pipe(back) < 0 || write(there[1], "", 1) != 1) {
			perror("pipe");
			exit(1);
		}
		for (int i = 0; i < 2; i++) {
			pids[2 * pair + i] = fork();
			if (pids[2 * pair + i] == 0)
				hand_on(i ? back[0] : there[0], i ? there[1] : back[1]);
		}
	}
	(void)sleep((unsigned)seconds);
	for (int i = 0; i < 2 * PAIRS; i++) {
		if (pids[i] > 0)
			(void)kill(pids[i], SIGKILL);
	}
	while (reap(0))
		;
}

static int pause_for_good(void *argument)
{
	(void)argument;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		(void)pause();
	return 0;
}

/* Processes of their own, with pids and a run time each, but no memory of their own. */
static void light(uint64_t count)
{
	static const int shared = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND;
	char *stacks = mmap(NULL, count * LIGHT_STACK, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (uint64_t i = 0; i < count; i++) {
		if (stacks == MAP_FAILED || clone(pause_for_good, stacks + (i + 1) * LIGHT_STACK,
						  shared | SIGCHLD, NULL) < 0) {
			perror("clone");
			exit(1);
		}
	}
	(void)printf("ready\n");
	(void)fflush(stdout);
	(void)pause();
}

static void crowd(uint64_t count, int active)
{
	for (uint64_t i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("fork");
			exit(1);
		}
		if (pid > 0)
			continue;
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			if (active) {
				spin(loops_per_ms / 100);
				(void)usleep(1000000);
			} else {
				(void)pause();
			}
		}
	}
	(void)printf("ready\n");
	(void)fflush(stdout);
	(void)pause();
}

static uint64_t self_us(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_SELF, &usage);
	return usage_us(&usage);
}

static void burn(uint64_t seconds)
{
	for (uint64_t i = 0; i < seconds * 100; i++)
		spin(10 * loops_per_ms);
	children = 1;
	children_us = self_us();
}

static void end_span(int signal_number)
{
	(void)signal_number;
	time_is_up = 1;
}

/* A signal ends it: nothing reads a clock. */
static void span(uint64_t seconds)
{
	(void)signal(SIGALRM, end_span);
	(void)alarm((unsigned)seconds);
	while (!time_is_up)
		spin(loops_per_ms / 10 + 1);
	children = 1;
	children_us = self_us();
}

static uint64_t number(char **argv, int argc, int index)
{
	if (index >= argc) {
		(void)fprintf(stderr, "load: missing argument; see the top of load.c\n");
		exit(2);
	}
	return strtoull(argv[index], NULL, 10);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	calibrate();
	if (strcmp(mode, "burn") == 0) {
		burn(number(argv, argc, 2));
	} else if (strcmp(mode, "span") == 0) {
		span(number(argv, argc, 2));
	} else if (strcmp(mode, "storm") == 0) {
		storm(number(argv, argc, 2), number(argv, argc, 3), number(argv, argc, 4));
	} else if (strcmp(mode, "mix") == 0) {
		mix(number(argv, argc, 2), number(argv, argc, 3), number(argv, argc, 4));
	} else if (strcmp(mode, "bomb") == 0) {
		bomb(number(argv, argc, 2));
	} else if (strcmp(mode, "switch") == 0) {
		switches(number(argv, argc, 2));
	} else if (strcmp(mode, "light") == 0) {
		light(number(argv, argc, 2));
	} else if (strcmp(mode, "idle") == 0 || strcmp(mode, "ring") == 0) {
		crowd(number(argv, argc, 2), mode[0] == 'r');
	} else {
		(void)fprintf(stderr, "load: burn|span|storm|mix|bomb|switch|idle|light|ring\n");
		return 2;
	}
	(void)printf("children=%llu cpu_us=%llu self_us=%llu\n", (unsigned long long)children,
		     (unsigned long long)children_us, (unsigned long long)self_us());
	return 0;
}

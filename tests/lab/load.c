// SPDX-License-Identifier: Apache-2.0
/*
 * load - work whose CPU time is known from outside. Prints what wait4(2) says, which shares no code
 * with us.
 *
 *   load burn SECONDS          one process that burns for about that long (of CPU time)
 *   load span SECONDS          one process that burns until so much time has passed
 *   load storm RATE MS SECONDS RATE children a second for SECONDS, each burning about MS ms
 *   load mix MIN MAX COUNT     COUNT children one after another, MIN..MAX ms each, evenly spread
 *   load idle COUNT            COUNT sleeping children, until a signal comes
 *   load ring COUNT            COUNT children of which each runs for some microseconds every second
 *
 * Children burn by counting calibrated loops: a task that reads its CPU clock makes the kernel
 * bring its run time up to date, which would hide just the error that we look for. Last line:
 * "children=N cpu_us=N self_us=N": Σ user + system of the children (for burn and span, of itself),
 * and what the parent ran. Children of idle and ring die with their parent.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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
	} else if (strcmp(mode, "idle") == 0 || strcmp(mode, "ring") == 0) {
		crowd(number(argv, argc, 2), mode[0] == 'r');
	} else {
		(void)fprintf(stderr, "load: burn|span|storm|mix|idle|ring\n");
		return 2;
	}
	(void)printf("children=%llu cpu_us=%llu self_us=%llu\n", (unsigned long long)children,
		     (unsigned long long)children_us, (unsigned long long)self_us());
	return 0;
}

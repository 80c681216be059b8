// SPDX-License-Identifier: Apache-2.0
/*
 * pingpong SECONDS - two processes on one CPU hand a byte to and fro over pipes; prints nanoseconds
 * a context switch.
 */
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

static int pass(int from, int to, char *byte)
{
	return read(from, byte, 1) == 1 && write(to, byte, 1) == 1;
}

int main(int argc, char **argv)
{
	uint64_t seconds = argc > 1 ? strtoull(argv[1], NULL, 10) : 3;
	uint64_t rounds = 0, began, took;
	int there[2], back[2];
	char byte = 'x';
	cpu_set_t cpus;
	pid_t child;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0 || pipe(there) < 0 || pipe(back) < 0) {
		perror("pingpong");
		return 1;
	}
	child = fork();
	if (child == 0) {
		while (pass(there[0], back[1], &byte))
			;
		_exit(0);
	}
	began = now_ns();
	do {
		for (int i = 0; i < 1000; i++, rounds++) {
			if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
				return 1;
		}
		took = now_ns() - began;
	} while (took < seconds * 1000000000ULL);
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	(void)printf("%.1f\n", (double)took / (double)rounds / 2);
	return 0;
}

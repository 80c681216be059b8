/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command of this program as a step of another one: it runs in a process of its own, so that its
 * memory, its signals and its standard output end with it.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#define BENCH_WORDS_MAX 64
#define BENCH_STOPPED   3 /* status of a step that a signal has ended */

struct bench_step {
	int (*run)(int argc, char *const *argv, char *const *environ_);
	char *words[BENCH_WORDS_MAX + 1]; /* owned; NULL ends them */
	int count;
	bool is_incomplete; /* a word is missing: no memory, or no room */
	/* The file that has its standard output; NULL: it goes where ours goes. */
	const char *output;
	/* A process that must live as long as the step; 0: none. */
	pid_t companion;
};

/* Adds a word of its command line. */
void bench_step_add(struct bench_step *step, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Blocks SIGINT, SIGTERM, SIGHUP and SIGCHLD, which bench_step_run() waits for. */
void bench_step_block_signals(void);
/*
 * Runs it: the exit status; BENCH_STOPPED where it has ended by a signal, or was ended because one
 * came or the companion has ended.
 */
int bench_step_run(struct bench_step *step);
void bench_step_release(struct bench_step *step);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The measured command as a process: started, waited for, and given the signals that this process
 * gets. One at a time, because signals and waiting belong to the whole process.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "kepler/stat/phase_pipes.h"

/* As in a shell: the command was found and cannot be executed; it was not found. */
#define STAT_CANNOT_EXECUTE 126
#define STAT_NOT_FOUND      127

struct stat_child {
	int signal_fd;
	sigset_t before; /* the mask of signals */
	struct sigaction pipe_before, child_before;
	pid_t pid;       /* 0: none runs */
	bool has_exited; /* it is a zombie: its work can still be read */
	int status;      /* then: its exit status, or 128 and the signal, as a shell has it */
	uint64_t began_ns, ended_ns; /* MONOTONIC */
	uint64_t counted_ns;         /* of descendants, by the last stat_child_reap() */
};

/*
 * Takes over signals, before any thread is started, and makes this process the parent of orphaned
 * descendants. 0 or -errno.
 */
int stat_child_prepare(struct stat_child *child);
void stat_child_release(struct stat_child *child);
/*
 * @pipes, or NULL, get its standard output and error. 0; or the exit status for a command that
 * cannot be run, with a diagnosis.
 */
int stat_child_start(struct stat_child *child, char *const *argv, struct phase_pipes *pipes,
		     struct diag *diag);
/* To be called when signal_fd is readable: passes signals on, reaps orphans. */
void stat_child_follow(struct stat_child *child);
/*
 * Reaps the command that has exited, and orphans. Returns the CPU time, in ns, of all descendants
 * that were waited for since the last call.
 */
uint64_t stat_child_reap(struct stat_child *child);

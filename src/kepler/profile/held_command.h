/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command that is started and waits, before it executes its program, until measuring has begun.
 * One thread.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/diag.h"

struct held_command {
	pid_t pid;
	int go_fd;    /* closed: it goes on; -1: it has */
	int error_fd; /* its errno, if the program cannot be executed */
	int pid_fd;   /* readable once it has ended */
};

#define HELD_COMMAND_INIT                                                                          \
	{                                                                                          \
		.go_fd = -1, .error_fd = -1, .pid_fd = -1                                          \
	}

/* @argv ends with NULL. Before threads are started. 0, or -errno with a diagnosis. */
int held_command_start(struct held_command *command, char *const *argv, struct diag *diag);
/* 0, or -errno with a diagnosis: the program was not executed. */
int held_command_release(struct held_command *command, char *const *argv, struct diag *diag);
/* Waits for its end; its exit status as a shell has it, 128 and the number of a signal. */
int held_command_wait(struct held_command *command);
/* Ends it if it has not been released. */
void held_command_close(struct held_command *command);

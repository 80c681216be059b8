/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard output and error of the command, which are passed on unchanged, and in which a line that
 * matches a regular expression begins a phase.
 */
#pragma once

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

#define PHASE_PIPES    2
#define PHASE_LINE_MAX 1024 /* of a line no more is looked at */

typedef void phase_begins(void *userdata, const char *line);

struct phase_pipes {
	regex_t regex;
	bool has_regex;
	int read_fd[PHASE_PIPES];  /* of standard output and error; -1: closed */
	int write_fd[PHASE_PIPES]; /* for the command */
	char line[PHASE_PIPES][PHASE_LINE_MAX];
	size_t len[PHASE_PIPES];
	phase_begins *begins;
	void *userdata;
};

/* A POSIX extended regular expression. 0, or -EINVAL with a diagnosis. */
int phase_pipes_init(struct phase_pipes *pipes, const char *regex, struct diag *diag);
void phase_pipes_release(struct phase_pipes *pipes);
/* Before the command starts: 0 or -errno. */
int phase_pipes_open(struct phase_pipes *pipes);
/* In this process, after it has started. */
void phase_pipes_started(struct phase_pipes *pipes);
/* In the command's process: its standard output and error are the pipes. */
void phase_pipes_take(const struct phase_pipes *pipes);
/* Passes on what is there. */
void phase_pipes_follow(struct phase_pipes *pipes);
/* After the command has ended: the rest, however long its descendants keep the pipes open. */
void phase_pipes_close(struct phase_pipes *pipes);

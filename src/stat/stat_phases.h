/* SPDX-License-Identifier: Apache-2.0 */
/* The phases of a command, each with its use until the next one begins. Pure. */
#pragma once

#include <stddef.h>

#include "base/strbuf.h"

#define STAT_PHASES_MAX 100 /* what follows belongs to the last one */
#define STAT_PHASE_NAME 64

/* The use of a command up to a moment. */
struct stat_moment {
	double seconds, joules, cpu_seconds;
};

struct stat_phase {
	char name[STAT_PHASE_NAME]; /* a line of the command's output, without control characters */
	struct stat_moment used;
};

/* Zeroed: none. */
struct stat_phases {
	struct stat_phase phases[STAT_PHASES_MAX];
	size_t count;
	struct stat_moment began; /* the last one */
};

/* Ends the last phase, and begins the next one unless there are too many. */
void stat_phases_begin(struct stat_phases *phases, const char *name, const struct stat_moment *now);
void stat_phases_end(struct stat_phases *phases, const struct stat_moment *now);
/* A line for each. */
void stat_phases_text(const struct stat_phases *phases, struct strbuf *out);
/* The member "phases", with a comma before it. */
void stat_phases_json(const struct stat_phases *phases, struct strbuf *out);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes that are profiled: what they map, their samples as nodes of the profile, and their
 * energy. Either all processes, or one with all that it starts from then on, daemons included. A
 * process whose pid is used again within an interval is one with the one before. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kepler/profile/perf_sampler.h"
#include "profile/profile.h"
#include "profile/sample_share.h"

#define TRACED_PROCESSES_MAX 65536U
#define TRACED_NAME_MAX      32

struct traced_processes;

struct traced_options {
	const char *kallsyms; /* "/proc/kallsyms" */
	bool follows;         /* only processes that traced_processes_follow() names */
};

/* State at the end. */
struct traced_stats {
	uint64_t samples[SAMPLE_CLOCKS];
	uint64_t user_samples;
	uint64_t broken; /* of user_samples: the stack ends before the start of its thread */
	char worst[TRACED_NAME_MAX]; /* name of the processes with the most of these, or "" */
	uint64_t lost;               /* samples without memory, processes without room */
	uint64_t files_refused;
	uint64_t unreadable;   /* samples with a function whose file or list did not answer */
	uint32_t hangs;        /* times that was waited for */
	uint64_t no_sample_uj; /* of processes without a sample */
};

int traced_processes_new(struct profile *profile, const struct traced_options *options,
			 struct traced_processes **ret);     /* 0 or -ENOMEM */
void traced_processes_free(struct traced_processes *traced); /* NULL is fine */
/* Profiles the process, and those that it starts. 0 or -ENOMEM. */
int traced_processes_follow(struct traced_processes *traced, uint32_t pid);
void traced_processes_take(struct traced_processes *traced, const struct perf_event *event);
/* Is energy of the process part of the profile? */
bool traced_processes_has(const struct traced_processes *traced, uint32_t pid);
/*
 * The process used @amounts in the interval whose samples have been taken; @comm is its name if
 * it has no sample. One that finds no room is charged to the frame of its name.
 */
void traced_processes_charge(struct traced_processes *traced, uint32_t pid, const char *comm,
			     const struct share_amounts *amounts);
/* After all charges of an interval: forgets what ended long ago. */
void traced_processes_end_interval(struct traced_processes *traced);
/*
 * After the last interval: energy without any sample goes to frames "[no sample]", and functions of
 * the kernel get their names. Nothing can be taken or charged any more.
 */
void traced_processes_end(struct traced_processes *traced, struct traced_stats *ret);

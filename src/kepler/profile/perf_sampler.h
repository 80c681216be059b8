/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The running functions of the machine, sampled by the kernel (perf_event_open(2)): the stack that
 * each CPU executes, a number of times per second, and the program files that processes map, in
 * order of time. An idle CPU is not sampled. Samples by time are taken by the processor's cycles,
 * or the kernel's own timer if it has no counter of cycles; samples by other events, such as cache
 * misses, in addition (profile/sample_clock.h). Memory is bounded; records that do not fit are
 * counted. One thread.
 *
 * Pids are of this process' pid namespace.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "profile/sample_clock.h"
#include "profile/stack_walk.h"

struct perf_sampler;

/* An event that is sampled in addition to time: fields of struct perf_event_attr. */
struct perf_source {
	enum sample_clock clock;
	uint32_t type;
	uint64_t config;
};

struct perf_sampler_options {
	uint32_t frequency_hz;             /* of each source, on each busy CPU */
	const struct perf_source *sources; /* [source_count], borrowed until it is open */
	size_t source_count;
	bool copies_stacks; /* with each sample by time, as far as the processor allows */
};

enum perf_event_kind {
	PERF_SAMPLED,  /* a stack */
	PERF_MAPPED,   /* the process maps a file, or other memory, that can be executed */
	PERF_EXECUTED, /* it begins another program: nothing is mapped any more */
	PERF_NAMED,    /* it has another name */
	PERF_FORKED,   /* it was made by `parent` */
	PERF_ENDED,
};

struct perf_mapping {
	uint64_t start, len, offset; /* in the address space; in the file */
	uint64_t inode, device;      /* of the file system: major << 32 | minor */
	const char *path;            /* terminated; without a file "//anon", "[vdso]" */
};

/* Pointers are valid until the next call. */
struct perf_event {
	enum perf_event_kind kind;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t pid, parent;
	enum sample_clock clock;    /* of a sample */
	uint64_t weight;            /* of a sample: cycles, ns, or other events */
	const uint64_t *kernel_ips; /* [kernel_count], the innermost first */
	const uint64_t *user_ips;   /* [user_count] */
	size_t kernel_count, user_count;
	/* The user stack of a sample; its size is 0 if it was not copied. */
	struct stack_registers registers;
	struct stack_copy stack;
	struct perf_mapping mapping;
	const char *name; /* of PERF_EXECUTED and PERF_NAMED: terminated, untrusted */
};

struct perf_sampler_stats {
	uint64_t samples, lost; /* lost: records that did not fit */
	bool by_cycles;
	uint32_t clocks; /* SAMPLE_CLOCK_BIT()s of those that samples are taken by */
	uint32_t cpus;
};

/*
 * Sampling begins at once. A source that one of the CPUs refuses is left out. 0, or -errno with a
 * diagnosis: -EACCES, -EPERM without the privilege.
 */
int perf_sampler_open(const struct perf_sampler_options *options, struct perf_sampler **ret,
		      struct diag *diag);
void perf_sampler_close(struct perf_sampler *sampler); /* NULL is fine */
/* Takes what the kernel has recorded, before its buffers are full: each perf_sampler_drain_ns(). */
uint64_t perf_sampler_drain_ns(const struct perf_sampler *sampler);
void perf_sampler_drain(struct perf_sampler *sampler);
/* The next event up to @until_ns in order of time; false: there is none. */
bool perf_sampler_next(struct perf_sampler *sampler, uint64_t until_ns, struct perf_event *ret);
struct perf_sampler_stats perf_sampler_stats(const struct perf_sampler *sampler);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads /proc/PID/cgroup of processes with an insufficient cgroup id, on a thread.
 *
 * Before Linux 6.8 its reader waits for the kernel's one cgroup_mutex, which a runtime that makes
 * or removes cgroups, or a controller that is slow to do so, can hold for many seconds. The reads
 * of an interval are made in order, by one thread: while one read waits all others would wait for
 * the same lock. So one batch is under way at a time; processes that appear while it is late are
 * read when it has answered.
 *
 * Processes in one set of cgroups (the kernel's css_set) are in the same cgroup of each hierarchy,
 * so two of a set are read, and if their texts are equal the others share it. Two, because one may
 * be moved between the pass and the read.
 */
#pragma once

#include "base/map.h"
#include "base/offload.h"
#include "workload/identity.h"

#define CGROUP_READS_MAX     512  /* in one batch, unless a set turns out to differ */
#define CGROUP_BATCH_MAX     8192 /* processes of one batch, with those that share */
#define CGROUP_READS_LATE_NS (1 * 1000000000ULL)

/* One request and its result. */
struct cgroup_read {
	uint32_t pid;
	char comm[16];
	uint64_t start_ns, cgroup_id, cgroup_set;
	int cgroup_err; /* why the id is not enough, -errno; 0: its owner is vague */
	bool may_share; /* its set is known */
	uint32_t first; /* of this set in the batch: itself, or an earlier one */
	uint32_t place; /* in the set, from 0 */
	bool is_shared; /* of the first: two texts of its set were equal */
	char *text;     /* NULL: shared, or the process is gone, or its file cannot be read */
};

struct cgroup_batch;

struct cgroup_reads {
	struct offload *offload;    /* NULL until something is read */
	void (*start_thread)(void); /* see struct offload_options */
	int proc_fd;                /* borrowed */
	struct map asked;           /* (pid, start) of this interval */
	uint32_t asked_count;
	bool refused;                 /* a request was refused since the last check */
	struct cgroup_batch *next;    /* gathered, not yet under way; NULL: none */
	struct cgroup_batch *at_work; /* the pool's */
	uint64_t patience_ns, wait_left_ns;
	uint64_t now_ns;
	uint64_t late; /* cumulative */
};

/* @patience_ns: of cgroup_reads_await() for one read; 0: 100 ms. */
void cgroup_reads_init(struct cgroup_reads *reads, int proc_fd, void (*start_thread)(void),
		       uint64_t patience_ns);
/* Waits for a moment; a read that hangs is left to its thread. */
void cgroup_reads_release(struct cgroup_reads *reads);
/* Once per interval: BOOTTIME. */
void cgroup_reads_begin(struct cgroup_reads *reads, uint64_t now_ns);
/*
 * true: it will be read at the next await. false: not now: it was read in this interval already, a
 * batch is late, or there is no room.
 */
bool cgroup_reads_ask(struct cgroup_reads *reads, const struct process_ref *process,
		      int cgroup_err);
/*
 * Begins the reads that were requested since the last call and waits for them: as long as each read
 * takes less than the patience, and in sum at most a second an interval. A late read is not waited
 * for again.
 */
void cgroup_reads_await(struct cgroup_reads *reads);
/* A batch that has answered, owned by the caller; NULL: none. */
struct cgroup_batch *cgroup_reads_take(struct cgroup_reads *reads);
/* The reads of a batch. */
const struct cgroup_read *cgroup_batch_reads(const struct cgroup_batch *batch, uint32_t *ret_count);
/* The text read for number @i, or for its set; NULL: nothing. */
const char *cgroup_batch_text(const struct cgroup_batch *batch, uint32_t i);
void cgroup_batch_free(struct cgroup_batch *batch);
/* Reads that are under way and have not finished. */
uint32_t cgroup_reads_outstanding(const struct cgroup_reads *reads);

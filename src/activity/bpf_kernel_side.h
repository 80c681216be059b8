/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loaded BPF programs and the memory shared with them: how records get here, not what they
 * mean.
 *
 * After bpf_kernel_side_open() a pass makes these system calls and no others:
 * bpf(BPF_PROG_TEST_RUN) for each walk; for an iteration bpf(BPF_ITER_CREATE), read, close.
 * Everything else is memory. Lost ends of young threads cost map operations.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "activity/activity.h"
#include "bpf/kepler_types.h"

struct bpf_kernel_side;
typedef void bpf_record_fn(void *userdata, const struct kepler_thread *record);
typedef void bpf_lost_fn(void *userdata, uint64_t cgroup_id, uint64_t run_ns);

/* Loads the best set of programs that this kernel takes. 0 or -errno. */
int bpf_kernel_side_open(const struct activity_options *options, struct bpf_kernel_side **ret);
void bpf_kernel_side_close(struct bpf_kernel_side *side);

bool bpf_kernel_side_walks(const struct bpf_kernel_side *side); /* else it iterates */
/* Of the living it sees those of its own pid namespace, of what ends everything. */
bool bpf_kernel_side_sees_part(const struct bpf_kernel_side *side);
/* Programs that the kernel refuses, see bpf_programs_refused(). */
unsigned int bpf_kernel_side_refused(const struct bpf_kernel_side *side, char *text, size_t size);
bool bpf_kernel_side_sees_ends(const struct bpf_kernel_side *side);
/*
 * From now on no exit is told of, and the kernel forgets that program. For good: to attach one
 * takes privileges and system calls that are given up after the start.
 */
void bpf_kernel_side_drop_exits(struct bpf_kernel_side *side);
int bpf_kernel_side_ends_fd(const struct bpf_kernel_side *side); /* -1 without ends */

/* Hands over the ends that wait in the ring. */
void bpf_kernel_side_drain(struct bpf_kernel_side *side, bpf_record_fn *fn, void *userdata);
/* Hands over the cgroups that were made since the last call. */
void bpf_kernel_side_new_cgroups(struct bpf_kernel_side *side, activity_cgroup_fn *fn,
				 void *userdata);
uint64_t bpf_kernel_side_cgroups_missed(const struct bpf_kernel_side *side);
/* After a drain that the descriptor asked for: it fires again when the ring is half full again. */
void bpf_kernel_side_rearm(struct bpf_kernel_side *side);

/*
 * Hands over the threads that ran since the last call, or every thread (@full, or what went before
 * failed). @expected: how many there may be with @full. Counts what it looked at and handed over. 0
 * or -errno; then some records may have come.
 */
int bpf_kernel_side_read(struct bpf_kernel_side *side, bool full, size_t expected,
			 bpf_record_fn *fn, void *userdata);
uint64_t bpf_kernel_side_looked_at(const struct bpf_kernel_side *side);
uint64_t bpf_kernel_side_sent(const struct bpf_kernel_side *side);

/* Ends lost since the last call, by kind; see struct kepler_ends. */
struct bpf_lost {
	uint64_t count; /* all of them */
	uint64_t old_count;
	uint64_t old_run_ns;
	uint64_t young_run_ns; /* without a cgroup */
	uint64_t coming_ns;    /* of all: what is still to be handed to the function below */
	uint64_t exits;        /* exits that could not be told */
	uint64_t exits_run_ns;
};
/* Young ones with a cgroup go to @fn, one or two calls late. */
struct bpf_lost bpf_kernel_side_take_lost(struct bpf_kernel_side *side, bpf_lost_fn *fn,
					  void *userdata);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loaded BPF programs and the memory shared with them. This module transports records and does
 * not interpret them.
 *
 * After bpf_kernel_side_open() a pass makes these system calls and no others:
 * bpf(BPF_PROG_TEST_RUN) for each walk; for an iteration bpf(BPF_ITER_CREATE), read, close.
 * Everything else is memory. Lost ends of young threads cost map operations.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "activity/activity_reader.h"
#include "bpf/kepler_work.h"

struct bpf_kernel_side;
/* With what the switches have shown of each thread, or NULL. */
typedef void bpf_record_fn(void *userdata, const struct kepler_thread *record,
			   const struct kepler_work *work);
typedef void bpf_records_fn(void *userdata, const struct kepler_thread *records,
			    const struct kepler_work *works, size_t count);
typedef void bpf_lost_fn(void *userdata, uint64_t cgroup_id, uint64_t run_ns);

struct switch_reader;

/*
 * Loads the best set of programs that this kernel accepts, and starts @switches (or NULL) with
 * them, which is borrowed. 0 or -errno; -EOPNOTSUPP where switches cannot be counted.
 */
int bpf_kernel_side_open(const struct activity_options *options, struct switch_reader *switches,
			 struct bpf_kernel_side **ret);
void bpf_kernel_side_close(struct bpf_kernel_side *side);

bool bpf_kernel_side_walks(const struct bpf_kernel_side *side); /* else it iterates */
/* It sees only the living processes of its own pid namespace, but all ends. */
bool bpf_kernel_side_sees_part(const struct bpf_kernel_side *side);
/* Programs that the kernel refuses, see bpf_programs_refused(). */
unsigned int bpf_kernel_side_refused(const struct bpf_kernel_side *side, char *text, size_t size);
/* Returns true if the flush is among them; without it switches still count. */
bool bpf_kernel_side_lacks_flush(const struct bpf_kernel_side *side);
bool bpf_kernel_side_sees_ends(const struct bpf_kernel_side *side);
/*
 * From now on no exit is reported, and that program is detached. This is permanent: attaching one
 * needs privileges and system calls that are given up after the start.
 */
void bpf_kernel_side_drop_exits(struct bpf_kernel_side *side);
int bpf_kernel_side_ends_fd(const struct bpf_kernel_side *side); /* -1 without ends */

/* Reports the ends that wait in the ring. */
void bpf_kernel_side_drain(struct bpf_kernel_side *side, bpf_record_fn *fn, void *userdata);
/* Reports the cgroups that were created since the last call. */
void bpf_kernel_side_new_cgroups(struct bpf_kernel_side *side, activity_cgroup_fn *fn,
				 void *userdata);
uint64_t bpf_kernel_side_cgroups_missed(const struct bpf_kernel_side *side);
/* After a drain that the descriptor asked for: it fires again when the ring is half full again. */
void bpf_kernel_side_rearm(struct bpf_kernel_side *side);

/*
 * Reports the threads that ran since the last call, or every thread (@full, or the last call
 * failed). @expected: how many there may be with @full. Counts the threads that it checked and
 * reported. 0 or -errno; on failure some records may have been reported.
 */
int bpf_kernel_side_read(struct bpf_kernel_side *side, bool full, size_t expected,
			 bpf_records_fn *fn, void *userdata);
/* From now on records have that, or not. */
void bpf_kernel_side_want(struct bpf_kernel_side *side, enum kepler_wants what, bool wanted);
uint64_t bpf_kernel_side_looked_at(const struct bpf_kernel_side *side);
uint64_t bpf_kernel_side_sent(const struct bpf_kernel_side *side);
/* Cumulative: counted time of ends that did not fit; threads without memory for their work. */
uint64_t bpf_kernel_side_work_lost_ns(const struct bpf_kernel_side *side);
uint64_t bpf_kernel_side_without_work(const struct bpf_kernel_side *side);

/* Ends lost since the last call, by kind; see struct kepler_ends. */
struct bpf_lost {
	uint64_t count; /* all of them */
	uint64_t old_count;
	uint64_t old_run_ns;
	uint64_t young_run_ns; /* without a cgroup */
	uint64_t coming_ns;    /* of all: run time that the function below still has to report */
	uint64_t exits;        /* exits that could not be reported */
	uint64_t exits_run_ns;
};
/* Young ones with a cgroup go to @fn, one or two calls late. */
struct bpf_lost bpf_kernel_side_take_lost(struct bpf_kernel_side *side, bpf_lost_fn *fn,
					  void *userdata);

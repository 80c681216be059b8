/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real load with a known truth, for the tests of the activity readers: children that burn CPU
 * without ever reading a clock (that call brings the kernel's counter up to date, and would hide a
 * stale one), and the kernel's own account of each by wait4().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "activity/activity.h"

/* Runs for about @ms on a CPU, by counting. */
void rig_burn_ms(unsigned int ms);
/* Call once, before children burn. */
void rig_calibrate(void);

/* A name for children that no other process of the machine has. Ask before the first fork. */
const char *rig_comm(void);
/*
 * Changes the name, as each opened reader should: the kernel frees processes late, and reports the
 * end of processes that an earlier reader waited for to the next one.
 */
void rig_rename(void);

typedef void rig_fn(void *arg);
/* A child that runs @fn and exits. Its name is @comm from birth. */
pid_t rig_fork(const char *comm, rig_fn *fn, void *arg);
/* Waits for @pid (-1: any child); its CPU time in ns, and that of what it waited for. */
uint64_t rig_wait(pid_t pid);
void rig_sleep_ms(unsigned int ms);
/*
 * Waits until the kernel has freed the process that rig_wait() waited for: two grace periods of
 * RCU, by membarrier, and a moment for their callbacks.
 */
void rig_wait_for_frees(void);

/*
 * Opens a BPF reader and takes the baseline; ends the program as skipped (77) where BPF is refused.
 */
struct activity_reader *rig_open(const struct activity_options *options);

/*
 * Some machines guard their process 1 from BPF: no pass shows it, and no program runs in an
 * interrupt on top of it. Only its exit reports a process that is freed there, and the run time
 * then lacks up to a tick. Known from the second pass on.
 */
bool rig_is_guarded(struct activity_reader *reader);

#define RIG_GONE_MAX 512

/* The reports of passes so far about the processes that are looked for. */
struct rig_tally {
	struct activity_reader *reader;
	pid_t pid;          /* 0: any */
	const char *comm;   /* NULL: any */
	uint64_t cgroup_id; /* of the dropped, 0: none */
	uint64_t named_ns, dropped_ns, dropped_cgroup_ns, busy_ns;
	unsigned int samples;
	unsigned int ended; /* processes, also if the end of a thread comes later, with a sample */
	struct process_key gone[RIG_GONE_MAX]; /* those that ended last */
	uint32_t flags;                        /* of the last sample */
};
void rig_pass(struct rig_tally *tally);
/* Runs passes until @ended processes have ended, 8 s at most; then a few more, for late reports. */
void rig_pass_until(struct rig_tally *tally, unsigned int ended);

/* Fails the test unless |seen - truth| <= truth × @permille / 1000. */
void rig_assert_near(const char *what, uint64_t seen_ns, uint64_t truth_ns, uint64_t permille);
/* The same with a limit for less than the truth, and one for more. */
void rig_assert_between(const char *what, uint64_t seen_ns, uint64_t truth_ns,
			uint64_t less_permille, uint64_t more_permille);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPU time that each process used on the node. One interface, two readers: BPF (exact, sees
 * everything) and procfs (the fallback). activity_reader.h says what they give.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "activity/activity_reader.h"

/*
 * Opens the best reader there is; never fails for lack of BPF. 0 or -errno (not even /proc is
 * readable).
 */
int activity_open(const struct activity_options *options, struct activity_reader **ret);
void activity_close(struct activity_reader *reader);
/*
 * One pass. The first is the baseline: it has samples (with cpu_ns 0) for all processes. 0 or
 * -errno; on failure *activity has no samples.
 */
int activity_read(struct activity_reader *reader, struct activity *activity);
/*
 * A descriptor to poll for POLLIN between passes, or -1. It fires when the buffer of ends is half
 * full: activity_drain() then makes room. Needed only to keep the names of a storm of short
 * processes within one interval.
 */
int activity_fd(const struct activity_reader *reader);
void activity_drain(struct activity_reader *reader);
void activity_get_info(const struct activity_reader *reader, struct activity_info *ret);
/*
 * Calls @fn with a sample for each living process that the reader knows, whether it ran or not; its
 * cpu_ns is 0, and it is valid during the call (idle.share=equal, users of devices).
 */
void activity_visit(struct activity_reader *reader, activity_visit_fn *fn, void *userdata);
/*
 * Reports the cgroups that were created since the last call, in the hierarchy of the ids, with
 * their paths; @path is valid during the call. To be called before the samples of a pass are
 * resolved, so that work in a cgroup that is removed by then has an owner. A reader that does not
 * know them reports none.
 */
void activity_visit_new_cgroups(struct activity_reader *reader, activity_cgroup_fn *fn,
				void *userdata);
/*
 * From now on samples have the parents of their processes, also those of processes that end before
 * the next pass; or not. False: this reader does not know them.
 */
bool activity_want_parents(struct activity_reader *reader, bool wanted);
/*
 * The same of the users of processes. The procfs reader does not know those of processes that ended
 * before the pass.
 */
void activity_want_users(struct activity_reader *reader, bool wanted);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory traffic by resctrl's memory bandwidth monitoring (Documentation/filesystems/resctrl.rst):
 * mbm_total_bytes of each group, as a sum over the domains of the last level of cache. Groups are
 * those that exist: container runtimes and their plugins make them, and nothing is changed here.
 *
 *   SYSFS/fs/resctrl/mon_data/mon_L3_NN/mbm_total_bytes    the default group, and what is below it
 *   SYSFS/fs/resctrl/mon_groups/GROUP/…                    a monitoring group of it
 *   SYSFS/fs/resctrl/CONTROL/…, …/mon_groups/GROUP/…       of another control group
 *
 * The kernel shows for a control group the sum of it and its monitoring groups; here each has its
 * own. It hides wraps of the hardware. A value that it calls Unavailable or Error is unknown, and
 * so is the traffic of a group whose counter fell: another group of that name was made.
 *
 * Each read of a counter interrupts a CPU of its domain: at most RESCTRL_GROUPS_MAX groups are
 * read. A monitoring group beyond that is a part of its control group.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESCTRL_GROUPS_MAX  128
#define RESCTRL_DOMAINS_MAX 16
#define RESCTRL_PIDS_MAX    65536

/*
 * The tasks of group 0, the default one, are not listed: it has all tasks that no other group has.
 */
struct resctrl_group {
	uint64_t bytes; /* since the reading before */
	uint32_t first_pid, pid_count;
};

struct resctrl_reading {
	const struct resctrl_group *groups;
	uint32_t group_count; /* 0: there is no monitoring */
	const uint32_t *pids; /* of threads; the leader stands for its process */
	uint32_t pid_count;
	uint32_t scans; /* changes with groups and pids */
	bool is_known;  /* the bytes of all groups; not in the first reading after a scan */
};

struct resctrl;

/* 0 or -ENOMEM; it may be mounted later. */
int resctrl_open(const char *sysfs, struct resctrl **ret);
void resctrl_close(struct resctrl *resctrl);
/* Looks for groups and their tasks again; a known group goes on. 0, or -ENOMEM and no groups. */
int resctrl_scan(struct resctrl *resctrl);
/* Reads all counters. Returns true if a group other than the default one has tasks. */
bool resctrl_read(struct resctrl *resctrl);
/* The known traffic; valid until the next call of the above. */
struct resctrl_reading resctrl_get(const struct resctrl *resctrl);

/* Pure: bytes in the text of a counter. 0, or -ENODATA: Unavailable or similar. */
int resctrl_parse_bytes(const char *text, size_t len, uint64_t *ret);
/* Pure: writes the first @max numbers of a list of tasks, one a line; how many. */
size_t resctrl_parse_tasks(const char *text, uint32_t *ret_pids, size_t max);

/* SPDX-License-Identifier: Apache-2.0 */
/* A /proc of a test's own, below a temporary folder. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* cmocka fixtures: makes the folder, removes it. */
int rig_setup(void **state);
int rig_teardown(void **state);
const char *rig_procfs(void);

/* A process with its stat (start in seconds since boot) and cgroup. */
void rig_process(uint32_t pid, const char *comm, uint64_t start_s, const char *cgroup);
void rig_ppid(uint32_t pid, uint32_t ppid, const char *comm, uint64_t start_s);
/* Its user (root by default), and its executable file. */
void rig_uid(uint32_t pid, uint32_t uid);
void rig_exe(uint32_t pid, const char *path);
/* Words are parted by '|'. */
void rig_cmdline(uint32_t pid, const char *words);
void rig_forget(uint32_t pid);

/* SPDX-License-Identifier: Apache-2.0 */
/* A /proc of a test's own, below a temporary folder. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* cmocka fixtures: makes the folder, removes it. */
int plant_setup(void **state);
int plant_teardown(void **state);
const char *plant_procfs(void);

/* A process with its stat (start in seconds since boot) and cgroup. */
void plant_process(uint32_t pid, const char *comm, uint64_t start_s, const char *cgroup);
void plant_ppid(uint32_t pid, uint32_t ppid, const char *comm, uint64_t start_s);
/* Whose it is (root, unless told), and what file it runs. */
void plant_uid(uint32_t pid, uint32_t uid);
void plant_exe(uint32_t pid, const char *path);
/* Words are parted by '|'. */
void plant_cmdline(uint32_t pid, const char *words);
void plant_forget(uint32_t pid);

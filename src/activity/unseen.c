// SPDX-License-Identifier: Apache-2.0
/*
 * A look marks the pids that passes told of in a set and lists /proc against it. What is left are
 * processes younger than the last full pass, and those that are hidden; start times, which both
 * sides have from the kernel, tell one from the other. The set is a bit for each pid that there may
 * be; only pages of it that are used become resident, for as long as the look takes.
 *
 * Whether procfs counts pids as BPF does is seen from our own: it must be in the passes under the
 * pid and the start that procfs says.
 */
#include "activity/unseen.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "activity/proc_stat.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"

#define PID_LIMIT   4194304U /* PID_MAX_LIMIT of 64-bit kernels */
#define START_TICKS 2        /* start times of /proc are cut to ticks */

struct unseen_process {
	uint32_t pid;
	uint64_t start_ns;
	uint64_t run_ns; /* of its threads, when it was last looked at */
};

struct unseen {
	int dirfd; /* of procfs */
	uint64_t tick_ns;
	struct unseen_process processes[UNSEEN_MAX];
	uint32_t count;
	uint64_t cpu_ns;
};

/* Who the passes told of. */
struct told {
	uint8_t *pids; /* a bit each */
	uint32_t own_pid;
	uint64_t own_start_ns, tick_ns;
	bool has_own;
};

int unseen_open(const char *procfs, struct unseen **ret)
{
	CLEANUP_FREE struct unseen *unseen = calloc(1, sizeof(*unseen));
	long ticks_per_s = sysconf(_SC_CLK_TCK);

	if (!unseen)
		return -ENOMEM;
	unseen->tick_ns = NSEC_PER_SEC / (ticks_per_s > 0 ? (uint64_t)ticks_per_s : 100);
	unseen->dirfd = open(procfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (unseen->dirfd < 0)
		return -errno;
	*ret = TAKE_PTR(unseen);
	return 0;
}

void unseen_close(struct unseen *unseen)
{
	if (!unseen)
		return;
	(void)close(unseen->dirfd);
	free(unseen);
}

static int read_start(const struct unseen *unseen, const char *process, uint32_t *ret_pid,
		      uint64_t *ret_start_ns)
{
	struct proc_stat stat;
	char path[32], text[1024];
	ssize_t n;
	int r;

	(void)snprintf(path, sizeof(path), "%.20s/stat", process);
	n = read_file_at(unseen->dirfd, path, text, sizeof(text));
	if (n < 0)
		return (int)n;
	r = proc_stat_parse(text, (size_t)n, &stat);
	if (r < 0)
		return r;
	*ret_pid = stat.pid;
	*ret_start_ns = stat.start_ticks * unseen->tick_ns;
	return 0;
}

static void mark(void *userdata, const struct process_key *key)
{
	struct told *told = userdata;

	if (key->pid >= PID_LIMIT)
		return;
	told->pids[key->pid / 8] |= (uint8_t)(1U << key->pid % 8);
	if (key->pid == told->own_pid && key->start_ns >= told->own_start_ns &&
	    key->start_ns - told->own_start_ns < START_TICKS * told->tick_ns)
		told->has_own = true;
}

static bool is_told(const struct told *told, uint32_t pid)
{
	return pid >= PID_LIMIT || told->pids[pid / 8] >> pid % 8 & 1;
}

/* Run time of the threads that it has now. */
static uint64_t read_run_ns(const struct unseen *unseen, uint32_t pid)
{
	char path[64], text[128];
	uint64_t sum_ns = 0, run_ns;
	struct dirent *entry;
	DIR *dir;
	int fd;

	(void)snprintf(path, sizeof(path), "%u/task", pid);
	fd = openat(unseen->dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			(void)close(fd);
		return 0;
	}
	while ((entry = readdir(dir))) {
		(void)snprintf(path, sizeof(path), "%.20s/schedstat", entry->d_name);
		if (entry->d_name[0] != '.' &&
		    read_file_at(dirfd(dir), path, text, sizeof(text)) > 0 &&
		    parse_u64(text, strcspn(text, " "), &run_ns) == 0)
			sum_ns += run_ns;
	}
	(void)closedir(dir);
	return sum_ns;
}

static const struct unseen_process *find(const struct unseen_process *processes, uint32_t count,
					 const struct unseen_process *wanted)
{
	for (uint32_t i = 0; i < count; i++) {
		if (processes[i].pid == wanted->pid && processes[i].start_ns == wanted->start_ns)
			return &processes[i];
	}
	return NULL;
}

/* Lists /proc; returns how many are in @found. */
static uint32_t list_unseen(const struct unseen *unseen, const struct told *told,
			    uint64_t full_boottime_ns, struct unseen_process *found)
{
	int fd = openat(unseen->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	uint32_t count = 0;

	if (!dir && fd >= 0)
		(void)close(fd);
	while (dir && count < UNSEEN_MAX && (entry = readdir(dir))) {
		size_t digits = strspn(entry->d_name, "0123456789");
		struct unseen_process process = { 0 };
		uint64_t pid;

		if (digits > 10 || parse_u64(entry->d_name, digits, &pid) < 0 ||
		    entry->d_name[digits] || is_told(told, (uint32_t)pid))
			continue;
		if (read_start(unseen, entry->d_name, &process.pid, &process.start_ns) == 0 &&
		    process.start_ns + START_TICKS * unseen->tick_ns < full_boottime_ns)
			found[count++] = process;
	}
	if (dir)
		(void)closedir(dir);
	return count;
}

void unseen_look(struct unseen *unseen, const struct thread_table *table, uint64_t full_boottime_ns)
{
	CLEANUP_FREE uint8_t *pids = calloc(PID_LIMIT / 8, 1);
	struct unseen_process found[UNSEEN_MAX];
	struct told told = { .pids = pids, .tick_ns = unseen->tick_ns };
	uint32_t count;

	if (!pids || !thread_table_is_complete(table) ||
	    read_start(unseen, "self", &told.own_pid, &told.own_start_ns) < 0)
		return;
	thread_table_visit(table, mark, &told);
	if (!told.has_own)
		return;
	unseen_refresh(unseen);
	count = list_unseen(unseen, &told, full_boottime_ns, found);
	for (uint32_t i = 0; i < count; i++) {
		const struct unseen_process *known =
			find(unseen->processes, unseen->count, &found[i]);

		found[i].run_ns = known ? known->run_ns : read_run_ns(unseen, found[i].pid);
	}
	memcpy(unseen->processes, found, count * sizeof(*found));
	unseen->count = count;
}

static bool is_still_it(const struct unseen *unseen, const struct unseen_process *process)
{
	uint64_t start_ns;
	uint32_t pid;
	char text[16];

	(void)snprintf(text, sizeof(text), "%u", process->pid);
	return read_start(unseen, text, &pid, &start_ns) == 0 && start_ns == process->start_ns;
}

void unseen_refresh(struct unseen *unseen)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < unseen->count; i++) {
		struct unseen_process *process = &unseen->processes[i];
		uint64_t run_ns = read_run_ns(unseen, process->pid);

		if (!is_still_it(unseen, process)) /* asked last: so what was read is its own */
			continue;
		if (run_ns > process->run_ns) /* less when threads have ended */
			unseen->cpu_ns += run_ns - process->run_ns;
		process->run_ns = run_ns;
		unseen->processes[left++] = *process;
	}
	unseen->count = left;
}

uint32_t unseen_count(const struct unseen *unseen)
{
	return unseen ? unseen->count : 0;
}

uint32_t unseen_first_pid(const struct unseen *unseen)
{
	return unseen_count(unseen) ? unseen->processes[0].pid : 0;
}

uint64_t unseen_cpu_ns(const struct unseen *unseen)
{
	return unseen ? unseen->cpu_ns : 0;
}

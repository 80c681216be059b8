// SPDX-License-Identifier: Apache-2.0
/*
 * A search puts the pids that passes reported into a set and compares /proc with it. The others are
 * processes younger than the last full pass, and hidden ones; start times, which both sides have
 * from the kernel, distinguish them. The set has a bit for each possible pid; only its used pages
 * become resident, for the time of the search.
 *
 * This process itself shows whether procfs and BPF count pids alike: it must be in the passes with
 * the pid and the start of procfs. kthreadd shows whether procfs hides processes (hidepid): its
 * stat must be readable.
 */
#include "activity/unseen.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "host/proc.h"

#define PID_LIMIT   4194304U /* PID_MAX_LIMIT of 64-bit kernels */
#define START_TICKS 2        /* start times of /proc are cut to ticks */
#define KTHREADD    "2"      /* only in the initial pid namespace, and owned by root */

struct unseen_process {
	uint32_t pid;
	uint64_t start_ns;
	uint64_t ticks; /* run time of all threads, as reported so far */
	int fd;         /* its stat, never the stat of a later process with its pid */
};

struct unseen {
	int dirfd; /* of procfs */
	uint64_t tick_ns;
	struct unseen_process processes[UNSEEN_MAX];
	uint32_t count;
	uint64_t cpu_ns;
};

/* The pids that the passes reported. */
struct reported_pids {
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
	for (uint32_t i = 0; i < unseen->count; i++)
		(void)close(unseen->processes[i].fd);
	(void)close(unseen->dirfd);
	free(unseen);
}

static int read_stat(int fd, struct proc_stat *ret)
{
	char text[1024];
	ssize_t n = read_piece_fd(fd, text, sizeof(text));

	return n < 0 ? (int)n : proc_stat_parse(text, (size_t)n, ret);
}

static int read_start(const struct unseen *unseen, const char *process, uint32_t *ret_pid,
		      uint64_t *ret_start_ns)
{
	struct proc_stat stat;
	char path[32], text[1024];
	ssize_t n;
	int r;

	(void)snprintf(path, sizeof(path), "%.20s/stat", process);
	n = read_file_nowait_at(unseen->dirfd, path, text, sizeof(text));
	if (n < 0)
		return (int)n;
	r = proc_stat_parse(text, (size_t)n, &stat);
	if (r < 0)
		return r;
	*ret_pid = stat.pid;
	*ret_start_ns = stat.start_ticks * unseen->tick_ns;
	return 0;
}

static void mark(void *userdata, const struct activity_sample *sample)
{
	const struct process_key *key = &sample->key;
	struct reported_pids *reported = userdata;

	if (key->pid >= PID_LIMIT)
		return;
	reported->pids[key->pid / 8] |= (uint8_t)(1U << key->pid % 8);
	if (key->pid == reported->own_pid && key->start_ns >= reported->own_start_ns &&
	    key->start_ns - reported->own_start_ns < START_TICKS * reported->tick_ns)
		reported->has_own = true;
}

static bool is_reported(const struct reported_pids *reported, uint32_t pid)
{
	return pid >= PID_LIMIT || reported->pids[pid / 8] >> pid % 8 & 1;
}

/* Its run time until now does not count. */
static int watch(const struct unseen *unseen, struct unseen_process *process)
{
	struct proc_stat stat;
	char path[32];
	int fd, r;

	(void)snprintf(path, sizeof(path), "%u/stat", process->pid);
	fd = openat(unseen->dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	r = read_stat(fd, &stat);
	if (r < 0) {
		(void)close(fd);
		return r;
	}
	process->ticks = stat.self_ticks;
	process->fd = fd;
	return 0;
}

static struct unseen_process *find(struct unseen_process *processes, uint32_t count,
				   const struct unseen_process *wanted)
{
	for (uint32_t i = 0; i < count; i++) {
		if (processes[i].pid == wanted->pid && processes[i].start_ns == wanted->start_ns)
			return &processes[i];
	}
	return NULL;
}

/* Its start, or -errno; -ENOENT: it is not a process, has ended, or is reported by passes. */
static int examine(const struct unseen *unseen, const struct reported_pids *reported,
		   const char *name, struct unseen_process *ret)
{
	size_t digits = strspn(name, "0123456789");
	uint64_t pid;
	int r;

	if (digits > 10 || parse_u64(name, digits, &pid) < 0 || name[digits] ||
	    is_reported(reported, (uint32_t)pid))
		return -ENOENT;
	r = read_start(unseen, name, &ret->pid, &ret->start_ns);
	return r == -ESRCH ? -ENOENT : r;
}

/* Reads /proc to its end, or until @found is full. 0 or -errno. */
static int read_list(const struct unseen *unseen, const struct reported_pids *reported,
		     uint64_t full_boottime_ns, DIR *dir, struct unseen_process *found,
		     uint32_t *ret_count)
{
	while (*ret_count < UNSEEN_MAX) {
		struct unseen_process process = { 0 };
		const struct dirent *entry;
		int r;

		errno = 0;
		entry = readdir(dir);
		if (!entry)
			return -errno;
		r = examine(unseen, reported, entry->d_name, &process);
		if (r < 0 && r != -ENOENT)
			return r;
		if (r == 0 && process.start_ns + START_TICKS * unseen->tick_ns < full_boottime_ns)
			found[(*ret_count)++] = process;
	}
	return 0;
}

/* Lists /proc. 0, or -errno where it could not be read to its end. */
static int list_unseen(const struct unseen *unseen, const struct reported_pids *reported,
		       uint64_t full_boottime_ns, struct unseen_process *found, uint32_t *ret_count)
{
	int fd = openat(unseen->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	int r = -errno;

	*ret_count = 0;
	if (!dir) {
		if (fd >= 0)
			(void)close(fd);
		return r;
	}
	r = read_list(unseen, reported, full_boottime_ns, dir, found, ret_count);
	(void)closedir(dir);
	return r;
}

/* Keeps those of @found that are known, begins to watch the others, and forgets the rest. */
static void keep(struct unseen *unseen, struct unseen_process *found, uint32_t count)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct unseen_process *known = find(unseen->processes, unseen->count, &found[i]);

		if (!known && watch(unseen, &found[i]) < 0)
			continue;
		if (known) {
			found[i] = *known;
			known->fd = -1;
		}
		found[left++] = found[i];
	}
	for (uint32_t i = 0; i < unseen->count; i++) {
		if (unseen->processes[i].fd >= 0)
			(void)close(unseen->processes[i].fd);
	}
	memcpy(unseen->processes, found, left * sizeof(*found));
	unseen->count = left;
}

/* The pids that the passes reported; -errno if this procfs cannot be compared with them. */
static int take_reported(const struct unseen *unseen, const struct thread_table *table,
			 struct reported_pids *reported)
{
	uint32_t kthreadd;
	uint64_t start_ns;
	int r;

	if (!thread_table_is_complete(table))
		return -EAGAIN;
	r = read_start(unseen, "self", &reported->own_pid, &reported->own_start_ns);
	if (r < 0)
		return r;
	thread_table_visit(table, mark, reported);
	if (!reported->has_own)
		return -EXDEV;
	r = read_start(unseen, KTHREADD, &kthreadd, &start_ns);
	return r == -ENOENT || r == -EPERM ? -EACCES : r;
}

int unseen_look(struct unseen *unseen, const struct thread_table *table, uint64_t full_boottime_ns)
{
	CLEANUP_FREE uint8_t *pids = calloc(PID_LIMIT / 8, 1);
	struct unseen_process found[UNSEEN_MAX];
	struct reported_pids reported = { .pids = pids, .tick_ns = unseen->tick_ns };
	uint32_t count;
	int r;

	if (!pids)
		return -ENOMEM;
	r = take_reported(unseen, table, &reported);
	if (r < 0)
		return r;
	r = list_unseen(unseen, &reported, full_boottime_ns, found, &count);
	if (r < 0)
		return r;
	keep(unseen, found, count);
	return (int)count;
}

/* Its sample, or false where it has not run. */
static bool sample_one(struct unseen *unseen, struct unseen_process *process,
		       const struct proc_stat *stat, struct activity_sample *ret)
{
	/* The kernel's scaling may take a tick back. */
	if (stat->self_ticks <= process->ticks)
		return false;
	*ret = (struct activity_sample){
		.key = { process->pid, process->start_ns },
		.cpu_ns = (stat->self_ticks - process->ticks) * unseen->tick_ns,
		.cpu = stat->threads <= 1 ? stat->cpu : UINT32_MAX, /* it is the leader's */
		.flags = stat->flags & PROC_STAT_KTHREAD ? ACTIVITY_KTHREAD : 0,
	};
	memcpy(ret->comm, stat->comm, COMM_MAX);
	process->ticks = stat->self_ticks;
	unseen->cpu_ns += ret->cpu_ns;
	return true;
}

size_t unseen_take(struct unseen *unseen, struct activity_sample samples[UNSEEN_MAX])
{
	uint32_t left = 0;
	size_t taken = 0;

	for (uint32_t i = 0; i < unseen->count; i++) {
		struct unseen_process *process = &unseen->processes[i];
		struct proc_stat stat;

		if (read_stat(process->fd, &stat) < 0 ||
		    stat.start_ticks * unseen->tick_ns != process->start_ns) {
			(void)close(process->fd);
			samples[taken++] = (struct activity_sample){
				.key = { process->pid, process->start_ns },
				.flags = ACTIVITY_ENDED,
			};
			continue;
		}
		taken += sample_one(unseen, process, &stat, &samples[taken]);
		unseen->processes[left++] = *process;
	}
	unseen->count = left;
	return taken;
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

// SPDX-License-Identifier: Apache-2.0
/*
 * The cost of finding the owner of a process. New cgroups are made below a real hierarchy, which
 * needs root; they are removed again. Times are of the calling thread's CPU.
 *
 *     bench-identity [CGROUPS [PROCESSES]]        1000 20000
 */
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "host/proc.h"
#include "workload/cgroup/hierarchy.h"
#include "workload/identity.h"
#include "workload/name_directory.h"

#define ROUNDS 100

struct bench {
	struct hierarchy hierarchy;
	struct identity_resolver *resolver;
	uint64_t *cgroup_ids;
	uint32_t cgroups, processes;
};

static uint64_t cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void path_of(const struct bench *b, uint32_t i, char *buf, size_t size)
{
	(void)snprintf(buf, size,
		       "%s/kepler-bench-kubepods/pod%08x-0000-4000-8000-000000000000/%064x",
		       b->hierarchy.root, i, i);
}

static int make_cgroups(struct bench *b)
{
	char path[600], above[600];
	struct stat st;

	(void)snprintf(above, sizeof(above), "%s/kepler-bench-kubepods", b->hierarchy.root);
	(void)mkdir(above, 0755);
	for (uint32_t i = 0; i < b->cgroups; i++) {
		path_of(b, i, path, sizeof(path));
		(void)snprintf(above, sizeof(above), "%.*s", (int)(strlen(path) - 65), path);
		(void)mkdir(above, 0755);
		if (mkdir(path, 0755) < 0 || stat(path, &st) < 0)
			return -1;
		b->cgroup_ids[i] = st.st_ino;
	}
	return 0;
}

static void remove_cgroups(const struct bench *b)
{
	char path[600];

	for (uint32_t i = 0; i < b->cgroups; i++) {
		path_of(b, i, path, sizeof(path));
		(void)rmdir(path);
		path[strlen(path) - 65] = '\0';
		(void)rmdir(path);
	}
	(void)snprintf(path, sizeof(path), "%s/kepler-bench-kubepods", b->hierarchy.root);
	(void)rmdir(path);
}

/* One interval: every process ran. */
static uint64_t interval(struct bench *b, uint32_t processes, uint64_t now_ns)
{
	uint64_t before = cpu_ns();

	identity_resolver_begin(b->resolver, now_ns);
	for (uint32_t i = 0; i < processes; i++) {
		const struct process_ref process = { 1000000 + i, 1, b->cgroup_ids[i % b->cgroups],
						     "worker", false };

		identity_resolver_announce(b->resolver, &process);
		(void)identity_resolve(b->resolver, &process);
	}
	return cpu_ns() - before;
}

/* Our own /proc/PID, each time as another, by a start a little later; the thread's work counts. */
static void measure_by_process(struct bench *b)
{
	struct process_ref process = { .pid = (uint32_t)getpid(), .comm = "a" };
	int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct proc_stat self;
	uint64_t before, start_ns;

	if (proc_read_stat(proc_fd, process.pid, &self) == 0) {
		start_ns = proc_start_ns(&self);
		before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		for (unsigned i = 0; i < 2000; i++) {
			process.start_ns = start_ns + i;
			identity_resolver_announce(b->resolver, &process);
		}
		(void)identity_resolver_await(b->resolver);
		for (unsigned i = 0; i < 2000; i++) {
			process.start_ns = start_ns + i;
			(void)identity_resolve(b->resolver, &process);
		}
		printf("new process, by /proc: %.2f us\n",
		       (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before) / 2000 / 1e3);
	}
	(void)close(proc_fd);
}

static void measure(struct bench *b)
{
	size_t used = mallinfo2().uordblks;
	uint64_t now_ns = clock_ns(CLOCK_BOOTTIME), best = UINT64_MAX;
	uint64_t fresh = interval(b, b->cgroups, now_ns);

	printf("new cgroup: %.2f us\n", (double)fresh / b->cgroups / 1e3);
	printf("memory: %zu bytes a cgroup\n", (mallinfo2().uordblks - used) / b->cgroups);
	for (uint64_t round = 1; round < ROUNDS; round++) {
		uint64_t ns = interval(b, b->processes, now_ns + round * NSEC_PER_SEC);

		best = ns < best ? ns : best;
	}
	printf("known cgroup, %u processes: %.0f ns a process, %.2f ms an interval\n", b->processes,
	       (double)best / b->processes, (double)best / 1e6);
	measure_by_process(b);
}

int main(int argc, char **argv)
{
	struct bench b = { .cgroups = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000,
			   .processes = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 20000 };
	struct identity_options options = { .procfs = "/proc", .cgroupfs = "/sys/fs/cgroup" };
	int r = 1;

	b.cgroup_ids = calloc(b.cgroups, sizeof(uint64_t));
	hierarchy_open(options.cgroupfs, &b.hierarchy);
	if (!b.cgroup_ids || b.hierarchy.fd < 0 ||
	    directory_new(b.cgroups + 1, &options.directory) < 0 ||
	    identity_resolver_open(&options, &b.resolver) < 0)
		return 1;
	if (make_cgroups(&b) == 0) {
		measure(&b);
		r = 0;
	}
	remove_cgroups(&b);
	identity_resolver_close(b.resolver);
	directory_free(options.directory);
	hierarchy_release(&b.hierarchy);
	free(b.cgroup_ids);
	return r;
}

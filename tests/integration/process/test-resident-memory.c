// SPDX-License-Identifier: Apache-2.0
/*
 * Memory that a cgroup holds, on this machine's cgroups; the truth is the size that a child has
 * filled.
 */
#include "workload/resident_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/num.h"
#include "tests/rig/activity_rig.h"
#include "workload/cgroup/hierarchy.h"

#define FILLED   (32 << 20)
#define SLACK    (4 << 20) /* the child's own, and what the kernel counts per CPU */
#define EVERY_NS (10 * NSEC_PER_SEC)

static struct hierarchy hierarchy;
static char ids_path[512], memory_path[512];
static uint64_t cgroup_id;
static struct resident_memory *memory;
static int go_on[2], done[2];

static void enter(const char *path)
{
	char file[600];
	int fd;

	(void)snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	fd = open(file, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		_exit(1);
	(void)close(fd);
}

static void fill(void *arg)
{
	char byte, *bytes;

	(void)arg;
	enter(ids_path);
	enter(memory_path);
	bytes = malloc(FILLED);
	if (!bytes)
		_exit(1);
	memset(bytes, 'x', FILLED);
	__asm__ volatile("" : : "r"(bytes) : "memory");
	if (write(done[1], "x", 1) != 1 || read(go_on[0], &byte, 1) != 1)
		_exit(1);
	free(bytes);
}

/* The bytes of the cgroup: -1 none, -2 it is not followed. */
static int64_t bytes_at(uint64_t now_ns)
{
	const struct resident_cgroup *list;
	size_t count;

	resident_memory_refresh(memory, now_ns);
	list = resident_memory_list(memory, &count);
	for (size_t i = 0; i < count; i++)
		if (list[i].cgroup_id == cgroup_id)
			return list[i].bytes;
	return -2;
}

/* This machine's first node stands for the node of the second socket. */
static void tell_nodes(void)
{
	struct numa_nodes nodes = { .count = 1 };

	memset(nodes.place, UINT8_MAX, sizeof(nodes.place));
	nodes.place[0] = 1;
	resident_memory_tell_nodes(memory, &nodes);
}

/* Returns true if the kernel reports on which nodes memory lies. */
static bool has_numa_stat(void)
{
	char file[600];

	(void)snprintf(file, sizeof(file), "%s/memory.numa_stat", memory_path);
	return access(file, R_OK) == 0;
}

/* All that is held, and nothing elsewhere, if the machine has one node. */
static void check_places(int64_t bytes)
{
	const struct resident_cgroup *list;
	const uint64_t *places;
	size_t count;

	list = resident_memory_list(memory, &count);
	assert_int_equal(count, 1);
	assert_int_equal(list[0].is_placed, has_numa_stat());
	if (!list[0].is_placed)
		return;
	places = resident_memory_places(memory, 0);
	assert_int_equal(places[0], 0);
	if (access("/sys/devices/system/node/node1", F_OK) == 0)
		assert_in_range(places[1], 0, bytes);
	else
		assert_int_equal(places[1], bytes);
}

static void test_what_is_held(void **state)
{
	uint64_t now_ns = EVERY_NS;
	int64_t bytes;
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(resident_memory_open("/sys/fs/cgroup", EVERY_NS, &memory), 0);
	assert_int_equal(bytes_at(now_ns), -2);
	tell_nodes();
	resident_memory_follow(memory, cgroup_id);
	resident_memory_follow(memory, cgroup_id);
	assert_int_equal(pipe(go_on), 0);
	assert_int_equal(pipe(done), 0);
	pid = rig_fork("filler", fill, NULL);
	assert_int_equal(read(done[0], &byte, 1), 1);
	bytes = bytes_at(now_ns);
	print_message("# %lld of %d bytes\n", (long long)bytes, FILLED);
	assert_in_range(bytes, FILLED - SLACK, FILLED + 2 * SLACK);
	check_places(bytes);
	assert_int_equal(write(go_on[1], "x", 1), 1);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	/* The value is kept for its time. */
	assert_int_equal(bytes_at(now_ns + EVERY_NS - 1), bytes);
	assert_in_range(bytes_at(now_ns + EVERY_NS), 0, 2 * SLACK);
	/* A cgroup that is gone is followed no more. */
	(void)rmdir(ids_path);
	(void)rmdir(memory_path);
	assert_int_equal(bytes_at(now_ns + 2 * EVERY_NS), -2);
	resident_memory_close(memory);
}

static bool make_groups(void)
{
	struct stat st;
	bool is_v1 = hierarchy.controller[0];

	(void)snprintf(ids_path, sizeof(ids_path), "%s/kepler-test-resident", hierarchy.root);
	(void)snprintf(memory_path, sizeof(memory_path), "%s/kepler-test-resident",
		       is_v1 ? "/sys/fs/cgroup/memory" : hierarchy.root);
	if ((mkdir(ids_path, 0755) < 0 && errno != EEXIST) ||
	    (mkdir(memory_path, 0755) < 0 && errno != EEXIST) || stat(ids_path, &st) < 0)
		return false;
	cgroup_id = st.st_ino;
	(void)snprintf(memory_path + strlen(memory_path), 32, "/%s",
		       is_v1 ? "memory.stat" : "memory.current");
	if (access(memory_path, R_OK) < 0)
		return false;
	*strrchr(memory_path, '/') = '\0';
	return true;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_what_is_held) };
	int r;

	hierarchy_open("/sys/fs/cgroup", &hierarchy);
	if (hierarchy.fd < 0 || !make_groups()) {
		printf("SKIP: no cgroup with a memory controller can be made here\n");
		(void)rmdir(ids_path);
		hierarchy_release(&hierarchy);
		return 77;
	}
	r = cmocka_run_group_tests(tests, NULL, NULL);
	(void)rmdir(ids_path);
	(void)rmdir(memory_path);
	hierarchy_release(&hierarchy);
	return r;
}

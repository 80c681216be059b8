// SPDX-License-Identifier: Apache-2.0
/*
 * The BPF program and the search of /proc find the same open devices on this kernel. Terminals
 * stand for GPUs, which differ in their major number only.
 */
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "activity/open_device_finder.h"
#include "base/macro.h"

#define TERMINALS   136
#define PROCESSES   20
#define DESCRIPTORS 40 /* of each: more than one read of the iterator has */
#define LIST_MAX    8192

static const uint32_t majors[] = { TERMINALS };

static struct open_device by_bpf[LIST_MAX], by_proc[LIST_MAX];
static pid_t children[PROCESSES];
static int master = -1;

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct open_device));
}

/* Those of our children, in order: others on this machine come and go. */
static size_t ours(struct open_device *list, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		for (size_t child = 0; child < PROCESSES; child++) {
			if (list[i].pid == (uint32_t)children[child])
				list[kept++] = list[i];
		}
	}
	qsort(list, kept, sizeof(list[0]), compare);
	return kept;
}

static int setup(void **state)
{
	int slave;

	(void)state;
	if (openpty(&master, &slave, NULL, NULL, NULL) < 0)
		return -1;
	for (int i = 0; i < DESCRIPTORS - 1; i++)
		(void)!dup(slave);
	for (size_t i = 0; i < PROCESSES; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			for (;;)
				(void)pause();
		}
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (size_t i = 0; i < PROCESSES; i++) {
		(void)kill(children[i], SIGKILL);
		(void)waitpid(children[i], NULL, 0);
	}
	return close(master);
}

static void both_find_the_same(void **state)
{
	struct open_device_finder *finder = NULL;
	struct open_devices bpf, proc;
	CLEANUP_FD int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t count;

	(void)state;
	assert_int_equal(open_device_finder_open(majors, 1, &finder), 0);
	assert_int_equal(open_device_finder_search(finder, by_bpf, LIST_MAX, &bpf), 0);
	assert_int_equal(open_devices_search(proc_fd, majors, 1, by_proc, LIST_MAX, &proc), 0);
	print_message("# %zu by BPF in %.2f ms, %zu in /proc in %.2f ms\n", bpf.count,
		      (double)bpf.cpu_ns / 1e6, proc.count, (double)proc.cpu_ns / 1e6);
	count = ours(by_bpf, bpf.count);
	assert_int_equal(count, (size_t)PROCESSES * DESCRIPTORS);
	assert_int_equal(ours(by_proc, proc.count), count);
	assert_memory_equal(by_bpf, by_proc, count * sizeof(by_bpf[0]));
	/* A list that is full, and another search with the same program. */
	assert_int_equal(open_device_finder_search(finder, by_bpf, 100, &bpf), 0);
	assert_int_equal(bpf.count, 100);
	assert_true(bpf.beyond >= count - 100);
	open_device_finder_close(finder);
}

/* No process has a device of this number open. */
static void devices_of_other_kinds_are_left_out(void **state)
{
	static const uint32_t none[] = { 4000 };
	struct open_device_finder *finder = NULL;
	struct open_devices found;

	(void)state;
	assert_int_equal(open_device_finder_open(none, 1, &finder), 0);
	assert_int_equal(open_device_finder_search(finder, by_bpf, LIST_MAX, &found), 0);
	assert_int_equal(found.count, 0);
	open_device_finder_close(finder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(both_find_the_same, setup, teardown),
		cmocka_unit_test(devices_of_other_kinds_are_left_out),
	};
	struct open_device_finder *finder = NULL;
	int r = open_device_finder_open(majors, 1, &finder);

	if (r < 0) {
		(void)printf("no BPF: %s\n", strerrordesc_np(-r));
		return 77;
	}
	open_device_finder_close(finder);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

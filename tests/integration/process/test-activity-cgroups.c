// SPDX-License-Identifier: Apache-2.0
/* Cgroups that come and go between two passes are known, with a process that ran in them. */
#include "tests/rig/activity_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cmocka.h>

#include "workload/cgroup/hierarchy.h"

struct made {
	uint64_t cgroup_id;
	char path[512];
	unsigned int told;
};

static struct hierarchy hierarchy;

static void take(void *userdata, uint64_t cgroup_id, const char *path)
{
	struct made *made = userdata;

	if (cgroup_id == made->cgroup_id) {
		made->told++;
		assert_string_equal(path, made->path + strlen(hierarchy.root));
	}
}

static bool make(struct made *made, unsigned int number)
{
	struct stat st;

	*made = (struct made){ 0 };
	(void)snprintf(made->path, sizeof(made->path), "%s/kepler-test-%d-%u", hierarchy.root,
		       getpid(), number);
	if (mkdir(made->path, 0755) < 0)
		return false;
	if (stat(made->path, &st) == 0)
		made->cgroup_id = st.st_ino;
	return true;
}

static struct activity_reader *open_reader(void)
{
	const struct activity_options options = { .allow_bpf = true,
						  .allow_walk = true,
						  .cgroup_controller = hierarchy.controller };

	return rig_open(&options);
}

static void test_gone_at_once(void **state)
{
	struct activity_reader *reader = open_reader();
	struct made made;

	(void)state;
	assert_true(make(&made, 1));
	assert_int_equal(rmdir(made.path), 0);
	activity_visit_new_cgroups(reader, take, &made);
	assert_int_equal(made.told, 1);
	activity_visit_new_cgroups(reader, take, &made);
	assert_int_equal(made.told, 1);
	activity_close(reader);
}

static void enter_and_burn(void *arg)
{
	const struct made *made = arg;
	char path[600];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/cgroup.procs", made->path);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		_exit(1);
	(void)close(fd);
	rig_burn_ms(5);
}

/* Threads that end in it have the id that was reported. */
static void test_work_of_removed_cgroups_is_counted(void **state)
{
	struct activity_reader *reader = open_reader();
	struct activity activity;
	struct made made;
	unsigned int seen = 0;

	(void)state;
	assert_true(make(&made, 2));
	(void)rig_wait(rig_fork("in-cgroup", enter_and_burn, &made));
	for (int i = 0; i < 50 && rmdir(made.path) < 0; i++)
		rig_sleep_ms(10);
	for (int pass = 0; pass < 20 && !seen; pass++) {
		activity_visit_new_cgroups(reader, take, &made);
		assert_int_equal(activity_read(reader, &activity), 0);
		for (size_t i = 0; i < activity.count; i++)
			seen += strcmp(activity.samples[i].comm, "in-cgroup") == 0 &&
				activity.samples[i].cgroup_id == made.cgroup_id;
		rig_sleep_ms(20);
	}
	assert_int_equal(made.told, 1);
	assert_true(seen > 0);
	activity_close(reader);
}

static void test_more_than_fit_are_counted(void **state)
{
	struct activity_reader *reader = open_reader();
	struct activity_info info;
	struct made made;

	(void)state;
	for (unsigned int i = 0; i < 600; i++) {
		assert_true(make(&made, i));
		assert_int_equal(rmdir(made.path), 0);
	}
	made.cgroup_id = 0;
	activity_visit_new_cgroups(reader, take, &made);
	activity_get_info(reader, &info);
	assert_true(info.cgroups_missed > 0);
	assert_true(make(&made, 1));
	assert_int_equal(rmdir(made.path), 0);
	activity_visit_new_cgroups(reader, take, &made);
	assert_int_equal(made.told, 1);
	activity_close(reader);
}

static void burn_for_long(void *arg)
{
	(void)arg;
	for (;;)
		rig_burn_ms(5);
}

/* Its id and its set of cgroups in the next sample of it. */
static struct activity_sample next_sample(struct activity_reader *reader, pid_t pid)
{
	struct activity activity;

	for (int pass = 0; pass < 400; pass++) {
		assert_int_equal(activity_read(reader, &activity), 0);
		for (size_t i = 0; i < activity.count; i++)
			if (activity.samples[i].key.pid == (uint32_t)pid)
				return activity.samples[i];
		rig_sleep_ms(20);
	}
	fail_msg("no sample of process %d", pid);
	return (struct activity_sample){ 0 };
}

#define OTHER_GROUP "/sys/fs/cgroup/freezer/kepler-test-move"

static int open_other_group(void)
{
	struct statfs fs;

	if (strcmp(hierarchy.controller, "freezer") == 0 ||
	    statfs("/sys/fs/cgroup/freezer", &fs) < 0 || fs.f_type != CGROUP_SUPER_MAGIC)
		return -1;
	if (mkdir(OTHER_GROUP, 0755) < 0 && errno != EEXIST)
		return -1;
	return open(OTHER_GROUP "/cgroup.procs", O_WRONLY | O_CLOEXEC);
}

/* v1 and hybrid: the hierarchy of the ids does not know of the move, the set of cgroups does. */
static void test_a_move_in_another_hierarchy_shows(void **state)
{
	int other_fd = open_other_group();
	struct activity_reader *reader;
	struct activity_sample before, stayed, moved;
	pid_t pid;

	(void)state;
	if (other_fd < 0) {
		print_message("# not possible here: no other hierarchy that can be written\n");
		return;
	}
	reader = open_reader();
	pid = rig_fork("mover", burn_for_long, NULL);
	before = next_sample(reader, pid);
	stayed = next_sample(reader, pid);
	assert_true(dprintf(other_fd, "%d", pid) > 0);
	moved = next_sample(reader, pid);
	assert_int_equal(kill(pid, SIGKILL), 0);
	(void)rig_wait(pid);
	(void)close(other_fd);
	for (int i = 0; i < 100 && rmdir(OTHER_GROUP) < 0; i++)
		rig_sleep_ms(10);
	activity_close(reader);
	assert_int_equal(stayed.cgroup_set, before.cgroup_set);
	assert_int_equal(moved.cgroup_id, before.cgroup_id);
	assert_int_not_equal(moved.cgroup_set, before.cgroup_set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gone_at_once),
		cmocka_unit_test(test_work_of_removed_cgroups_is_counted),
		cmocka_unit_test(test_more_than_fit_are_counted),
		cmocka_unit_test(test_a_move_in_another_hierarchy_shows),
	};

	struct made probe;
	int r;

	rig_calibrate();
	hierarchy_open("/sys/fs/cgroup", &hierarchy);
	if (hierarchy.fd < 0 || !make(&probe, 0)) {
		printf("SKIP: no cgroup can be made here\n");
		hierarchy_release(&hierarchy);
		return 77;
	}
	(void)rmdir(probe.path);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	hierarchy_release(&hierarchy);
	return r;
}

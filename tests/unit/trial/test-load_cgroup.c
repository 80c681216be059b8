// SPDX-License-Identifier: Apache-2.0
#include "trial/load_cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define OURS "system.slice/" LOAD_CGROUP

static char folder[64];

static const char *at(const char *name)
{
	static char path[2][256];
	static size_t turn;
	char *buf = path[turn++ % 2];

	(void)snprintf(buf, sizeof(path[0]), "%s/%s", folder, name);
	return buf;
}

static int make_folder(void **state)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/kepler-cgroup-XXXXXX");
	assert_non_null(mkdtemp(folder));
	FILE *mounts = fopen(at("mounts"), "we");
	assert_non_null(mounts);
	(void)fprintf(mounts, "tmpfs /tmp tmpfs rw 0 0\ncgroup2 %s cgroup2 rw 0 0\n", folder);
	assert_int_equal(fclose(mounts), 0);
	return 0;
}

static int remove_folder(void **state)
{
	(void)unlink(at(OURS "/cgroup.procs"));
	(void)rmdir(at(OURS));
	(void)rmdir(at("system.slice"));
	(void)unlink(at("mounts"));
	return rmdir(folder);
}

static void one_that_takes_no_process_is_not_used(void **state)
{
	struct load_cgroup cgroup;

	assert_int_equal(load_cgroup_make(at("mounts"), &cgroup), 0);
	assert_int_equal(cgroup.count, 0);
	assert_int_not_equal(access(at("system.slice"), F_OK), 0);
}

static void one_that_takes_processes_is(void **state)
{
	struct load_cgroup cgroup;

	struct load_cgroup other;

	assert_int_equal(mkdir(at("system.slice"), 0755), 0);
	assert_int_equal(mkdir(at(OURS), 0755), 0);
	int fd = open(at(OURS "/cgroup.procs"), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	assert_int_equal(load_cgroup_make(at("mounts"), &cgroup), 0);
	assert_int_equal(cgroup.count, 1);
	/* While one has it, another does not get it. */
	assert_int_equal(load_cgroup_make(at("mounts"), &other), -EBUSY);
	assert_int_equal(other.count, 0);
	assert_string_equal(cgroup.paths[0], at(OURS));
	assert_false(cgroup.parent_is_ours[0]);
	load_cgroup_remove(&cgroup);
	assert_int_equal(access(at("system.slice"), F_OK), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_that_takes_no_process_is_not_used, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(one_that_takes_processes_is, make_folder,
						remove_folder),
	};
	return unit_run(tests);
}

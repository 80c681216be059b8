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

	assert_int_equal(load_cgroup_make(at("mounts"), LOAD_CGROUP_SERVICE, &cgroup), 0);
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
	assert_int_equal(load_cgroup_make(at("mounts"), LOAD_CGROUP_SERVICE, &cgroup), 0);
	assert_int_equal(cgroup.count, 1);
	/* While one has it, another does not get it. */
	assert_int_equal(load_cgroup_make(at("mounts"), LOAD_CGROUP_SERVICE, &other), -EBUSY);
	assert_int_equal(other.count, 0);
	assert_string_equal(cgroup.paths[0], at(OURS));
	assert_string_equal(cgroup.container, LOAD_CGROUP);
	assert_string_equal(cgroup.pod, "");
	load_cgroup_remove(&cgroup);
	assert_int_equal(access(at("system.slice"), F_OK), 0);
}

/*
 * A cgroup that takes no process is removed again, as far as it was made; names are never the same.
 */
static void a_pod_has_new_names(void **state)
{
	struct load_cgroup one, other;

	assert_int_equal(load_cgroup_make(at("mounts"), LOAD_CGROUP_POD, &one), 0);
	assert_int_equal(load_cgroup_make(at("mounts"), LOAD_CGROUP_POD, &other), 0);
	assert_int_equal(one.count, 0);
	assert_int_not_equal(access(at("kepler-validator"), F_OK), 0);
	assert_int_equal(strlen(one.pod), 36);
	assert_int_equal(strlen(one.container), 64);
	assert_string_not_equal(one.pod, other.pod);
	assert_string_not_equal(one.container, other.container);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_that_takes_no_process_is_not_used, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(a_pod_has_new_names, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(one_that_takes_processes_is, make_folder,
						remove_folder),
	};
	return unit_run(tests);
}

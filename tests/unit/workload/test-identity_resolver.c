// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "workload/hierarchy.h"
#include "workload/identity.h"

static char procfs[] = "/tmp/kepler-test-XXXXXX";

static int setup(void **state)
{
	(void)state;
	(void)memcpy(procfs + strlen(procfs) - 6, "XXXXXX", 6);
	return mkdtemp(procfs) ? 0 : -1;
}

static void pid_path(uint32_t pid, const char *name, char *buf, size_t size)
{
	(void)snprintf(buf, size, "%s/%u%s", procfs, pid, name);
}

static void forget_process(uint32_t pid)
{
	char path[128];

	pid_path(pid, "/cgroup", path, sizeof(path));
	(void)unlink(path);
	pid_path(pid, "", path, sizeof(path));
	(void)rmdir(path);
}

static int teardown(void **state)
{
	(void)state;
	for (uint32_t pid = 1; pid < 100; pid++)
		forget_process(pid);
	return rmdir(procfs);
}

static void set_cgroup(uint32_t pid, const char *text)
{
	char path[128];
	int fd;

	pid_path(pid, "", path, sizeof(path));
	(void)mkdir(path, 0755);
	pid_path(pid, "/cgroup", path, sizeof(path));
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(close(fd), 0);
}

/* No cgroup file system there: ids cannot be opened, so paths come from PROCFS. */
static struct identity_resolver *open_resolver(uint32_t max_cgroups)
{
	struct identity_options options = { procfs, "/nonexistent", max_cgroups };
	struct identity_resolver *resolver;

	assert_int_equal(identity_resolver_open(&options, &resolver), 0);
	assert_string_equal(identity_resolver_controller(resolver), "");
	return resolver;
}

static void check(struct identity_resolver *resolver, uint64_t cgroup_id, uint32_t pid,
		  const char *expected)
{
	assert_string_equal(identity_resolve(resolver, cgroup_id, pid, false)->container_id,
			    expected);
}

static void test_known_cgroup_needs_no_process(void **state)
{
	struct identity_resolver *resolver = open_resolver(0);

	(void)state;
	set_cgroup(7, "0::/system.slice/nginx.service\n");
	check(resolver, 1000, 7, "nginx.service");
	forget_process(7);
	check(resolver, 1000, 8, "nginx.service");
	check(resolver, 1001, 8, "system_processes");
	assert_string_equal(identity_resolve(resolver, 1000, 8, true)->container_id,
			    "kernel_processes");
	identity_resolver_close(resolver);
}

static void test_failure_is_not_remembered(void **state)
{
	struct identity_resolver *resolver = open_resolver(0);

	(void)state;
	check(resolver, 5, 7, "system_processes");
	set_cgroup(7, "0::/a.service\n");
	check(resolver, 5, 7, "a.service");
	identity_resolver_close(resolver);
}

static void test_all_of_an_identity_comes_back_from_the_cache(void **state)
{
	struct identity_resolver *resolver = open_resolver(0);
	struct identity first;

	(void)state;
	set_cgroup(7, "0::/user.slice/user-1.slice/user@1.service/x.slice/foo.service\n");
	set_cgroup(8, "0::/user.slice\n");
	first = *identity_resolve(resolver, 5, 7, false);
	assert_memory_equal(identity_resolve(resolver, 5, 7, false), &first, sizeof(first));
	first = *identity_resolve(resolver, 6, 8, false);
	assert_int_equal(first.kind, OWNER_SYSTEM);
	assert_memory_equal(identity_resolve(resolver, 6, 8, false), &first, sizeof(first));
	identity_resolver_close(resolver);
}

static void test_unknown_id_is_resolved_by_process_each_time(void **state)
{
	struct identity_resolver *resolver = open_resolver(0);

	(void)state;
	set_cgroup(7, "0::/a.service\n");
	set_cgroup(8, "0::/b.service\n");
	check(resolver, 0, 7, "a.service");
	check(resolver, 0, 8, "b.service");
	check(resolver, 0, 0, "system_processes");
	identity_resolver_close(resolver);
}

static void test_cache_is_bounded(void **state)
{
	struct identity_resolver *resolver = open_resolver(10);

	(void)state;
	for (uint64_t round = 0; round < 3; round++) {
		for (uint64_t id = 1; id <= 25; id++) {
			char text[64], unit[32];

			(void)snprintf(unit, sizeof(unit), "u%lu.service", id);
			(void)snprintf(text, sizeof(text), "0::/%s\n", unit);
			set_cgroup(7, text);
			check(resolver, id, 7, unit);
		}
	}
	identity_resolver_close(resolver);
	identity_resolver_close(NULL);
}

static void test_text_longer_than_the_buffer(void **state)
{
	struct identity_resolver *resolver = open_resolver(0);
	char *text = malloc(70000);

	(void)state;
	assert_non_null(text);
	(void)snprintf(text, 70000, "1:pids:/a.service\n2:x:/%060000d\n", 0);
	set_cgroup(7, text);
	check(resolver, 9, 7, "a.service");
	free(text);
	identity_resolver_close(resolver);
}

/* On the real hierarchy, where we may: a new cgroup's id leads to its path while it lives. */
static void test_id_of_a_real_cgroup(void **state)
{
	struct hierarchy hierarchy;
	char path[512], found[4352];
	struct stat st;
	int r;

	(void)state;
	hierarchy_open("/sys/fs/cgroup", &hierarchy);
	if (hierarchy.fd < 0) {
		print_message("# no cgroup file system\n");
		skip();
	}
	(void)snprintf(path, sizeof(path), "%s/kepler-test-%d.slice", hierarchy.root, getpid());
	if (mkdir(path, 0755) < 0) {
		print_message("# may not make a cgroup: %s\n", strerror(errno));
		hierarchy_release(&hierarchy);
		skip();
	}
	assert_int_equal(stat(path, &st), 0);
	r = hierarchy_path(&hierarchy, st.st_ino, found, sizeof(found));
	assert_int_equal(rmdir(path), 0);
	if (r != -EPERM) {
		assert_true(r > 0);
		assert_string_equal(found, path + strlen(hierarchy.root));
		assert_true(hierarchy_path(&hierarchy, st.st_ino, found, sizeof(found)) < 0);
		assert_int_equal(fstat(hierarchy.fd, &st), 0);
		assert_int_equal(hierarchy_path(&hierarchy, st.st_ino, found, sizeof(found)), 1);
		assert_string_equal(found, "/");
	}
	hierarchy_release(&hierarchy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define PROC_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		PROC_TEST(test_known_cgroup_needs_no_process),
		PROC_TEST(test_failure_is_not_remembered),
		PROC_TEST(test_all_of_an_identity_comes_back_from_the_cache),
		PROC_TEST(test_unknown_id_is_resolved_by_process_each_time),
		PROC_TEST(test_cache_is_bounded),
		PROC_TEST(test_text_longer_than_the_buffer),
		cmocka_unit_test(test_id_of_a_real_cgroup),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

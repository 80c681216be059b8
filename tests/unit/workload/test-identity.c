// SPDX-License-Identifier: Apache-2.0
#include "workload/identity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"

static void check(const char *path, enum owner_kind kind, const char *id, const char *name)
{
	struct identity identity;

	identity_from_path(path, &identity);
	if (identity.kind != kind || strcmp(identity.container_id, id) != 0 ||
	    strcmp(identity.container_name, name) != 0)
		fail_msg("%s is %d %s %s", path, identity.kind, identity.container_id,
			 identity.container_name);
	assert_string_equal(identity.pod_name, identity.container_name);
	assert_string_equal(identity.container_namespace, "system");
}

static void check_unit(const char *path, const char *unit)
{
	check(path, OWNER_UNIT, unit, unit);
}

static void check_system(const char *path)
{
	check(path, OWNER_SYSTEM, "system_processes", "system_processes");
}

static void test_services_and_scopes(void **state)
{
	(void)state;
	check_unit("/system.slice/nginx.service", "nginx.service");
	check_unit("/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service");
	check_unit("/user.slice/user-1000.slice/session-3.scope", "session-3.scope");
	check_unit("/init.scope", "init.scope");
	check_unit("/system.slice/dev-disk\\x2dby.service", "dev-disk\\x2dby.service");
	check_unit("/../../system.slice/nginx.service", "nginx.service");
	check_unit("/system.slice/nginx.service (deleted)", "nginx.service");
	check_unit("//system.slice///nginx.service//", "nginx.service");
}

/* What a unit has below it is its own: delegated groups, containers with a systemd in them. */
static void test_nested_groups_belong_to_their_unit(void **state)
{
	(void)state;
	check_unit("/system.slice/app.service/worker/3", "app.service");
	check_unit("/system.slice/docker-0123.scope/system.slice/nginx.service",
		   "docker-0123.scope");
	check_unit("/machine.slice/libpod-0123.scope/container", "libpod-0123.scope");
	check_unit("/machine.slice/machine-qemu\\x2d1\\x2dx.scope/libvirt/emulator",
		   "machine-qemu\\x2d1\\x2dx.scope");
	check_unit("/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/"
		   "cri-containerd-0123.scope",
		   "cri-containerd-0123.scope");
}

static void test_users_own_units_are_kept_apart(void **state)
{
	(void)state;
	check("/user.slice/user-1000.slice/user@1000.service/app.slice/foo.service", OWNER_UNIT,
	      "user-1000.slice/foo.service", "foo.service");
	check("/user.slice/user-1001.slice/user@1001.service/app.slice/foo.service", OWNER_UNIT,
	      "user-1001.slice/foo.service", "foo.service");
	check("/user.slice/user-1000.slice/user@1000.service/init.scope", OWNER_UNIT,
	      "user-1000.slice/init.scope", "init.scope");
	check("/user@7.service/app.slice/foo.service", OWNER_UNIT, "user@7.service/foo.service",
	      "foo.service");
	check_unit("/user.slice/user-1000.slice/user@1000.service", "user@1000.service");
	check_unit("/user.slice/user-1000.slice/user@1000.service/app.slice", "user@1000.service");
}

static void test_the_rest_is_the_system(void **state)
{
	static const char *const paths[] = {
		"",
		"/",
		"//",
		"/system.slice",
		"/user.slice/user-1000.slice",
		"/.service",
		"/.scope",
		"/docker/0123456",
		"/kubepods/burstable/pod1/0123",
		"/lxc.payload.x/system.slice/nginx.service",
		"/system.slice/nginx.services",
		"/..",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		check_system(paths[i]);
}

static void test_kernel(void **state)
{
	struct identity identity;

	(void)state;
	identity_kernel(&identity);
	assert_int_equal(identity.kind, OWNER_KERNEL);
	assert_string_equal(identity.container_id, "kernel_processes");
	assert_string_equal(identity.container_namespace, "kernel");
	assert_string_equal(identity.pod_name, "kernel_processes");
}

static void test_long_names_are_cut_and_stay_apart(void **state)
{
	struct identity one, other;
	char *path = malloc(65600);

	(void)state;
	assert_non_null(path);
	(void)snprintf(path, 65600,
		       "/user.slice/user-1.slice/user@1.service/a.slice/%065000d.service", 1);
	identity_from_path(path, &one);
	path[strlen("/user.slice/user-1.slice/user@1.service/a.slice/") + 64000] = '7';
	identity_from_path(path, &other);
	assert_int_equal(strlen(one.container_id), IDENTITY_NAME_MAX - 1);
	assert_int_equal(strlen(one.container_name), IDENTITY_NAME_MAX - 1);
	assert_string_equal(one.container_name, other.container_name);
	assert_string_not_equal(one.container_id, other.container_id);
	free(path);
}

static void test_lengths_around_the_limit(void **state)
{
	(void)state;
	for (int len = 90; len < 140; len++) {
		char path[512];
		struct identity identity, other;

		(void)snprintf(path, sizeof(path), "/a.slice/%0*d.service", len, 0);
		identity_from_path(path, &identity);
		assert_int_equal(strlen(identity.container_id), len + 8 < 128 ? len + 8 : 127);
		(void)snprintf(path, sizeof(path), "/user-%0*d.slice/user@1.service/x.service", len,
			       1);
		identity_from_path(path, &identity);
		assert_string_equal(identity.container_name, "x.service");
		(void)snprintf(path, sizeof(path), "/user-%0*d.slice/user@1.service/x.service", len,
			       2);
		identity_from_path(path, &other);
		assert_string_not_equal(identity.container_id, other.container_id);
	}
}

static void test_hostile_bytes_are_kept_as_they_are(void **state)
{
	struct identity identity;

	(void)state;
	identity_from_path("/system.slice/\xff\xfe\"\n}\\.service", &identity);
	assert_string_equal(identity.container_name, "\xff\xfe\"\n}\\.service");
}

static void test_proc_cgroup_takes_the_most_specific_hierarchy(void **state)
{
	struct identity identity;

	(void)state; /* hybrid: v2 says nothing, the devices controller stops at the slice */
	identity_from_proc_cgroup(
		"12:pids:/user.slice/user-1.slice/user@1.service\n"
		"9:devices:/user.slice\n"
		"1:name=systemd:/user.slice/user-1.slice/user@1.service/a.slice/x.service\n"
		"0::/\n",
		&identity);
	assert_string_equal(identity.container_id, "user-1.slice/x.service");
	identity_from_proc_cgroup("0::/system.slice/ssh.service\n", &identity);
	assert_string_equal(identity.container_id, "ssh.service");
	identity_from_proc_cgroup("0::/system.slice/a:b.service",
				  &identity); /* cut off, colon in a name */
	assert_string_equal(identity.container_id, "a:b.service");
}

static void test_proc_cgroup_without_sense(void **state)
{
	static const char *const texts[] = {
		"", "\n", "0", "0:", "0::", ":::", "0:/x.service\n", "a\nb\n"
	};
	struct identity identity;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		identity_from_proc_cgroup(texts[i], &identity);
		assert_int_equal(identity.kind, OWNER_SYSTEM);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_services_and_scopes),
		cmocka_unit_test(test_nested_groups_belong_to_their_unit),
		cmocka_unit_test(test_users_own_units_are_kept_apart),
		cmocka_unit_test(test_the_rest_is_the_system),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_long_names_are_cut_and_stay_apart),
		cmocka_unit_test(test_lengths_around_the_limit),
		cmocka_unit_test(test_hostile_bytes_are_kept_as_they_are),
		cmocka_unit_test(test_proc_cgroup_takes_the_most_specific_hierarchy),
		cmocka_unit_test(test_proc_cgroup_without_sense),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

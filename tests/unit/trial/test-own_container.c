// SPDX-License-Identifier: Apache-2.0
#include "trial/own_container.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define ID     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER  "ffffffffffffffff0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD    "8f1e4c2a-7d3b-4e5f-a6b7-c8d9e0f1a2b3"
#define POD_SD "8f1e4c2a_7d3b_4e5f_a6b7_c8d9e0f1a2b3"

static char folder[64];

static void write_file(const char *name, const char *text)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/self/%s", folder, name);
	FILE *file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void remove_file(const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	(void)remove(path);
}

static int make_folder(void **state)
{
	char path[128];

	(void)snprintf(folder, sizeof(folder), "/tmp/kepler-own-XXXXXX");
	assert_non_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/self", folder);
	assert_int_equal(mkdir(path, 0755), 0);
	(void)unsetenv("POD_UID");
	(void)unsetenv("POD_NAME");
	(void)unsetenv("POD_NAMESPACE");
	return 0;
}

static int remove_folder(void **state)
{
	remove_file("self/cgroup");
	remove_file("self/mountinfo");
	remove_file("self");
	return rmdir(folder);
}

static void find(const char *cgroup, const char *mounts, struct own_container *ret)
{
	write_file("cgroup", cgroup);
	write_file("mountinfo", mounts);
	own_container_find(folder, ret);
}

static void the_cgroup_names_both(void **state)
{
	struct own_container own;

	find("0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_SD
	     ".slice/cri-containerd-" ID ".scope\n",
	     "", &own);
	assert_string_equal(own.id, ID);
	assert_string_equal(own.pod_uid, POD);
	find("12:cpu,cpuacct:/kubepods/besteffort/pod" POD "/" ID
	     "\n11:memory:/kubepods/besteffort/"
	     "pod" POD "/" ID "\n0::/\n",
	     "", &own);
	assert_string_equal(own.id, ID);
	assert_string_equal(own.pod_uid, POD);
	find("0::/system.slice/docker-" ID ".scope\n", "", &own);
	assert_string_equal(own.id, ID);
	assert_string_equal(own.pod_uid, "");
}

/* A container with a cgroup namespace of its own has only its mounts. */
static void mounts_name_the_pod(void **state)
{
	struct own_container own;

	find("0::/\n",
	     "1 2 8:1 /var/lib/kubelet/pods/" POD "/etc-hosts /etc/hosts rw - ext4 /dev/sda rw\n"
	     "3 2 8:1 /run/overlay-containers/" OTHER "/hostname /etc/hostname rw - tmpfs t rw\n",
	     &own);
	assert_string_equal(own.pod_uid, POD);
	assert_string_equal(own.id, "");
	find("0::/\n",
	     "1 2 8:1 /var/lib/docker/containers/" ID "/hostname /etc/hostname rw - ext4 x rw\n",
	     &own);
	assert_string_equal(own.id, ID);
}

static void a_host_is_not_a_container(void **state)
{
	struct own_container own;

	find("0::/user.slice/user-0.slice/session-1.scope\n",
	     "1 2 0:9 / /var/lib/kubelet/pods/" POD "/volumes/x rw - tmpfs t rw\n"
	     "1 2 8:1 /pods/" POD "/y /mnt rw - ext4 x rw\n",
	     &own);
	assert_string_equal(own.id, "");
	assert_string_equal(own.pod_uid, "");
	assert_string_equal(own.pod_name, "");
}

static void the_manifest_knows_best(void **state)
{
	struct own_container own;

	(void)setenv("POD_UID", POD, 1);
	(void)setenv("POD_NAME", "kepler-validator-x7k2p", 1);
	(void)setenv("POD_NAMESPACE", "kepler", 1);
	find("0::/\n", "", &own);
	assert_string_equal(own.pod_uid, POD);
	assert_string_equal(own.pod_name, "kepler-validator-x7k2p");
	assert_string_equal(own.namespace, "kepler");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_cgroup_names_both, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(mounts_name_the_pod, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(a_host_is_not_a_container, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(the_manifest_knows_best, make_folder,
						remove_folder),
	};
	return unit_run(tests);
}

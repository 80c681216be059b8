// SPDX-License-Identifier: Apache-2.0
/* Over a tree of links as /proc has them. */
#include "host/open_devices.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/rig/in_child.h"
#include "tests/rig/remove_tree.h"
#include "tests/unit/unit.h"

#define NOBODY 65534

static const uint32_t majors[] = { 1, 5 }; /* /dev/null and its like, terminals */

static char root[32];

static int setup(void **state)
{
	(void)snprintf(root, sizeof(root), "/tmp/kepler-test-XXXXXX");
	return mkdtemp(root) ? chmod(root, 0755) : -1;
}

static int teardown(void **state)
{
	return remove_tree(root);
}

static void put_process(unsigned pid)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%u", root, pid);
	assert_int_equal(mkdir(path, 0755), 0);
	(void)snprintf(path, sizeof(path), "%s/%u/fd", root, pid);
	assert_int_equal(mkdir(path, 0755), 0);
}

static void put_link(unsigned pid, const char *fd, const char *target)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%u/fd/%s", root, pid, fd);
	assert_int_equal(symlink(target, path), 0);
}

static void put_plain_file(unsigned pid, const char *fd, const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", root, name);
	assert_int_equal(close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644)), 0);
	put_link(pid, fd, path);
}

static int look(struct open_device *list, size_t max, struct open_devices *ret)
{
	CLEANUP_FD int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return open_devices_search(fd, majors, ARRAY_SIZE(majors), list, max, ret);
}

static bool has(const struct open_device *list, size_t count, struct open_device wanted)
{
	for (size_t i = 0; i < count; i++) {
		if (memcmp(&list[i], &wanted, sizeof(wanted)) == 0)
			return true;
	}
	return false;
}

static void descriptors_of_these_devices_are_found(void **state)
{
	struct open_device list[8];
	struct open_devices found;

	put_process(10);
	put_link(10, "0", "/dev/null");
	put_link(10, "5", "/dev/zero");
	put_process(11);
	put_link(11, "3", "socket:[4711]");
	put_link(11, "4", "/dev/tty");
	put_link(11, "5", "/dev/null (deleted)");
	put_link(11, "6", root);
	put_plain_file(11, "7", "null"); /* not a device, whatever its name */
	put_link(11, "99999999999", "/dev/null");
	put_link(11, "x", "/dev/null");
	assert_int_equal(look(list, 8, &found), 0);
	assert_int_equal(found.count, 3);
	assert_true(has(list, 3, (struct open_device){ 10, 0, 1, 3 }));
	assert_true(has(list, 3, (struct open_device){ 10, 5, 1, 5 }));
	assert_true(has(list, 3, (struct open_device){ 11, 4, 5, 0 }));
	assert_int_equal(found.beyond, 0);
	assert_int_equal(found.hidden, 0);
}

static void more_than_there_is_room_for_are_counted(void **state)
{
	struct open_device list[2];
	struct open_devices found;
	char fd[8];

	put_process(10);
	for (unsigned i = 0; i < 5; i++) {
		(void)snprintf(fd, sizeof(fd), "%u", i);
		put_link(10, fd, "/dev/null");
	}
	assert_int_equal(look(list, 2, &found), 0);
	assert_int_equal(found.count, 2);
	assert_int_equal(found.beyond, 3);
}

static int look_as_nobody(const void *argument)
{
	struct open_device list[2];
	struct open_devices found;

	(void)argument;
	if (setgid(NOBODY) < 0 || setuid(NOBODY) < 0 || look(list, 2, &found) < 0)
		return 1;
	return found.count == 1 && found.hidden == 1 && list[0].pid == 10 ? 0 : 2;
}

/* One process alone cannot fill the list, however often it copies a descriptor. */
static void one_process_leaves_room_for_others(void **state)
{
	static struct open_device list[2 * OPEN_DEVICES_PROCESS_MAX];
	struct open_devices found;
	char fd[8];

	put_process(10);
	put_process(11);
	for (unsigned i = 0; i < 4 * OPEN_DEVICES_PROCESS_MAX; i++) {
		(void)snprintf(fd, sizeof(fd), "%u", i);
		put_link(10, fd, "/dev/null");
	}
	put_link(11, "5", "/dev/null");
	assert_int_equal(look(list, ARRAY_SIZE(list), &found), 0);
	assert_int_equal(found.count, OPEN_DEVICES_PROCESS_MAX + 1);
	assert_int_equal(found.beyond, 3 * OPEN_DEVICES_PROCESS_MAX);
	assert_true(has(list, found.count, (struct open_device){ 11, 5, 1, 3 }));
}

static void processes_that_cannot_be_seen_are_counted(void **state)
{
	char path[128];

	if (geteuid() != 0) /* nothing is hidden from the owner of a folder */
		return;
	put_process(10);
	put_link(10, "5", "/dev/null");
	put_process(11);
	put_link(11, "5", "/dev/null");
	(void)snprintf(path, sizeof(path), "%s/11/fd", root);
	assert_int_equal(chmod(path, 0700), 0);
	assert_int_equal(in_child(look_as_nobody, NULL), 0);
}

static void a_folder_that_is_not_proc_is_an_error(void **state)
{
	struct open_devices found;

	assert_int_equal(open_devices_search(-1, majors, 1, NULL, 0, &found), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(descriptors_of_these_devices_are_found, setup,
						teardown),
		cmocka_unit_test_setup_teardown(more_than_there_is_room_for_are_counted, setup,
						teardown),
		cmocka_unit_test_setup_teardown(one_process_leaves_room_for_others, setup,
						teardown),
		cmocka_unit_test_setup_teardown(processes_that_cannot_be_seen_are_counted, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_folder_that_is_not_proc_is_an_error, setup,
						teardown),
	};

	return unit_run(tests);
}

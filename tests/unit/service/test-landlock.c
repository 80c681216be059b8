// SPDX-License-Identifier: Apache-2.0
/*
 * Named files can be written, nothing else; private places cannot be read. Each in a process of its
 * own.
 */
#include "service/landlock.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

#include "base/file.h"
#include "tests/rig/in_child.h"
#include "tests/unit/unit.h"

struct place {
	char dir[40], state[64], other[64], file[64];
};

static int set_up_below(const char *where, void **state)
{
	static struct place place;

	(void)snprintf(place.dir, sizeof(place.dir), "%s/kepler-test-XXXXXX", where);
	if (!mkdtemp(place.dir))
		return -1;
	(void)snprintf(place.state, sizeof(place.state), "%s/state", place.dir);
	(void)snprintf(place.other, sizeof(place.other), "%s/other", place.dir);
	(void)snprintf(place.file, sizeof(place.file), "%s/other/file", place.dir);
	*state = &place;
	if (mkdir(place.state, 0700) < 0 || mkdir(place.other, 0700) < 0)
		return -1;
	return write_file_atomic(place.file, "old", 3, 0600);
}

static int set_up(void **state)
{
	return set_up_below("/tmp", state);
}

static int set_up_private(void **state)
{
	return set_up_below("/root", state);
}

static int tear_down(void **state)
{
	const struct place *place = *state;
	char path[96];

	(void)snprintf(path, sizeof(path), "%s/file", place->state);
	(void)unlink(path);
	(void)unlink(place->file);
	return rmdir(place->state) < 0 || rmdir(place->other) < 0 ? -1 : rmdir(place->dir);
}

static int enter(const struct place *place, const char *used)
{
	const struct landlock_paths paths = {
		.writable = { place->state },
		.writable_count = 1,
		.used = { used },
		.used_count = used ? 1 : 0,
	};
	struct diag diag;
	int fd = landlock_rules(&paths, NULL, NULL, &diag);

	return fd < 0 ? fd : landlock_enter(fd, &diag);
}

static bool is_refused(int result)
{
	return result < 0 && errno == EACCES;
}

/* Files whose names begin alike can be written, and are neither removed nor joined by others. */
static int writes_devices(const void *argument)
{
	const struct place *place = argument;
	char prefix[80], new_file[80];
	struct landlock_paths paths = { .devices = { prefix } };
	struct diag diag;
	int fd;

	(void)snprintf(prefix, sizeof(prefix), "%s/fi", place->other);
	(void)snprintf(new_file, sizeof(new_file), "%s/fi2", place->other);
	fd = landlock_rules(&paths, NULL, NULL, &diag);
	if (fd < 0 || landlock_enter(fd, &diag) <= 0)
		return 42;
	if (open(place->file, O_RDWR | O_CLOEXEC) < 0)
		return 1;
	if (!is_refused(open(new_file, O_RDWR | O_CREAT | O_CLOEXEC, 0600)))
		return 2;
	return is_refused(unlink(place->file)) ? 0 : 3;
}

static void devices_can_be_written(void **state)
{
	assert_int_equal(in_child(writes_devices, *state), 0);
}

static void *try_in_thread(void *argument)
{
	return is_refused(open(argument, O_WRONLY | O_CLOEXEC)) ? argument : NULL;
}

static int writes(const void *argument)
{
	const struct place *place = argument;
	char path[96];
	pthread_t thread;
	void *refused = NULL;

	if (enter(place, NULL) <= 0)
		return 42;
	(void)snprintf(path, sizeof(path), "%s/file", place->state);
	for (int i = 0; i < 2; i++) {
		if (write_file_atomic(path, "new", 3, 0600) < 0)
			return 1;
	}
	if (write_file_atomic(place->file, "new", 3, 0600) != -EACCES)
		return 2;
	if (!is_refused(open(place->file, O_WRONLY | O_CLOEXEC)) ||
	    !is_refused(unlink(place->file)) || !is_refused(mkdir("/tmp/kepler-never", 0700)) ||
	    !is_refused(symlink("/", "/tmp/kepler-never")))
		return 3;
	if (!is_refused(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)))
		return 4;
	if (pthread_create(&thread, NULL, try_in_thread, (void *)(uintptr_t)place->file) != 0 ||
	    pthread_join(thread, &refused) != 0 || !refused)
		return 5;
	return 0;
}

static void only_what_is_named_is_written(void **state)
{
	assert_int_equal(in_child(writes, *state), 0);
}

static int reads(const void *argument)
{
	const struct place *place = argument;
	char text[16];

	if (enter(place, NULL) <= 0)
		return 42;
	if (read_file_at(AT_FDCWD, place->file, text, sizeof(text)) != 3)
		return 1;
	if (open("/etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC) < 0 ||
	    open("/proc/self/stat", O_RDONLY | O_CLOEXEC) < 0 ||
	    open("/sys/devices", O_RDONLY | O_DIRECTORY | O_CLOEXEC) < 0)
		return 2;
	return is_refused(open("/root", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) &&
			       is_refused(open("/home", O_RDONLY | O_DIRECTORY | O_CLOEXEC))
		       ? 0
		       : 3;
}

static bool can_list(const char *path)
{
	CLEANUP_FD int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0;
}

static int reads_what_is_used(const void *argument)
{
	const struct place *place = argument;
	char text[16];

	if (enter(place, place->file) <= 0)
		return 42;
	if (read_file_at(AT_FDCWD, place->file, text, sizeof(text)) != 3)
		return 1;
	if (!can_list(place->other)) /* what replaces it lies there */
		return 2;
	return can_list(place->dir) || can_list("/root") || can_list("/home") ? 3 : 0;
}

static int reads_where_a_link_leads(const void *argument)
{
	const struct place *place = argument;
	char link[80], text[16];

	(void)snprintf(link, sizeof(link), "/tmp/%s", strrchr(place->dir, '/') + 1);
	if (symlink(place->file, link) < 0 || enter(place, link) <= 0)
		return 42;
	if (read_file_at(AT_FDCWD, link, text, sizeof(text)) != 3)
		return 1;
	return can_list(place->dir) ? 2 : 0;
}

static int reads_what_comes_later(const void *argument)
{
	const struct place *place = argument;
	char path[80];

	(void)snprintf(path, sizeof(path), "%s/not/yet/there", place->other);
	if (enter(place, path) <= 0)
		return 42;
	return can_list(place->other) && !can_list(place->dir) ? 0 : 1;
}

static bool leave_alone(void *userdata, const char *path)
{
	return strcmp(userdata, path) != 0;
}

static int touches_nothing_that_is_refused(const void *argument)
{
	const struct place *place = argument;
	const struct landlock_paths paths = { .used = { place->file }, .used_count = 1 };
	struct diag diag;
	int fd = landlock_rules(&paths, leave_alone, (void *)(uintptr_t)place->file, &diag);

	if (fd < 0 || landlock_enter(fd, &diag) <= 0)
		return 42;
	return can_list(place->other) || !can_list("/etc") ? 1 : 0;
}

static void private_places_are_not_read(void **state)
{
	assert_int_equal(in_child(reads, *state), 0);
}

static void of_private_places_what_is_used_is_read(void **state)
{
	const struct place *place = *state;
	char link[80];

	assert_int_equal(in_child(reads_what_is_used, place), 0);
	assert_int_equal(in_child(reads_what_comes_later, place), 0);
	assert_int_equal(in_child(touches_nothing_that_is_refused, place), 0);
	assert_int_equal(in_child(reads_where_a_link_leads, place), 0);
	(void)snprintf(link, sizeof(link), "/tmp/%s", strrchr(place->dir, '/') + 1);
	assert_int_equal(unlink(link), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_what_is_named_is_written, set_up, tear_down),
		cmocka_unit_test_setup_teardown(devices_can_be_written, set_up, tear_down),
		cmocka_unit_test_setup_teardown(private_places_are_not_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(of_private_places_what_is_used_is_read,
						set_up_private, tear_down),
	};

	if (!landlock_abi() || geteuid() != 0) {
		(void)printf("1..0 # SKIP wants Landlock and root\n");
		return 0;
	}
	return unit_run(tests);
}

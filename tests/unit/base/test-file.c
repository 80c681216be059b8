// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/macro.h"

struct place {
	char dir[32];
	char path[64];
};

static int set_up(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	(void)snprintf(place->dir, sizeof(place->dir), "/tmp/kepler-test-XXXXXX");
	if (!mkdtemp(place->dir))
		return -1;
	(void)snprintf(place->path, sizeof(place->path), "%s/file", place->dir);
	*state = place;
	return 0;
}

static int tear_down(void **state)
{
	struct place *place = *state;
	int r;

	(void)unlink(place->path);
	r = rmdir(place->dir); /* fails when something was left behind */
	free(place);
	return r;
}

static void write_bytes(const char *path, const char *text, size_t len)
{
	assert_int_equal(write_file_atomic(path, text, len, 0640), 0);
}

static void reads_whole(void **state)
{
	const struct place *place = *state;
	char buf[8];

	write_bytes(place->path, "1234567", 7);
	assert_int_equal(read_file_at(AT_FDCWD, place->path, buf, 8), 7);
	assert_string_equal(buf, "1234567");
	assert_int_equal(read_file_at(AT_FDCWD, place->path, buf, 7), -EFBIG);
	assert_int_equal(read_file_at(AT_FDCWD, place->path, buf, 0), -EFBIG);
	write_bytes(place->path, "", 0);
	assert_int_equal(read_file_at(AT_FDCWD, place->path, buf, 8), 0);
	assert_string_equal(buf, "");
	assert_int_equal(read_file_at(AT_FDCWD, "/nonexistent", buf, 8), -ENOENT);
	assert_int_equal(read_file_at(AT_FDCWD, place->dir, buf, 8), -EISDIR);
}

static void reads_again_from_the_start(void **state)
{
	const struct place *place = *state;
	char buf[16];
	CLEANUP_FD int dir = open(place->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP_FD int fd = -1;

	write_bytes(place->path, "one", 3);
	assert_int_equal(read_file_at(dir, "file", buf, sizeof(buf)), 3);
	fd = open(place->path, O_RDWR | O_CLOEXEC);
	assert_int_equal(read_fd(fd, buf, sizeof(buf)), 3);
	assert_int_equal(pwrite(fd, "three", 5, 0), 5);
	assert_int_equal(read_fd(fd, buf, sizeof(buf)), 5);
	assert_string_equal(buf, "three");
}

static void reads_into_memory(void **state)
{
	const struct place *place = *state;
	size_t sizes[] = { 0, 1, 4095, 4096, 4097, 8192, 100000 };
	char *big = malloc(100000), *text = NULL;
	size_t len;

	memset(big, 'x', 100000);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		write_bytes(place->path, big, sizes[i]);
		assert_int_equal(read_file_alloc(place->path, sizes[i], &text, &len), 0);
		assert_int_equal(len, sizes[i]);
		assert_int_equal(text[len], '\0');
		assert_int_equal(strlen(text), len);
		free(text);
		if (sizes[i])
			assert_int_equal(read_file_alloc(place->path, sizes[i] - 1, &text, &len),
					 -EFBIG);
	}
	assert_int_equal(read_file_alloc("/proc/self/stat", 4096, &text, NULL),
			 0); /* size 0 in stat() */
	assert_true(strlen(text) > 20);
	free(text);
	free(big);
}

static void joins(void **state)
{
	char buf[12];

	(void)state;
	assert_int_equal(path_join(buf, sizeof(buf), "/sys", "a"), 0);
	assert_string_equal(buf, "/sys/a");
	assert_int_equal(path_join(buf, sizeof(buf), "/sys///", "//a/b"), 0);
	assert_string_equal(buf, "/sys/a/b");
	assert_int_equal(path_join(buf, sizeof(buf), "/", "a"), 0);
	assert_string_equal(buf, "/a");
	assert_int_equal(path_join(buf, sizeof(buf), "//", "a"), 0);
	assert_string_equal(buf, "/a");
	assert_int_equal(path_join(buf, sizeof(buf), "", "a"), 0); /* not the root */
	assert_string_equal(buf, "a");
	assert_int_equal(path_join(buf, sizeof(buf), "12345", "67890"), 0);
	assert_int_equal(path_join(buf, sizeof(buf), "123456", "67890"), -ENAMETOOLONG);
}

static void replaces_atomically(void **state)
{
	const struct place *place = *state;
	char buf[16], new_path[80], victim[64];
	struct stat before, after;

	write_bytes(place->path, "old", 3);
	assert_int_equal(stat(place->path, &before), 0);
	assert_int_equal(before.st_mode & 0777, 0640);
	write_bytes(place->path, "new", 3);
	assert_int_equal(stat(place->path, &after), 0);
	assert_int_not_equal(before.st_ino, after.st_ino); /* another file under the name */

	/* somebody's link in the way is neither followed nor kept */
	(void)snprintf(new_path, sizeof(new_path), "%s.new", place->path);
	(void)snprintf(victim, sizeof(victim), "%s/victim", place->dir);
	assert_int_equal(symlink(victim, new_path), 0);
	assert_int_equal(write_file_atomic(place->path, "x", 1, 0600), -ELOOP);
	assert_int_equal(access(victim, F_OK), -1);
	assert_int_equal(read_file_at(AT_FDCWD, place->path, buf, sizeof(buf)), 3);
	assert_string_equal(buf, "new");
	write_bytes(place->path, "x", 1);
}

/* R51: what cannot be written leaves the old file and no other. */
static void keeps_the_old_file(void **state)
{
	const struct place *place = *state;
	struct rlimit limit, small;
	char buf[16], new_path[80], longer[5000];

	write_bytes(place->path, "old", 3);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = limit;
	small.rlim_cur = 4;
	(void)sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(write_file_atomic(place->path, "0123456789", 10, 0600), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(read_file_at(AT_FDCWD, place->path, buf, sizeof(buf)), 3);
	(void)snprintf(new_path, sizeof(new_path), "%s.new", place->path);
	assert_int_equal(access(new_path, F_OK), -1);

	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(write_file_atomic(longer, "x", 1, 0600), -ENAMETOOLONG);
	assert_int_equal(write_file_atomic("/nonexistent/file", "x", 1, 0600), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads_whole, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reads_again_from_the_start, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reads_into_memory, set_up, tear_down),
		cmocka_unit_test(joins),
		cmocka_unit_test_setup_teardown(replaces_atomically, set_up, tear_down),
		cmocka_unit_test_setup_teardown(keeps_the_old_file, set_up, tear_down),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

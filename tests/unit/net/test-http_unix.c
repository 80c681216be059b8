// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/socket.h>

#include "net/http_unix.h"
#include "tests/unit/unit.h"

static char directory[] = "/tmp/kepler-unix-XXXXXX", path[64];

static int make_directory(void **state)
{
	if (!mkdtemp(directory))
		return -1;
	(void)snprintf(path, sizeof(path), "%s/socket", directory);
	return 0;
}

static int remove_directory(void **state)
{
	return rmdir(directory); /* nothing was left in it */
}

static void appears_with_its_mode_and_goes(void **state)
{
	mode_t old = umask(0077);
	struct stat made, st;
	int fd = http_unix_listen(path, 0660, &made, NULL);

	(void)umask(old);
	assert_true(fd >= 0);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 0777, 0660);
	http_unix_remove(path, &made);
	assert_int_equal(lstat(path, &st), -1);
	close(fd);
}

static void replaces_a_stale_one_alone(void **state)
{
	struct stat first, second, st;
	struct diag diag = { "" };
	int fd = http_unix_listen(path, 0600, &first, NULL), other;

	assert_int_equal(http_unix_listen(path, 0600, &second, &diag), -EADDRINUSE);
	assert_non_null(strstr(diag.text, path));
	close(fd); /* as one that was killed: the file stays */
	other = http_unix_listen(path, 0600, &second, NULL);
	assert_true(other >= 0);
	http_unix_remove(path, &first); /* not its own any more */
	assert_int_equal(lstat(path, &st), 0);
	http_unix_remove(path, &second);
	assert_int_equal(lstat(path, &st), -1);
	close(other);
}

static void leaves_other_files_alone(void **state)
{
	struct stat made, st;
	struct diag diag = { "" };
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	close(fd);
	assert_int_equal(http_unix_listen(path, 0600, &made, &diag), -EEXIST);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_int_equal(http_unix_listen(path, 0600, &made, &diag), -EEXIST);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(http_unix_listen("/nowhere/at/all", 0600, &made, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "its directory must exist"));
}

static void reads_addresses_and_modes(void **state)
{
	char long_path[200];
	mode_t mode = 0;

	assert_string_equal(http_unix_path("unix:/run/a"), "/run/a");
	assert_null(http_unix_path("127.0.0.1:1"));
	assert_int_equal(http_unix_check("/run/a", NULL), 0);
	assert_int_equal(http_unix_check("", NULL), -EINVAL);
	assert_int_equal(http_unix_check("run/a", NULL), -EINVAL);
	assert_int_equal(http_unix_check("/run/", NULL), -EINVAL);
	memset(long_path, '/', sizeof(long_path));
	memset(long_path + 1, 'a', HTTP_UNIX_PATH_MAX);
	long_path[HTTP_UNIX_PATH_MAX] = '\0';
	assert_int_equal(http_unix_check(long_path, NULL), 0);
	long_path[HTTP_UNIX_PATH_MAX] = 'a';
	long_path[HTTP_UNIX_PATH_MAX + 1] = '\0';
	assert_int_equal(http_unix_check(long_path, NULL), -EINVAL);
	assert_int_equal(http_unix_parse_mode("0660", &mode, NULL), 0);
	assert_int_equal(mode, 0660);
	assert_int_equal(http_unix_parse_mode("777", &mode, NULL), 0);
	assert_int_equal(http_unix_parse_mode("1777", &mode, NULL), -EINVAL);
	assert_int_equal(http_unix_parse_mode("0668", &mode, NULL), -EINVAL);
	assert_int_equal(http_unix_parse_mode("", &mode, NULL), -EINVAL);
	assert_int_equal(mode, 0777);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(appears_with_its_mode_and_goes),
		cmocka_unit_test(replaces_a_stale_one_alone),
		cmocka_unit_test(leaves_other_files_alone),
		cmocka_unit_test(reads_addresses_and_modes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

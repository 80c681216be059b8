// SPDX-License-Identifier: Apache-2.0
#include "base/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"

struct rig {
	char dir[64], path[96];
};

static int set_up(void **state)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	int fd;

	if (!rig)
		return -1;
	(void)snprintf(rig->dir, sizeof(rig->dir), "/tmp/test-secret-file-XXXXXX");
	if (!mkdtemp(rig->dir))
		return -1;
	(void)snprintf(rig->path, sizeof(rig->path), "%s/config", rig->dir);
	fd = open(rig->path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	(void)close(fd);
	*state = rig;
	return fd < 0;
}

static int tear_down(void **state)
{
	struct rig *rig = *state;

	(void)unlink(rig->path);
	(void)rmdir(rig->dir);
	free(rig);
	return 0;
}

static void others_may_do_nothing_with_it(void **state)
{
	static const mode_t others[] = { 0640, 0620, 0610, 0604, 0602, 0601 };
	struct rig *rig = *state;
	struct diag diag = { "" };

	assert_int_equal(secret_file_check(rig->path, &diag), 0);
	assert_int_equal(chmod(rig->path, 0400), 0);
	assert_int_equal(secret_file_check(rig->path, &diag), 0);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		assert_int_equal(chmod(rig->path, others[i]), 0);
		assert_int_equal(secret_file_check(rig->path, &diag), -EPERM);
		assert_non_null(strstr(diag.text, "chmod 600 "));
	}
	assert_int_equal(chmod(rig->path, 0600), 0);
	assert_int_equal(secret_file_check("/nowhere", &diag), 0);
}

static void a_credential_of_systemd_is_private(void **state)
{
	static const mode_t others[] = { 0444, 0460, 0450, 0441, 0604 };
	struct rig *rig = *state;
	struct diag diag = { "" };
	char link[112], around[160];

	assert_int_equal(chmod(rig->path, 0440), 0);
	assert_int_equal(secret_file_check(rig->path, &diag), -EPERM); /* no service */
	assert_int_equal(setenv("CREDENTIALS_DIRECTORY", rig->dir, 1), 0);
	assert_int_equal(secret_file_check(rig->path, &diag), 0);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		assert_int_equal(chmod(rig->path, others[i]), 0);
		assert_int_equal(secret_file_check(rig->path, &diag), -EPERM);
	}
	assert_int_equal(chmod(rig->path, 0440), 0);
	if (geteuid() == 0) { /* its owner can open it to others at any time */
		assert_int_equal(chown(rig->path, 65534, 0), 0);
		assert_int_equal(secret_file_check(rig->path, &diag), -EPERM);
		assert_int_equal(chown(rig->path, 0, 0), 0);
	}

	/* A file elsewhere is not one, whatever way leads to it. */
	assert_int_equal(setenv("CREDENTIALS_DIRECTORY", "/tmp", 1), 0);
	assert_int_equal(secret_file_check(rig->path, &diag), -EPERM);
	(void)snprintf(link, sizeof(link), "%s/credentials", rig->dir);
	assert_int_equal(mkdir(link, 0700), 0);
	assert_int_equal(setenv("CREDENTIALS_DIRECTORY", link, 1), 0);
	(void)snprintf(around, sizeof(around), "%s/../config", link);
	assert_int_equal(secret_file_check(around, &diag), -EPERM);
	(void)snprintf(around, sizeof(around), "%s/link", link);
	assert_int_equal(symlink("../config", around), 0);
	assert_int_equal(secret_file_check(around, &diag), -EPERM);
	assert_int_equal(unlink(around), 0);
	assert_int_equal(rmdir(link), 0);
	assert_int_equal(unsetenv("CREDENTIALS_DIRECTORY"), 0);
}

static void the_first_line_is_the_secret(void **state)
{
	struct rig *rig = *state;
	struct diag diag = { "" };
	char *secret = NULL;
	int fd = open(rig->path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	assert_int_equal(chmod(rig->path, 0600), 0);
	assert_int_equal(write(fd, "a token\r\nand more\n", 19), 19);
	assert_int_equal(close(fd), 0);
	assert_int_equal(secret_file_read(rig->path, &secret, &diag), 0);
	assert_string_equal(secret, "a token");
	free(secret);
	assert_int_equal(secret_file_read("", &secret, &diag), 0);
	assert_string_equal(secret, "");
	free(secret);
	assert_int_equal(chmod(rig->path, 0644), 0);
	assert_int_equal(secret_file_read(rig->path, &secret, &diag), -EPERM);
	assert_int_equal(chmod(rig->path, 0600), 0);
	assert_int_equal(truncate(rig->path, SECRET_FILE_MAX + 1), 0);
	assert_int_equal(secret_file_read(rig->path, &secret, &diag), -EFBIG);
	assert_int_equal(unlink(rig->path), 0);
	assert_int_equal(secret_file_read(rig->path, &secret, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "cannot be read"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_may_do_nothing_with_it),
		cmocka_unit_test(a_credential_of_systemd_is_private),
		cmocka_unit_test(the_first_line_is_the_secret),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}

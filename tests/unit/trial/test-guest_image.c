// SPDX-License-Identifier: Apache-2.0
#include "trial/guest_image.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"

/* The contents of the archive according to Debian's cpio. */
static void list_archive(int fd, char *buf, size_t size)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "cpio -itv --quiet </proc/%d/fd/%d 2>&1", getpid(),
		       fd);
	FILE *pipe = popen(command, "re");
	assert_non_null(pipe);
	size_t len = fread(buf, 1, size - 1, pipe);
	buf[len] = '\0';
	assert_int_equal(pclose(pipe), 0);
}

static void the_archive_has_an_init_and_a_console(void **state)
{
	char text[2048];
	int fd = guest_image_open();

	assert_true(fd >= 0);
	if (system("command -v cpio >/dev/null") != 0) {
		(void)close(fd);
		skip();
	}
	list_archive(fd, text, sizeof(text));
	assert_non_null(strstr(text, "-rwxr-xr-x"));
	assert_non_null(strstr(text, " init\n"));
	assert_non_null(strstr(text, "crw-------"));
	assert_non_null(strstr(text, "5,   1"));
	assert_non_null(strstr(text, " dev/console\n"));
	(void)close(fd);
}

/* Each entry begins at a multiple of four, and the program is one of this machine. */
static void the_init_is_an_executable(void **state)
{
	char bytes[512];
	int fd = guest_image_open();
	ssize_t len = pread(fd, bytes, sizeof(bytes), 0);
	const char *init = memmem(bytes, (size_t)len, "init", 5);

	assert_non_null(init);
	const char *header = init - 110;
	assert_int_equal((header - bytes) % 4, 0);
	assert_memory_equal(header, "070701", 6);
	assert_memory_equal(bytes + (init + 5 - bytes + 3) / 4 * 4, "\177ELF", 4);
	(void)close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_archive_has_an_init_and_a_console),
		cmocka_unit_test(the_init_is_an_executable),
	};
	return unit_run(tests);
}

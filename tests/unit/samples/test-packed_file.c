// SPDX-License-Identifier: Apache-2.0
#include "samples/packed_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file.h"
#include "tests/unit/unit.h"

#define TEXT_SIZE 300000

static char text[TEXT_SIZE], packed[TEXT_SIZE];
static char path[] = "/tmp/test-packed-file-XXXXXX";

static int set_up(void **state)
{
	int fd = mkstemp(path);
	uint32_t chance = 1;

	for (size_t i = 0; i < sizeof(text); i++) {
		chance = chance * 1664525 + 1013904223;
		text[i] = (char)('0' + (chance >> 24) % 10);
	}
	return fd < 0 || close(fd) < 0;
}

static int tear_down(void **state)
{
	return unlink(path);
}

static void put(const void *data, size_t len)
{
	assert_int_equal(write_file_atomic(path, data, len, 0600), 0);
}

static size_t pack(void)
{
	gzFile file = gzopen(path, "w");
	ssize_t len;

	assert_int_equal(gzwrite(file, text, TEXT_SIZE), TEXT_SIZE);
	assert_int_equal(gzclose(file), Z_OK);
	len = read_file_at(AT_FDCWD, path, packed, sizeof(packed));
	assert_true(len > 0);
	return (size_t)len;
}

/* All of the file, read in blocks of @block bytes: its length, or -errno. */
static ssize_t read_all(size_t block, char *ret, struct diag *diag)
{
	CLEANUP(packed_file_cleanup) struct packed_file *file = NULL;
	ssize_t len = packed_file_open(path, &file, diag), sum = 0;

	if (len < 0)
		return len;
	while ((len = packed_file_read(file, ret + sum, block, diag)) > 0)
		sum += len;
	return len < 0 ? len : sum;
}

static void assert_is_the_text(void)
{
	static const size_t blocks[] = { 1000, 7, TEXT_SIZE };
	char *got = malloc(TEXT_SIZE + 1000);
	struct diag diag = { "" };

	assert_non_null(got);
	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
		assert_int_equal(read_all(blocks[i], got, &diag), TEXT_SIZE);
		assert_memory_equal(got, text, TEXT_SIZE);
	}
	free(got);
}

static void packed_or_not_it_is_the_same(void **state)
{
	put(text, TEXT_SIZE);
	assert_is_the_text();
	(void)pack();
	assert_is_the_text();
}

static void assert_refused(const char *why)
{
	char *got = malloc(TEXT_SIZE + 1000);
	struct diag diag = { "" };

	assert_non_null(got);
	assert_int_equal(read_all(1000, got, &diag), -EIO);
	assert_non_null(strstr(diag.text, why));
	assert_non_null(strstr(diag.text, path));
	free(got);
}

static void what_is_broken_is_refused(void **state)
{
	CLEANUP(packed_file_cleanup) struct packed_file *file = NULL;
	size_t size = pack();
	struct diag diag = { "" };

	put(packed, size - 20);
	assert_refused("unexpected end of file");
	memset(packed + size / 2, 0, 100);
	put(packed, size);
	assert_refused("cannot be read");
	assert_int_equal(packed_file_open("/none", &file, &diag), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed_or_not_it_is_the_same),
		cmocka_unit_test(what_is_broken_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}

// SPDX-License-Identifier: Apache-2.0
#include "base/ustar.h"

#include "tests/unit/unit.h"

static void an_archive_is_blocks(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

	ustar_add(&out, "a.txt", "hello", 5, 01234567);
	ustar_add(&out, "empty", NULL, 0, 0);
	ustar_end(&out);
	assert_int_equal(strbuf_error(&out), 0);
	assert_int_equal(out.len, 512 + 512 + 512 + 1024);
	assert_string_equal(out.data, "a.txt");
	assert_string_equal(out.data + 100, "0000644");
	assert_string_equal(out.data + 124, "00000000005");
	assert_string_equal(out.data + 136, "00001234567");
	assert_memory_equal(out.data + 257, "ustar\00000", 8);
	assert_string_equal(out.data + 512, "hello");
	assert_string_equal(out.data + 1024, "empty");
}

/* Judged by the system's own tar. */
static void tar_reads_it(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	FILE *tar = popen("tar -xOf - long", "we");
	char name[100];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ustar_add(&out, name, "x", 1, 1700000000);
	ustar_add(&out, "long", "# tar has read this\n", 20, 1700000000);
	ustar_end(&out);
	assert_non_null(tar);
	assert_int_equal(fwrite(out.data, 1, out.len, tar), out.len);
	assert_int_equal(pclose(tar), 0);
}

static void what_it_cannot_say_fails(void **state)
{
	struct strbuf long_name = STRBUF_INIT, old = STRBUF_INIT;
	char name[101];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ustar_add(&long_name, name, "x", 1, 0);
	assert_true(strbuf_error(&long_name) < 0);
	ustar_add(&old, "a", "x", 1, -1);
	assert_true(strbuf_error(&old) < 0);
	strbuf_release(&long_name);
	strbuf_release(&old);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_archive_is_blocks),
		cmocka_unit_test(tar_reads_it),
		cmocka_unit_test(what_it_cannot_say_fails),
	};

	return unit_run(tests);
}

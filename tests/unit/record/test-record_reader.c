// SPDX-License-Identifier: Apache-2.0
#include "record/record_reader.h"

#include "tests/unit/record/sample.h"
#include "tests/unit/unit.h"

/* The records that can be read, and how it ends. */
static int read_all(const struct strbuf *file, size_t len, size_t *ret_count, bool *ret_cut,
		    struct diag *diag)
{
	CLEANUP_FREE struct record *record = calloc(1, sizeof(*record));
	struct record_reader *reader = NULL;
	int r = record_reader_open_memory("a.krec", (const uint8_t *)file->data, len, &reader,
					  diag);

	*ret_count = 0;
	*ret_cut = false;
	if (r < 0)
		return r;
	while ((r = record_reader_next(reader, record, diag)) > 0)
		(*ret_count)++;
	*ret_cut = record_reader_is_cut(reader);
	record_reader_close(reader);
	return r;
}

static void each_record_comes_once(void **state)
{
	CLEANUP(strbuf_release) struct strbuf file = STRBUF_INIT;
	struct diag diag = { "" };
	size_t count;
	bool cut;

	sample_file(&file);
	assert_int_equal(read_all(&file, file.len, &count, &cut, &diag), 0);
	assert_int_equal(count, 11);
	assert_false(cut);
}

static void only_the_last_block_is_lost(void **state)
{
	CLEANUP(strbuf_release) struct strbuf file = STRBUF_INIT;
	struct diag diag = { "" };
	size_t count;
	bool cut;

	sample_file(&file);
	assert_int_equal(read_all(&file, file.len - 1, &count, &cut, &diag), 0);
	assert_int_equal(count, 9);
	assert_true(cut);
	assert_int_equal(read_all(&file, 20, &count, &cut, &diag), 0);
	assert_int_equal(count, 0);
	assert_true(cut);
}

static void damage_is_named(void **state)
{
	CLEANUP(strbuf_release) struct strbuf file = STRBUF_INIT;
	struct diag diag = { "" };
	size_t count;
	bool cut;

	sample_file(&file);
	file.data[file.len - 1] ^= 1;
	assert_int_equal(read_all(&file, file.len, &count, &cut, &diag), -EBADMSG);
	assert_int_equal(count, 9);
	assert_non_null(strstr(diag.text, "a.krec: byte "));
	assert_non_null(strstr(diag.text, ", block 1: a block with a wrong checksum; everything"));
	assert_int_equal(read_all(&file, 5, &count, &cut, &diag), -EBADMSG);
	assert_string_equal(diag.text, "a.krec: no recording of Kepler");
}

static void an_invalid_file_is_refused(void **state)
{
	struct record_reader *reader = NULL;
	struct diag diag = { "" };

	assert_int_equal(record_reader_open("/nonexistent", &reader, &diag), -ENOENT);
	assert_int_equal(record_reader_open("/dev/null", &reader, &diag), -EINVAL);
	assert_string_equal(diag.text, "/dev/null: not a file");
	assert_int_equal(record_reader_open("/", &reader, &diag), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_record_comes_once),
		cmocka_unit_test(only_the_last_block_is_lost),
		cmocka_unit_test(damage_is_named),
		cmocka_unit_test(an_invalid_file_is_refused),
	};

	return unit_run(tests);
}

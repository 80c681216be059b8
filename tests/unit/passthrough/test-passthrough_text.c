// SPDX-License-Identifier: Apache-2.0
/* Records as text: the vectors, what is cut or changed, and what a later version may add. */
#include "passthrough/passthrough_text.h"

#include "base/file.h"
#include "passthrough/crc32c.h"
#include "tests/unit/passthrough/example_records.h"
#include "tests/unit/unit.h"

static const char *vectors; /* a folder of NAME.hex and NAME.txt */

static void test_vectors(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		CLEANUP_FREE char *expected = NULL;
		struct strbuf text = STRBUF_INIT;
		struct passthrough_record record;
		struct diag diag = { "" };
		char path[4096];
		size_t len;

		(void)snprintf(path, sizeof(path), "%s/%s.txt", vectors, examples[i].name);
		assert_int_equal(read_file_alloc(path, PASSTHROUGH_TEXT_MAX, &expected, &len), 0);
		passthrough_text_write(&examples[i].record, &text);
		assert_string_equal(text.data, expected);
		assert_int_equal(passthrough_text_read(text.data, text.len, &record, &diag), 0);
		assert_true(records_are_equal(&record, &examples[i].record));
		for (size_t cut = 0; cut < text.len; cut++)
			assert_true(passthrough_text_read(text.data, cut, &record, &diag) < 0);
		strbuf_release(&text);
	}
}

/* The error for the first example with @from replaced by @to and the CRC of that; 0: none. */
static int read_changed(const char *from, const char *to, struct passthrough_record *ret,
			struct diag *diag)
{
	struct strbuf text = STRBUF_INIT, changed = STRBUF_INIT;
	const char *at;
	int r;

	passthrough_text_write(&examples[0].record, &text);
	text.len -= strlen("end 01234567\n");
	text.data[text.len] = '\0';
	at = strstr(text.data, from);
	assert_non_null(at);
	strbuf_add(&changed, text.data, (size_t)(at - text.data));
	strbuf_add_str(&changed, to);
	strbuf_add_str(&changed, at + strlen(from));
	strbuf_addf(&changed, "end %08x\n", crc32c(changed.data, changed.len));
	*diag = (struct diag){ "" };
	r = passthrough_text_read(changed.data, changed.len, ret, diag);
	strbuf_release(&text);
	strbuf_release(&changed);
	return r;
}

static void test_refusals(void **state)
{
	const char *const changes[][2] = {
		{ "passthrough 1", "passthrough 2" },
		{ "sequence 1\n", "sequence 0\n" },
		{ "sequence 1\n", "sequence -1\n" },
		{ "sequence 1\n", "" },
		{ "flags 0\n", "" },
		{ "sequence 1\n", "sequence 1\nsequence 1\n" },
		{ "epoch 1122", "epoch 011122" },
		{ "epoch 1122", "epoch 11G2" },
		{ "flags 0", "flags 4294967296" },
		{ "quality=measured", "quality=exact" },
		{ "quality=measured ", "" },
		{ "quality=measured", "quality=measured quality=measured" },
		{ "idle_uj=0", "" },
		{ "idle_uj=0", "idle_uj=1" },
		{ "dynamic_uj=12345678", "dynamic_uj=18446744073709551616" },
	};
	struct passthrough_record record;
	struct diag diag;

	assert_int_equal(read_changed("flags 0", "flags 0", &record, &diag), 0);
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		assert_true(read_changed(changes[i][0], changes[i][1], &record, &diag) < 0);
		assert_string_not_equal(diag.text, "");
	}
	assert_true(read_changed("flags 0", "flags x", &record, &diag) < 0);
	assert_string_equal(diag.text, "line 9: \"flags x\" is not valid");
}

static void test_additions_are_ignored(void **state)
{
	struct passthrough_record record;
	struct diag diag;

	assert_int_equal(
		read_changed("flags 0\n", "flags 0\nnote of another version\n", &record, &diag), 0);
	assert_true(records_are_equal(&record, &examples[0].record));
	assert_int_equal(read_changed("idle_uj=0", "idle_uj=0 watts=5", &record, &diag), 0);
	assert_true(records_are_equal(&record, &examples[0].record));
	assert_int_equal(read_changed("zone package", "zone fan", &record, &diag), 0);
	assert_int_equal(record.zone_count, 0);
	assert_int_equal(record.unknown_zones, 1);
}

static void test_a_foreign_text_is_too_long(void **state)
{
	static char text[PASSTHROUGH_TEXT_MAX + 1];
	struct passthrough_record record;
	struct diag diag;

	assert_int_equal(passthrough_text_read(text, sizeof(text), &record, &diag), -EFBIG);
	assert_int_equal(passthrough_text_read(text, 0, &record, &diag), -EINVAL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_additions_are_ignored),
		cmocka_unit_test(test_a_foreign_text_is_too_long),
	};

	if (argc != 2)
		return 2;
	vectors = argv[1];
	return unit_run(tests);
}

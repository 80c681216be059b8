// SPDX-License-Identifier: Apache-2.0
#include "repository/archive.h"

#include "tests/unit/unit.h"

#define CENTRAL    "PK\x01\x02" /* a file's header in the list at the end */
#define MADE_BY    5            /* where that has the system that made it */
#define ATTRIBUTES 41           /* and the mode of its file */

static const struct archive_file two[] = {
	{ "metadata.json", "{\"mae\": 1}", 10 },
	{ "package.json", "trees", 5 },
};

static void pack(const struct archive_file *files, size_t count, struct strbuf *ret)
{
	*ret = STRBUF_INIT;
	assert_int_equal(archive_write(files, count, ret), 0);
}

/* The diagnosis of an archive that is refused; static. */
static const char *refusal(const struct strbuf *bytes)
{
	static struct diag diag;
	struct archive *archive = NULL;

	diag.text[0] = '\0';
	assert_int_equal(archive_open("a.zip", bytes->data, bytes->len, &archive, &diag), -EINVAL);
	assert_null(archive);
	return diag.text;
}

static void assert_refused(const struct archive_file *files, size_t count, const char *why)
{
	struct strbuf bytes;

	pack(files, count, &bytes);
	assert_non_null(strstr(refusal(&bytes), why));
	strbuf_release(&bytes);
}

static void what_is_written_is_read(void **state)
{
	struct strbuf bytes, again;
	struct archive *archive = NULL;
	struct diag diag = { "" };
	char *text = NULL;
	size_t len = 0;

	pack(two, 2, &bytes);
	pack(two, 2, &again);
	assert_int_equal(bytes.len, again.len);
	assert_memory_equal(bytes.data, again.data, bytes.len);
	assert_int_equal(archive_open("a.zip", bytes.data, bytes.len, &archive, &diag), 0);
	assert_int_equal(archive_count(archive), 2);
	assert_string_equal(archive_name(archive, 0), "metadata.json");
	assert_int_equal(archive_find(archive, "none"), SIZE_MAX);
	assert_int_equal(archive_find(archive, "package.json"), 1);
	assert_int_equal(archive_read(archive, 1, &text, &len, &diag), 0);
	assert_int_equal(len, 5);
	assert_string_equal(text, "trees");
	free(text);
	archive_close(archive);
	strbuf_release(&bytes);
	strbuf_release(&again);
}

static void names_that_lead_out_are_refused(void **state)
{
	static const char *const names[] = { "../a", "a/../../b", "/etc/passwd", "a\\..\\b",
					     "c:a",  "a\nb",      ".." };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct archive_file file = { names[i], "x", 1 };

		assert_refused(&file, 1, "lead out");
	}
}

static void harmless_names_are_not(void **state)
{
	static const struct archive_file files[] = { { "a..b", "x", 1 }, { "d/..e", "x", 1 } };
	struct strbuf bytes;
	struct archive *archive = NULL;

	pack(files, 2, &bytes);
	assert_int_equal(archive_open("a.zip", bytes.data, bytes.len, &archive, NULL), 0);
	archive_close(archive);
	strbuf_release(&bytes);
}

static void bombs_are_refused(void **state)
{
	char *zeros = calloc(1, ARCHIVE_FILE_MAX + 1);
	const struct archive_file packed = { "a", zeros, 2 << 20 };
	const struct archive_file large = { "a", zeros, ARCHIVE_FILE_MAX + 1 };

	assert_non_null(zeros);
	assert_refused(&packed, 1, "above 100");
	assert_refused(&large, 1, "more than 16 MiB");
	free(zeros);
}

static void many_files_are_refused(void **state)
{
	static char names[ARCHIVE_FILES_MAX + 1][8];
	struct archive_file files[ARCHIVE_FILES_MAX + 1];
	struct archive *archive = NULL;
	struct strbuf bytes;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		(void)snprintf(names[i], sizeof(names[i]), "f%zu", i);
		files[i] = (struct archive_file){ names[i], "x", 1 };
	}
	assert_refused(files, ARRAY_SIZE(files), "has 257 files");
	pack(files, ARRAY_SIZE(files), &bytes);
	assert_int_equal(archive_open_pipeline("a.zip", bytes.data, bytes.len, &archive, NULL), 0);
	assert_int_equal(archive_count(archive), ARRAY_SIZE(files));
	archive_close(archive);
	strbuf_release(&bytes);
}

/* The offset of the first file's header in the list. */
static size_t central_of(const struct strbuf *bytes)
{
	const char *found = memmem(bytes->data, bytes->len, CENTRAL, 4);

	assert_non_null(found);
	return (size_t)(found - bytes->data);
}

static void links_are_refused(void **state)
{
	struct strbuf bytes;
	size_t at;

	pack(two, 2, &bytes);
	at = central_of(&bytes);
	bytes.data[at + MADE_BY] = 3;                       /* Unix */
	bytes.data[at + ATTRIBUTES] = (char)(0120777 >> 8); /* a symbolic link */
	assert_non_null(strstr(refusal(&bytes), "a link or a device"));
	strbuf_release(&bytes);
}

/* Whatever is cut or flipped, the content is right or refused. */
static void damage_is_noticed(void **state)
{
	struct strbuf bytes;
	size_t wrong = 0;

	pack(two, 2, &bytes);
	for (size_t i = 0; i < bytes.len * 8; i++) {
		struct archive *archive = NULL;
		size_t index, len = 0;
		char *text = NULL;

		bytes.data[i / 8] ^= (char)(1 << (i % 8));
		if (archive_open("a.zip", bytes.data, bytes.len, &archive, NULL) == 0) {
			index = archive_find(archive, "package.json");
			if (index != SIZE_MAX &&
			    archive_read(archive, index, &text, &len, NULL) == 0)
				wrong += len != 5 || memcmp(text, "trees", 5) != 0;
			free(text);
		}
		archive_close(archive);
		bytes.data[i / 8] ^= (char)(1 << (i % 8));
	}
	assert_int_equal(wrong, 0);
	for (size_t len = 0; len < bytes.len; len++) {
		struct archive *archive = NULL;

		assert_int_equal(archive_open("a.zip", bytes.data, len, &archive, NULL), -EINVAL);
	}
	strbuf_release(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(names_that_lead_out_are_refused),
		cmocka_unit_test(harmless_names_are_not),
		cmocka_unit_test(bombs_are_refused),
		cmocka_unit_test(many_files_are_refused),
		cmocka_unit_test(links_are_refused),
		cmocka_unit_test(damage_is_noticed),
	};

	return unit_run(tests);
}

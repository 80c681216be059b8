// SPDX-License-Identifier: Apache-2.0
/* The same files in a folder and in an archive are the same tree. */
#include "repository/file_tree.h"

#include <unistd.h>

#include "model_tree.h"
#include "repository/archive.h"
#include "tests/unit/unit.h"

#define ZIP "mine.zip"

static const struct archive_file files[] = {
	{ "b/two.json", "{}", 2 },    { "b/inner/x", "xyz", 3 }, { "a.txt", "text", 4 },
	{ "b/inner-y", "", 0 },       { ".hidden", "h", 1 },     { "b/.git/config", "h", 1 },
	{ "bb/three.json", "{ }", 3 }
};

static void pack(const struct model_tree *tree, const struct archive_file *list, size_t count)
{
	struct strbuf bytes = STRBUF_INIT;

	assert_int_equal(archive_write(list, count, &bytes), 0);
	model_tree_put(tree, ZIP, bytes.data, bytes.len);
	strbuf_release(&bytes);
}

static struct file_tree *open_below(const struct model_tree *tree, const char *name)
{
	struct file_tree *ret = NULL;
	struct diag diag = { "" };
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", tree->path, name);
	assert_int_equal(file_tree_open(path, &ret, &diag), 0);
	return ret;
}

static void assert_names(const struct file_tree *tree, const char *path, const char *expected)
{
	struct tree_names names = { .count = 0 };
	char text[256] = "";
	size_t len = 0;

	assert_int_equal(file_tree_list(tree, path, &names), 0);
	for (size_t i = 0; i < names.count; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s ", names.list[i]);
	assert_string_equal(text, expected);
	tree_names_release(&names);
}

static void assert_is_the_tree(const struct file_tree *tree)
{
	char *text = NULL;
	size_t len = 0;

	assert_string_equal(file_tree_name(tree), "mine");
	assert_names(tree, "", "a.txt b bb ");
	assert_names(tree, "b", "inner inner-y two.json ");
	assert_names(tree, "b/inner", "x ");
	assert_names(tree, "none", "");
	assert_int_equal(file_tree_kind(tree, "b"), FILE_TREE_FOLDER);
	assert_int_equal(file_tree_kind(tree, "b/inner"), FILE_TREE_FOLDER);
	assert_int_equal(file_tree_kind(tree, "b/inner/x"), FILE_TREE_FILE);
	assert_int_equal(file_tree_kind(tree, "b/inn"), FILE_TREE_OTHER);
	assert_int_equal(file_tree_read(tree, "b/inner/x", 3, &text, &len), 0);
	assert_int_equal(len, 3);
	assert_string_equal(text, "xyz");
	free(text);
	assert_int_equal(file_tree_read(tree, "b/inner/x", 2, &text, &len), -EFBIG);
	assert_int_equal(file_tree_read(tree, "b/none", 9, &text, &len), -ENOENT);
}

static void a_folder_and_an_archive_are_alike(void **state)
{
	const struct model_tree *tree = *state;
	struct file_tree *opened;
	char name[64];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		(void)snprintf(name, sizeof(name), "mine/%s", files[i].name);
		model_tree_put(tree, name, files[i].data, files[i].len);
	}
	opened = open_below(tree, "mine");
	assert_is_the_tree(opened);
	file_tree_free(opened);
	pack(tree, files, ARRAY_SIZE(files));
	opened = open_below(tree, ZIP);
	assert_is_the_tree(opened);
	file_tree_free(opened);
}

static void assert_not_opened(const struct model_tree *tree, const char *name, int error,
			      const char *why)
{
	struct file_tree *opened = NULL;
	struct diag diag = { "" };
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", tree->path, name);
	assert_int_equal(file_tree_open(path, &opened, &diag), error);
	assert_non_null(strstr(diag.text, why));
	assert_null(opened);
}

static void an_invalid_tree_is_refused(void **state)
{
	static const struct archive_file outside = { "../x", "x", 1 };
	const struct model_tree *tree = *state;

	model_tree_put_text(tree, "file", "{\"a\": 1}");
	model_tree_put_text(tree, "broken.zip", "PK and nothing else");
	assert_not_opened(tree, "none", -ENOENT, "none");
	assert_not_opened(tree, "file", -ENOTDIR, "must be a folder");
	assert_not_opened(tree, "broken.zip", -EINVAL, "not a valid zip archive");
	pack(tree, &outside, 1);
	assert_not_opened(tree, ZIP, -EINVAL, "would lead out");
}

static void links_are_not_followed(void **state)
{
	const struct model_tree *tree = *state;
	struct file_tree *opened;
	char link[128];

	model_tree_put_text(tree, "mine/a", "x");
	(void)snprintf(link, sizeof(link), "%s/mine/link", tree->path);
	assert_int_equal(symlink("/etc/passwd", link), 0);
	opened = open_below(tree, "mine");
	assert_int_equal(file_tree_kind(opened, "link"), FILE_TREE_OTHER);
	file_tree_free(opened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_folder_and_an_archive_are_alike, model_tree_new,
						model_tree_free),
		cmocka_unit_test_setup_teardown(an_invalid_tree_is_refused, model_tree_new,
						model_tree_free),
		cmocka_unit_test_setup_teardown(links_are_not_followed, model_tree_new,
						model_tree_free),
	};

	return unit_run(tests);
}

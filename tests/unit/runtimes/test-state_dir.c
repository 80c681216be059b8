// SPDX-License-Identifier: Apache-2.0
#include "state_tree.h"

#include <errno.h>

#include "runtimes/state_dir.h"

static int open_tree(const struct state_tree *tree)
{
	int fd = state_dir_open(tree->root, "/s");

	assert_true(fd >= 0);
	return fd;
}

static int read_path(const struct state_tree *tree, const char *path, size_t max)
{
	int fd = open_tree(tree), r;
	char *text = NULL;
	size_t len = 0;

	r = state_dir_read(fd, path, max, &text, &len);
	if (r == 0) {
		assert_int_equal(strlen(text), len);
		r = (int)len;
	}
	free(text);
	(void)close(fd);
	return r;
}

static void test_ids(void **state)
{
	char id[200];

	(void)state;
	assert_true(container_id_is_valid("a"));
	assert_true(container_id_is_valid("web_1.2-x"));
	assert_false(container_id_is_valid(""));
	assert_false(container_id_is_valid("."));
	assert_false(container_id_is_valid(".."));
	assert_false(container_id_is_valid("-rf"));
	assert_false(container_id_is_valid("a/b"));
	assert_false(container_id_is_valid("a\nb"));
	assert_false(container_id_is_valid("\xc3\xa4"));
	memset(id, 'a', sizeof(id));
	id[CONTAINER_ID_MAX] = '\0';
	assert_true(container_id_is_valid(id));
	id[CONTAINER_ID_MAX] = 'a';
	id[CONTAINER_ID_MAX + 1] = '\0';
	assert_false(container_id_is_valid(id));
}

static void test_read(void **state)
{
	struct state_tree tree;

	(void)state;
	tree_make(&tree);
	tree_write(&tree, "/s/a/b/file", "hello");
	tree_write(&tree, "/s/empty", "");
	assert_int_equal(read_path(&tree, "a/b/file", 5), 5);
	assert_int_equal(read_path(&tree, "a/b/file", 4), -EFBIG);
	assert_int_equal(read_path(&tree, "empty", 5), 0);
	assert_int_equal(read_path(&tree, "a/b/none", 5), -ENOENT);
	assert_int_equal(state_dir_open(tree.root, "/none"), -ENOENT);
	tree_remove(&tree, "");
}

static void test_nothing_leads_out(void **state)
{
	static const char *const out[] = { "..",  "../secret", "a/../../secret", ".",
					   "./f", "/s/f",      "a//f",           "",
					   "a/",  "a/.." };
	struct state_tree tree;

	(void)state;
	tree_make(&tree);
	tree_write(&tree, "/secret", "x");
	tree_write(&tree, "/s/f", "y");
	tree_write(&tree, "/s/a/f", "y");
	for (size_t i = 0; i < sizeof(out) / sizeof(out[0]); i++)
		assert_true(read_path(&tree, out[i], 10) < 0);
	tree_link(&tree, "/s/link", "../secret");
	tree_link(&tree, "/s/up", "..");
	tree_link(&tree, "/s/inside", "a");
	assert_int_equal(read_path(&tree, "link", 10), -ELOOP);
	assert_int_equal(read_path(&tree, "up/secret", 10), -ENOTDIR);
	assert_int_equal(read_path(&tree, "inside/f", 10), -ENOTDIR);
	tree_remove(&tree, "");
}

static void test_only_regular_files(void **state)
{
	struct state_tree tree;

	(void)state;
	tree_make(&tree);
	tree_write(&tree, "/s/d/f", "y");
	tree_fifo(&tree, "/s/fifo"); /* would hang an ordinary open */
	assert_int_equal(read_path(&tree, "fifo", 10), -EINVAL);
	assert_int_equal(read_path(&tree, "d", 10), -EINVAL);
	tree_remove(&tree, "");
}

static int count(void *userdata, int dirfd, const char *name, uint64_t inode)
{
	unsigned *seen = userdata;

	(void)dirfd;
	assert_true(inode != 0);
	assert_true(strcmp(name, "one") == 0 || strcmp(name, "two") == 0);
	return ++*seen == 3 ? -EIO : 0;
}

static void test_walk(void **state)
{
	struct state_tree tree;
	unsigned seen = 0;
	int fd;

	(void)state;
	tree_make(&tree);
	tree_write(&tree, "/s/one/f", "");
	tree_write(&tree, "/s/two/f", "");
	tree_write(&tree, "/s/file", "");
	tree_write(&tree, "/s/.hidden/f", "");
	tree_write(&tree, "/s/new\nline/f", "");
	tree_write(&tree, "/s/q\"uote/f", "");
	tree_link(&tree, "/s/link", "one");
	fd = open_tree(&tree);
	assert_int_equal(state_dir_each(fd, count, &seen), 0);
	assert_int_equal(seen, 2);
	assert_int_equal(state_dir_each(fd, count, &seen), -EIO); /* twice on one descriptor */
	(void)close(fd);
	tree_remove(&tree, "");
}

static void test_stamp(void **state)
{
	struct state_tree tree;
	uint64_t first, second;
	int fd;

	(void)state;
	tree_make(&tree);
	tree_write(&tree, "/s/f", "a");
	fd = open_tree(&tree);
	assert_int_equal(state_dir_stamp(fd, "f", &first), 0);
	assert_int_equal(state_dir_stamp(fd, "f", &second), 0);
	assert_true(first == second);
	tree_write(&tree, "/s/f", "ab");
	assert_int_equal(state_dir_stamp(fd, "f", &second), 0);
	assert_true(first != second);
	assert_int_equal(state_dir_stamp(fd, "none", &second), -ENOENT);
	(void)close(fd);
	tree_remove(&tree, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_nothing_leads_out),
		cmocka_unit_test(test_only_regular_files),
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_stamp),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

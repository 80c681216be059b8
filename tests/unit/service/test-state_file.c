// SPDX-License-Identifier: Apache-2.0
/* R50, R51: a state file that was cut, flipped or cannot be written never gives a wrong value. */
#include "service/state_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/file.h"
#include "tests/unit/unit.h"

#define MACHINE "0123456789abcdef"

static struct state *sample_state(void)
{
	struct state *state = calloc(1, sizeof(*state));

	assert_non_null(state);
	assert_int_equal(state_put(state, "package-0", "v=1 w=12.5 wx=0.25"), 0);
	assert_int_equal(state_put(state, "dram-1", ""), 0);
	assert_int_equal(state_put(state, "package-0", "v=1 w=13 wx=0.5"), 0); /* replaces */
	return state;
}

static void round_trip(void **state)
{
	CLEANUP_FREE struct state *before = sample_state();
	CLEANUP_FREE struct state *after = calloc(1, sizeof(*after));
	struct strbuf text = STRBUF_INIT;
	struct diag diag = { 0 };

	state_format(before, MACHINE, &text);
	assert_int_equal(state_parse(text.data, text.len, MACHINE, after, &diag), 0);
	assert_int_equal(after->count, 2);
	assert_string_equal(state_find(after, "package-0"), "v=1 w=13 wx=0.5");
	assert_string_equal(state_find(after, "dram-1"), "");
	assert_null(state_find(after, "package"));
	assert_int_equal(state_parse(text.data, text.len, "another", after, &diag), -EINVAL);
	assert_string_equal(diag.text, "of another machine");
	strbuf_release(&text);
}

static void cut_anywhere(void **state)
{
	CLEANUP_FREE struct state *before = sample_state();
	CLEANUP_FREE struct state *after = calloc(1, sizeof(*after));
	struct strbuf text = STRBUF_INIT;

	state_format(before, MACHINE, &text);
	for (size_t len = 0; len < text.len; len++) {
		CLEANUP_FREE char *cut = malloc(len ? len : 1); /* so that a read beyond is seen */

		memcpy(cut, text.data, len);
		after->count = 99;
		assert_int_equal(state_parse(cut, len, MACHINE, after, NULL), -EINVAL);
		assert_int_equal(after->count, 99);
	}
	strbuf_release(&text);
}

static void flipped_anywhere(void **state)
{
	CLEANUP_FREE struct state *before = sample_state();
	CLEANUP_FREE struct state *after = calloc(1, sizeof(*after));
	struct strbuf text = STRBUF_INIT;

	state_format(before, MACHINE, &text);
	for (size_t bit = 0; bit < text.len * 8; bit++) {
		text.data[bit / 8] ^= (char)(1 << bit % 8);
		assert_int_equal(state_parse(text.data, text.len, MACHINE, after, NULL), -EINVAL);
		text.data[bit / 8] ^= (char)(1 << bit % 8);
	}
	assert_int_equal(state_parse(text.data, text.len, MACHINE, after, NULL), 0);
	strbuf_release(&text);
}

static void what_it_cannot_hold(void **state)
{
	CLEANUP_FREE struct state *full = calloc(1, sizeof(*full));
	char key[STATE_KEY_MAX + 1], line[STATE_LINE_MAX + 1];

	memset(key, 'k', sizeof(key) - 1);
	key[sizeof(key) - 1] = '\0';
	memset(line, 'l', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	assert_int_equal(state_put(full, "", "x"), -EINVAL);
	assert_int_equal(state_put(full, "a b", "x"), -EINVAL);
	assert_int_equal(state_put(full, "a", "x\ny"), -EINVAL);
	assert_int_equal(state_put(full, key, "x"), -EINVAL);
	assert_int_equal(state_put(full, "a", line), -EINVAL);
	line[STATE_LINE_MAX - 1] = '\0';
	for (int i = 0; i < STATE_ENTRIES_MAX; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "zone-%d", i);
		assert_int_equal(state_put(full, name, line), 0);
	}
	assert_int_equal(state_put(full, "one-more", "x"), -ENOSPC);
	assert_int_equal(state_put(full, "zone-3", "x"), 0);
}

static void files(void **state)
{
	char dir[] = "/tmp/kepler-test-XXXXXX", sub[64], path[96];
	CLEANUP_FREE struct state *before = sample_state();
	CLEANUP_FREE struct state *after = calloc(1, sizeof(*after));
	struct diag diag = { 0 };
	struct stat st;

	assert_non_null(mkdtemp(dir));
	(void)snprintf(sub, sizeof(sub), "%s/state", dir);
	(void)snprintf(path, sizeof(path), "%s/" STATE_FILE_NAME, sub);
	assert_int_equal(state_load(sub, MACHINE, after, &diag), -ENOENT);
	assert_int_equal(state_save(sub, MACHINE, before, &diag), 0); /* makes the directory */
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(state_load(sub, MACHINE, after, &diag), 0);
	assert_int_equal(after->count, 2);

	/*
	 * a write that was cut short by a crash left a file of another name: the old one is whole
	 */
	(void)snprintf(path, sizeof(path), "%s/" STATE_FILE_NAME ".new-0badc0de", sub);
	assert_int_equal(write_file_atomic(path, "kepler-st", 9, 0600), 0);
	assert_int_equal(utimensat(AT_FDCWD, path, (const struct timespec[2]){ 0 }, 0), 0);
	assert_int_equal(state_load(sub, MACHINE, after, &diag), 0);
	assert_int_equal(state_save(sub, MACHINE, before, &diag), 0);
	assert_int_equal(stat(path, &st), -1);

	/* no place for it */
	assert_int_equal(state_save("/proc/nowhere", MACHINE, before, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "/proc/nowhere/" STATE_FILE_NAME ": "));
	assert_int_equal(state_save("/dev/full", MACHINE, before, &diag), -ENOTDIR);

	(void)snprintf(path, sizeof(path), "%s/" STATE_FILE_NAME, sub);
	assert_int_equal(truncate(path, 20), 0);
	assert_int_equal(state_load(sub, MACHINE, after, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "damaged"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(sub), 0);
	assert_int_equal(rmdir(dir), 0);
}

static void machine_key(void **state)
{
	char path[] = "/tmp/kepler-test-XXXXXX";
	char a[STATE_MACHINE_MAX], b[STATE_MACHINE_MAX], c[STATE_MACHINE_MAX];
	int fd = mkstemp(path);

	assert_true(write(fd, "b0\n", 3) == 3);
	assert_int_equal(close(fd), 0);
	state_machine_key(path, "cpu", a);
	state_machine_key(path, "cpu", b);
	assert_string_equal(a, b);
	state_machine_key(path, "other cpu", c);
	assert_string_not_equal(a, c);
	assert_int_equal(unlink(path), 0);
	state_machine_key(path, "cpu", c); /* without the file: from the facts */
	assert_string_not_equal(a, c);
	assert_int_equal(strlen(c), 16);
}

/* No boot is as another; without an id nothing is of any. */
static void test_boots_differ(void **state)
{
	char now[STATE_MACHINE_MAX], again[STATE_MACHINE_MAX], none[STATE_MACHINE_MAX] = "x";

	state_boot_key("/proc/sys/kernel/random/boot_id", now);
	state_boot_key("/proc/sys/kernel/random/boot_id", again);
	assert_true(now[0] != '\0');
	assert_string_equal(now, again);
	state_boot_key("/proc/sys/kernel/random/uuid", again);
	assert_string_not_equal(now, again);
	state_boot_key("/nonexistent", none);
	assert_string_equal(none, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_boots_differ),   cmocka_unit_test(round_trip),
		cmocka_unit_test(cut_anywhere),        cmocka_unit_test(flipped_anywhere),
		cmocka_unit_test(what_it_cannot_hold), cmocka_unit_test(files),
		cmocka_unit_test(machine_key),
	};

	return unit_run(tests);
}

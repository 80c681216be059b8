// SPDX-License-Identifier: Apache-2.0
#include "record/record_ring.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/rig/remove_tree.h"
#include "tests/unit/unit.h"

#define NOW_MS 1790000000000

static int set_up(void **state)
{
	*state = strdup("/tmp/kepler-ring-XXXXXX");
	return mkdtemp(*state) ? 0 : -1;
}

static int tear_down(void **state)
{
	int r = remove_tree(*state);

	free(*state);
	return r;
}

/* A file of @bytes that was changed @age_ms before NOW_MS. */
static void make(struct record_ring *ring, int64_t age_ms, size_t bytes)
{
	const int64_t when_ms = NOW_MS - age_ms;
	const struct timespec times[2] = { { .tv_sec = when_ms / 1000 },
					   { .tv_sec = when_ms / 1000 } };
	int fd = record_ring_open_next(ring, when_ms, NULL);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	assert_int_equal(futimens(fd, times), 0);
	(void)close(fd);
}

static bool exists(const struct record_ring *ring, const char *name)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", ring->dir, name);
	return access(path, F_OK) == 0;
}

static void what_is_old_goes(void **state)
{
	struct record_ring ring = { .dir = *state, .keep_ms = 60000, .max_bytes = 1000000 };
	char path[256];
	struct stat info;

	make(&ring, 200000, 10);
	make(&ring, 70000, 20);
	make(&ring, 50000, 30);
	assert_true(exists(&ring, "kepler-1789999930000-00002.krec"));
	(void)snprintf(path, sizeof(path), "%s/kepler-1789999950000-00003.krec", ring.dir);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0600);
	assert_int_equal(record_ring_trim(&ring, NOW_MS, NULL), 30);
	assert_false(exists(&ring, "kepler-1789999930000-00002.krec"));
	assert_true(exists(&ring, "kepler-1789999950000-00003.krec"));
	assert_int_equal(record_ring_trim(&ring, NOW_MS + 1000000, NULL), 30); /* the newest */
}

static void what_is_too_much_goes(void **state)
{
	struct record_ring ring = { .dir = *state, .keep_ms = 3600000, .max_bytes = 100 };
	char path[256];
	int fd;

	make(&ring, 3000, 40);
	make(&ring, 2000, 50);
	make(&ring, 1000, 45);
	(void)snprintf(path, sizeof(path), "%s/kepler-mine.krec", ring.dir);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	(void)close(fd);
	assert_int_equal(record_ring_trim(&ring, NOW_MS, NULL), 95);
	assert_false(exists(&ring, "kepler-1789999997000-00001.krec"));
	assert_true(exists(&ring, "kepler-1789999998000-00002.krec"));
	assert_true(exists(&ring, "kepler-mine.krec"));
}

static void a_file_ends_when_it_is_an_eighth(void **state)
{
	const struct record_ring ring = { .keep_ms = 8000, .max_bytes = 800 };

	assert_false(record_ring_is_due(&ring, 99, 999));
	assert_true(record_ring_is_due(&ring, 100, 0));
	assert_true(record_ring_is_due(&ring, 0, 1000));
}

static void without_a_directory_it_says_so(void **state)
{
	struct record_ring ring = { .dir = "/nonexistent", .keep_ms = 1, .max_bytes = 1 };
	struct diag diag = { "" };

	assert_true(record_ring_open_next(&ring, NOW_MS, &diag) < 0);
	assert_non_null(strstr(diag.text, "/nonexistent/kepler-1790000000000-00001.krec: cannot"));
	assert_true(record_ring_trim(&ring, NOW_MS, &diag) < 0);
}

static void the_content_is_counted(void **state)
{
	struct record_ring ring = { .dir = *state, .keep_ms = 60000, .max_bytes = 1000000 };
	struct record_ring_content content = { .files = 7 };

	assert_int_equal(record_ring_look(ring.dir, &content, NULL), 0);
	assert_true(content.files == 0 && content.bytes == 0 && content.changed_ms == 0);
	make(&ring, 50000, 30);
	make(&ring, 70000, 20);
	assert_int_equal(record_ring_look(ring.dir, &content, NULL), 0);
	assert_int_equal(content.files, 2);
	assert_int_equal(content.bytes, 50);
	assert_true(content.changed_ms == NOW_MS - 50000);
	assert_int_equal(record_ring_look("/nonexistent", &content, NULL), -ENOENT);
	assert_int_equal(content.files, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_content_is_counted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_old_goes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_too_much_goes, set_up, tear_down),
		cmocka_unit_test(a_file_ends_when_it_is_an_eighth),
		cmocka_unit_test(without_a_directory_it_says_so),
	};

	return unit_run(tests);
}

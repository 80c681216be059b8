// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "tests/unit/unit.h"

struct place {
	char dir[32];
	char path[64];
};

static int set_up(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	(void)snprintf(place->dir, sizeof(place->dir), "/tmp/kepler-test-XXXXXX");
	if (!mkdtemp(place->dir))
		return -1;
	(void)snprintf(place->path, sizeof(place->path), "%s/file", place->dir);
	*state = place;
	return 0;
}

static int tear_down(void **state)
{
	struct place *place = *state;
	int r;

	(void)unlink(place->path);
	r = rmdir(place->dir); /* fails when something was left behind */
	free(place);
	return r;
}

static void write_bytes(const char *path, const char *text, size_t len)
{
	assert_int_equal(write_file_atomic(path, text, len, 0640), 0);
}

static void reads_whole(void **state)
{
	const struct place *place = *state;
	char buf[8];

	write_bytes(place->path, "1234567", 7);
	assert_int_equal(read_file_at(AT_FDCWD, place->path, buf, 8), 7);
	assert_string_equal(buf, "1234567");
	assert_int_equal(read_file_at(AT_FDCWD, place->path, buf, 7), -EFBIG);
	assert_int_equal(read_file_at(AT_FDCWD, place->path, buf, 0), -EFBIG);
	write_bytes(place->path, "", 0);
	assert_int_equal(read_file_at(AT_FDCWD, place->path, buf, 8), 0);
	assert_string_equal(buf, "");
	assert_int_equal(read_file_at(AT_FDCWD, "/nonexistent", buf, 8), -ENOENT);
	assert_int_equal(read_file_at(AT_FDCWD, place->dir, buf, 8), -EISDIR);
}

static void waits_for_no_pipe(void **state)
{
	const struct place *place = *state;
	char buf[8], *text = NULL;

	assert_int_equal(mkfifo(place->path, 0600), 0);
	assert_int_equal(read_file_nowait_at(AT_FDCWD, place->path, buf, sizeof(buf)), -ESPIPE);
	assert_int_equal(read_file_alloc(place->path, 8, &text, NULL), -ENOTSUP);
	assert_int_equal(unlink(place->path), 0);
	write_bytes(place->path, "1234567", 7);
	assert_int_equal(read_file_nowait_at(AT_FDCWD, place->path, buf, sizeof(buf)), 7);
	assert_string_equal(buf, "1234567");
}

static void reads_again_from_the_start(void **state)
{
	const struct place *place = *state;
	char buf[16];
	CLEANUP_FD int dir = open(place->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP_FD int fd = -1;

	write_bytes(place->path, "one", 3);
	assert_int_equal(read_file_at(dir, "file", buf, sizeof(buf)), 3);
	fd = open(place->path, O_RDWR | O_CLOEXEC);
	assert_int_equal(read_fd(fd, buf, sizeof(buf)), 3);
	assert_int_equal(pwrite(fd, "three", 5, 0), 5);
	assert_int_equal(read_fd(fd, buf, sizeof(buf)), 5);
	assert_string_equal(buf, "three");
}

/* Reads that this process has made so far, or SIZE_MAX where the kernel does not count them. */
static size_t count_reads(void)
{
	char text[512];
	const char *at;

	if (read_file_at(AT_FDCWD, "/proc/self/io", text, sizeof(text)) < 0)
		return SIZE_MAX;
	at = strstr(text, "syscr: ");
	return at ? strtoul(at + strlen("syscr: "), NULL, 10) : SIZE_MAX;
}

static size_t reads_of(ssize_t (*read)(int, char *, size_t), int fd, const char *expected)
{
	char buf[16];
	size_t before = count_reads();

	assert_int_equal(read(fd, buf, sizeof(buf)), strlen(expected));
	assert_string_equal(buf, expected);
	return before == SIZE_MAX ? SIZE_MAX : count_reads() - before;
}

static void reads_a_piece_at_once(void **state)
{
	const struct place *place = *state;
	CLEANUP_FD int fd = -1;
	size_t whole, piece;

	write_bytes(place->path, "12345", 5);
	fd = open(place->path, O_RDWR | O_CLOEXEC);
	assert_int_equal(reads_of(read_piece_fd, fd, "12345"), reads_of(read_fd, fd, "12345"));
	assert_int_equal(pwrite(fd, "1234\n", 5, 0), 5);
	whole = reads_of(read_fd, fd, "1234\n");
	piece = reads_of(read_piece_fd, fd, "1234\n");
	assert_int_equal(piece, whole == SIZE_MAX ? SIZE_MAX : whole - 1);
}

static void reads_into_memory(void **state)
{
	const struct place *place = *state;
	size_t sizes[] = { 0, 1, 4095, 4096, 4097, 8192, 100000 };
	char *big = malloc(100000), *text = NULL;
	size_t len;

	memset(big, 'x', 100000);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		write_bytes(place->path, big, sizes[i]);
		assert_int_equal(read_file_alloc(place->path, sizes[i], &text, &len), 0);
		assert_int_equal(len, sizes[i]);
		assert_int_equal(text[len], '\0');
		assert_int_equal(strlen(text), len);
		free(text);
		if (sizes[i])
			assert_int_equal(read_file_alloc(place->path, sizes[i] - 1, &text, &len),
					 -EFBIG);
	}
	assert_int_equal(read_file_alloc("/proc/self/stat", 4096, &text, NULL),
			 0); /* size 0 in stat() */
	assert_true(strlen(text) > 20);
	free(text);
	free(big);
}

static void joins(void **state)
{
	char buf[12];

	assert_int_equal(path_join(buf, sizeof(buf), "/sys", "a"), 0);
	assert_string_equal(buf, "/sys/a");
	assert_int_equal(path_join(buf, sizeof(buf), "/sys///", "//a/b"), 0);
	assert_string_equal(buf, "/sys/a/b");
	assert_int_equal(path_join(buf, sizeof(buf), "/", "a"), 0);
	assert_string_equal(buf, "/a");
	assert_int_equal(path_join(buf, sizeof(buf), "//", "a"), 0);
	assert_string_equal(buf, "/a");
	assert_int_equal(path_join(buf, sizeof(buf), "", "a"), 0); /* not the root */
	assert_string_equal(buf, "a");
	assert_int_equal(path_join(buf, sizeof(buf), "12345", "67890"), 0);
	assert_int_equal(path_join(buf, sizeof(buf), "123456", "67890"), -ENAMETOOLONG);
}

static void replaces_atomically(void **state)
{
	const struct place *place = *state;
	struct stat before, after;

	write_bytes(place->path, "old", 3);
	assert_int_equal(stat(place->path, &before), 0);
	assert_int_equal(before.st_mode & 0777, 0640);
	write_bytes(place->path, "new", 3);
	assert_int_equal(stat(place->path, &after), 0);
	assert_int_not_equal(before.st_ino, after.st_ino); /* another file under the name */
}

static unsigned synced_files, synced_directories;

int __real_fsync(int fd);
int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	if (S_ISDIR(st.st_mode)) {
		assert_true(synced_files >
			    synced_directories); /* what the new name points to comes first */
		synced_directories++;
	} else {
		synced_files++;
	}
	return __real_fsync(fd);
}

static void survives_a_power_cut(void **state)
{
	const struct place *place = *state;

	synced_files = synced_directories = 0;
	write_bytes(place->path, "new", 3);
	assert_int_equal(synced_files, 1);
	assert_int_equal(synced_directories, 1);
}

static void make_old(const char *path, time_t age_s)
{
	struct timespec times[2] = { { .tv_sec = time(NULL) - age_s } };

	times[1] = times[0];
	assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

/* The file of a killed writer is removed; a file that is being written, or another file, stays. */
static void removes_what_was_left(void **state)
{
	static const struct {
		const char *name;
		time_t age_s;
		bool stays;
	} files[] = {
		{ "file.new-0123abcd", 3600, false }, { "file.new-link", 3600, false },
		{ "file.new-4567cdef", 5, true },     { "file.news", 3600, true },
		{ "other.new-0123abcd", 3600, true },
	};
	const struct place *place = *state;
	char path[96], victim[64];

	(void)snprintf(victim, sizeof(victim), "%s/victim", place->dir);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", place->dir, files[i].name);
		if (strstr(files[i].name, "link")) {
			assert_int_equal(symlink(victim, path), 0);
		} else {
			int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

			assert_true(fd >= 0 && close(fd) == 0);
		}
		make_old(path, files[i].age_s);
	}
	write_bytes(place->path, "x", 1);
	assert_int_equal(access(victim, F_OK), -1); /* a symbolic link is not followed */
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct stat st;

		(void)snprintf(path, sizeof(path), "%s/%s", place->dir, files[i].name);
		if ((lstat(path, &st) == 0) != files[i].stays)
			fail_msg("%s %s", files[i].name, files[i].stays ? "is gone" : "is left");
		(void)unlink(path);
	}
}

/* Root may name a device: --output=/dev/null must not make a file of it. */
static void only_a_file_is_replaced(void **state)
{
	struct place *place = *state;
	struct stat st;
	char text[8] = "";
	int fd;

	assert_int_equal(mkfifo(place->path, 0600), 0);
	fd = open(place->path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write_file_atomic(place->path, "x", 1, 0600), -ENOTSUP);
	assert_int_equal(write_output_file(place->path, "out", 3, 0600), 0);
	assert_int_equal(read(fd, text, sizeof(text)), 3);
	assert_string_equal(text, "out");
	assert_int_equal(lstat(place->path, &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	(void)close(fd);
	assert_int_equal(unlink(place->path), 0);
	assert_int_equal(symlink("/dev/full", place->path), 0);
	assert_int_equal(write_file_atomic(place->path, "x", 1, 0600), -ENOTSUP);
	assert_int_equal(write_output_file(place->path, "x", 1, 0600), -ENOTSUP);
	assert_int_equal(lstat(place->path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(write_output_file("/dev/full", "x", 1, 0600), -ENOSPC);
	assert_int_equal(lstat("/dev/full", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(unlink(place->path), 0);
	assert_int_equal(write_output_file(place->path, "new", 3, 0600), 0);
	assert_int_equal(read_file_at(AT_FDCWD, place->path, text, sizeof(text)), 3);
}

/* R51: what cannot be written leaves the old file and no other. */
static void replaces_piece_by_piece(void **state)
{
	struct file_replacement file = { .is_open = false };
	struct place *place = *state;
	char text[32];

	file_replacement_close(&file);
	write_bytes(place->path, "old", 3);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(file_replacement_open(&file, place->path, 0640), 0);
		assert_int_equal(file_replacement_write(&file, "new", 3), 0);
		assert_int_equal(file_replacement_write(&file, " text", 5), 0);
		assert_int_equal(read_file_at(AT_FDCWD, place->path, text, sizeof(text)), 3);
		assert_string_equal(text, "old");
		if (i == 0)
			file_replacement_close(&file); /* leaves nothing: tear_down() sees it */
		else
			assert_int_equal(file_replacement_finish(&file), 0);
		assert_false(file.is_open);
	}
	assert_int_equal(read_file_at(AT_FDCWD, place->path, text, sizeof(text)), 8);
	assert_string_equal(text, "new text");
}

static void keeps_the_old_file(void **state)
{
	const struct place *place = *state;
	struct rlimit limit, small;
	char buf[16], longer[5000];

	write_bytes(place->path, "old", 3);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = limit;
	small.rlim_cur = 4;
	(void)sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(write_file_atomic(place->path, "0123456789", 10, 0600), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(read_file_at(AT_FDCWD, place->path, buf, sizeof(buf)), 3);

	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(write_file_atomic(longer, "x", 1, 0600), -ENAMETOOLONG);
	assert_int_equal(write_file_atomic("/nonexistent/file", "x", 1, 0600), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads_whole, set_up, tear_down),
		cmocka_unit_test_setup_teardown(waits_for_no_pipe, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reads_again_from_the_start, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reads_a_piece_at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reads_into_memory, set_up, tear_down),
		cmocka_unit_test(joins),
		cmocka_unit_test_setup_teardown(replaces_atomically, set_up, tear_down),
		cmocka_unit_test_setup_teardown(only_a_file_is_replaced, set_up, tear_down),
		cmocka_unit_test_setup_teardown(replaces_piece_by_piece, set_up, tear_down),
		cmocka_unit_test_setup_teardown(keeps_the_old_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(survives_a_power_cut, set_up, tear_down),
		cmocka_unit_test_setup_teardown(removes_what_was_left, set_up, tear_down),
	};

	return unit_run(tests);
}

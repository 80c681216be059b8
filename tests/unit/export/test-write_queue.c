// SPDX-License-Identifier: Apache-2.0
#include "export/remote-write/write_queue.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/remote-write/snappy_block.h"
#include "export/remote-write/write_turn.h"
#include "tests/unit/unit.h"

#define KB      1024
#define HOUR_MS 3600000

static char folder[64];

static int make_folder(void **state)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/test-queue-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

static struct write_queue *open_queue(uint64_t max_bytes)
{
	const struct write_queue_options options = { folder, max_bytes, HOUR_MS };
	struct write_queue *queue;
	struct diag diag = { "" };

	assert_int_equal(write_queue_open(&options, &queue, &diag), 0);
	assert_int_equal(write_queue_open_disk(queue, &diag), 0);
	return queue;
}

/* Messages are their number, as text of a fixed size. */
static void put(struct write_queue *queue, int number, size_t size)
{
	char *message = calloc(1, size);

	assert_non_null(message);
	(void)snprintf(message, size, "%d", number);
	write_queue_put(queue, message, size, 10, number);
	free(message);
}

/* The number of the oldest, or -1. */
static int peek(struct write_queue *queue, int64_t now_ms)
{
	CLEANUP(strbuf_release) struct strbuf message = STRBUF_INIT;
	uint32_t series;
	int r = write_queue_peek(queue, now_ms, &message, &series);

	assert_true(r >= 0);
	assert_true(r == 0 || series == 10);
	return r ? (int)strtol(message.data, NULL, 10) : -1;
}

static void assert_rest(struct write_queue *queue, int first, int last)
{
	for (int i = first; i <= last; i++) {
		assert_int_equal(peek(queue, 0), i);
		assert_int_equal(peek(queue, 0), i);
		write_queue_pop(queue);
	}
	assert_int_equal(peek(queue, 0), -1);
}

static void messages_leave_in_their_order(void **state)
{
	struct write_queue *queue = open_queue(1024 * KB);

	for (int i = 0; i < 9; i++)
		put(queue, i, 100 * KB);
	assert_rest(queue, 0, 8);
	put(queue, 9, KB);
	assert_rest(queue, 9, 9);
	write_queue_close(queue);
}

static void a_restart_loses_and_repeats_nothing(void **state)
{
	struct write_queue *queue = open_queue(1024 * KB);

	for (int i = 0; i < 6; i++)
		put(queue, i, 100 * KB);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(peek(queue, 0), i);
		write_queue_pop(queue);
	}
	write_queue_close(queue);
	queue = open_queue(1024 * KB);
	put(queue, 6, KB);
	assert_rest(queue, 4, 6);
	write_queue_close(queue);
}

/* Calls @damage with the descriptor of the newest file and its size. */
static void damage_newest(void (*damage)(int fd, off_t size))
{
	char newest[300] = "", path[400];
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	struct stat st;
	int fd;

	while ((entry = readdir(dir))) {
		if (strstr(entry->d_name, ".seg") && strcmp(entry->d_name, newest) > 0)
			(void)snprintf(newest, sizeof(newest), "%s", entry->d_name);
	}
	assert_int_equal(closedir(dir), 0);
	(void)snprintf(path, sizeof(path), "%s/%s", folder, newest);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	damage(fd, st.st_size);
	assert_int_equal(close(fd), 0);
}

static void cut(int fd, off_t size)
{
	assert_int_equal(ftruncate(fd, size - 1), 0);
}

static void flip(int fd, off_t size)
{
	assert_int_equal(pwrite(fd, "?", 1, size - 1), 1);
}

static void scribble(int fd, off_t size)
{
	assert_int_equal(pwrite(fd, "????????", 8, size), 8);
}

static void only_a_torn_end_is_lost(void **state)
{
	static void (*const damages[])(int, off_t) = { cut, flip, scribble };

	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		struct write_queue *queue = open_queue(1024 * KB);
		struct write_queue_state got;

		for (int j = 0; j < 3; j++)
			put(queue, j, KB);
		write_queue_close(queue);
		damage_newest(damages[i]);
		queue = open_queue(1024 * KB);
		put(queue, 3, KB);
		assert_int_equal(peek(queue, 0), 0);
		write_queue_pop(queue);
		assert_int_equal(peek(queue, 0), 1);
		write_queue_pop(queue);
		if (damages[i] == scribble) {
			assert_int_equal(peek(queue, 0), 2);
			write_queue_pop(queue);
		}
		assert_rest(queue, 3, 3);
		write_queue_state(queue, &got);
		assert_true(got.dropped_damaged > 0);
		write_queue_close(queue);
	}
}

static void beyond_its_size_the_oldest_are_dropped(void **state)
{
	struct write_queue *queue = open_queue(1024 * KB);
	struct write_queue_state got;
	int first;

	for (int i = 0; i < 40; i++) {
		put(queue, i, 100 * KB);
		write_queue_state(queue, &got);
		assert_true(got.bytes <= 1024 * KB);
	}
	first = peek(queue, 0);
	assert_true(first >= 30 && first <= 34);
	assert_int_equal(got.dropped_full, (uint64_t)first * 10);
	assert_rest(queue, first, 39);
	write_queue_close(queue);
}

static void what_is_dropped_while_it_is_sent_is_not_taken_twice(void **state)
{
	struct write_queue *queue = open_queue(1024 * KB);
	int first;

	put(queue, 0, 100 * KB);
	assert_int_equal(peek(queue, 0), 0);
	for (int i = 1; i < 20; i++)
		put(queue, i, 100 * KB);
	write_queue_pop(queue);
	first = peek(queue, 0);
	assert_rest(queue, first, 19);
	write_queue_close(queue);
}

/* Files that an earlier program left, more than are followed: the newest stay. */
static void of_too_many_files_the_oldest_are_removed(void **state)
{
	struct write_queue_state now;
	struct write_queue *queue;
	unsigned left = 0;
	char path[128];

	for (unsigned number = 1; number <= 300; number++) {
		int fd;

		(void)snprintf(path, sizeof(path), "%s/%016x.seg", folder, number);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
		assert_true(fd >= 0 && write(fd, "x", 1) == 1);
		assert_int_equal(close(fd), 0);
	}
	queue = open_queue(16 * KB);
	write_queue_state(queue, &now);
	assert_int_equal(now.bytes, 256);
	for (unsigned number = 1; number <= 300; number++) {
		(void)snprintf(path, sizeof(path), "%s/%016x.seg", folder, number);
		if (access(path, F_OK) < 0)
			continue;
		assert_true(number > 300 - 256);
		left++;
	}
	assert_int_equal(left, 256);
	put(queue, 7, KB); /* after these, which are damaged */
	assert_int_equal(peek(queue, 0), 7);
	write_queue_close(queue);
}

static void a_clock_that_is_set_back_does_not_end_the_pushes(void **state)
{
	assert_int_equal(write_turn_of(0, 1000), WRITE_TURN_NEXT);
	assert_int_equal(write_turn_of(1000, 2000), WRITE_TURN_NEXT);
	assert_int_equal(write_turn_of(2000, 2000), WRITE_TURN_NONE);
	assert_int_equal(write_turn_of(2000, 1000), WRITE_TURN_BACK);
	assert_int_equal(write_turn_of(1000, 1500), WRITE_TURN_NEXT); /* in the new order */
}

static void old_messages_are_not_sent(void **state)
{
	struct write_queue *queue = open_queue(1024 * KB);
	struct write_queue_state got;

	put(queue, 1, KB);
	put(queue, 5, KB);
	assert_int_equal(peek(queue, HOUR_MS + 3), 5);
	write_queue_state(queue, &got);
	assert_int_equal(got.dropped_old, 10);
	assert_int_equal(got.oldest_ms, 5);
	write_queue_pop(queue);
	write_queue_close(queue);
}

/* A limit on the size of files is a disk that is full; SIGXFSZ is ignored. */
static void a_full_disk_leaves_memory(void **state)
{
	struct write_queue *queue = open_queue(16 * 1024 * KB);
	struct write_queue_state got;
	struct rlimit before, small;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){ 250 * KB, before.rlim_max };
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (int i = 0; i < 5; i++)
		put(queue, i, 100 * KB);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	write_queue_state(queue, &got);
	assert_int_equal(got.disk_errors, 1);
	put(queue, 5, KB);
	assert_rest(queue, 0, 5);
	put(queue, 6, KB);
	assert_rest(queue, 6, 6);
	for (int i = 0; i < 50; i++)
		put(queue, i, 100 * KB);
	write_queue_close(queue);
}

static void memory_alone_is_bounded(void **state)
{
	const struct write_queue_options options = { .max_age_ms = HOUR_MS };
	struct write_queue *queue;
	struct write_queue_state got;
	struct diag diag;

	assert_int_equal(write_queue_open(&options, &queue, &diag), 0);
	for (int i = 0; i < 30; i++)
		put(queue, i, 100 * KB);
	write_queue_state(queue, &got);
	assert_int_equal(got.bytes, 20 * 100 * KB);
	assert_int_equal(got.dropped_full, 100);
	assert_rest(queue, 10, 29);
	write_queue_close(queue);
}

static void a_block_of_literals_is_what_it_was(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	char *bytes = calloc(1, 65537);

	assert_int_equal(snappy_block_literal(bytes, 65537, &out), 0);
	assert_memory_equal(out.data, "\x81\x80\x04\xf4\xff\xff", 6);
	assert_memory_equal(out.data + 6 + 65536, "\xf4\x00\x00\x00", 4);
	assert_int_equal(out.len, 6 + 65536 + 4);
	free(bytes);
}

int main(void)
{
#define ON_DISK(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
	const struct CMUnitTest tests[] = {
		ON_DISK(messages_leave_in_their_order),
		ON_DISK(a_restart_loses_and_repeats_nothing),
		ON_DISK(only_a_torn_end_is_lost),
		ON_DISK(beyond_its_size_the_oldest_are_dropped),
		ON_DISK(what_is_dropped_while_it_is_sent_is_not_taken_twice),
		ON_DISK(of_too_many_files_the_oldest_are_removed),
		ON_DISK(old_messages_are_not_sent),
		cmocka_unit_test(a_clock_that_is_set_back_does_not_end_the_pushes),
		ON_DISK(a_full_disk_leaves_memory),
		cmocka_unit_test(memory_alone_is_bounded),
		cmocka_unit_test(a_block_of_literals_is_what_it_was),
	};

	return unit_run(tests);
}

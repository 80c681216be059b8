// SPDX-License-Identifier: Apache-2.0
#include "export/remote-write/write_handover.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/unit.h"

#define KB       1024
#define HOUR_MS  3600000
#define PATIENCE (60 * NSEC_PER_SEC)
#define NO_LIMIT (3600 * NSEC_PER_SEC)

/* ---- a disk that hangs while the gate is closed ---- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_closed;
	unsigned waiting;
} gate = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

ssize_t __real_pwrite64(int fd, const void *bytes, size_t len, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t len, off_t offset);

static void pass_gate(void)
{
	(void)pthread_mutex_lock(&gate.lock);
	gate.waiting++;
	(void)pthread_cond_broadcast(&gate.changed);
	while (gate.is_closed)
		(void)pthread_cond_wait(&gate.changed, &gate.lock);
	gate.waiting--;
	(void)pthread_mutex_unlock(&gate.lock);
}

ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t len, off_t offset)
{
	pass_gate();
	return __real_pwrite64(fd, bytes, len, offset);
}

/* The first call that opens the queue. */
int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);

int __wrap_mkdir(const char *path, mode_t mode)
{
	pass_gate();
	return __real_mkdir(path, mode);
}

static void set_gate(bool is_closed)
{
	(void)pthread_mutex_lock(&gate.lock);
	gate.is_closed = is_closed;
	(void)pthread_cond_broadcast(&gate.changed);
	(void)pthread_mutex_unlock(&gate.lock);
}

static void wait_until_it_hangs(void)
{
	(void)pthread_mutex_lock(&gate.lock);
	while (!gate.waiting)
		(void)pthread_cond_wait(&gate.changed, &gate.lock);
	(void)pthread_mutex_unlock(&gate.lock);
}

/* ---- a queue on it ---- */

static char folder[64];
static struct write_queue *queue;
static struct write_handover *handover;
static struct send_receiver counts;

static void nothing(void)
{
}

/* Returns what the start of the program gets within @open_ns. */
static int start_in(const char *in, uint64_t patience_ns, uint64_t open_ns, struct diag *diag)
{
	const struct write_queue_options options = { in, 64 * 1024 * KB, HOUR_MS };
	struct write_handover_options given = { .patience_ns = patience_ns,
						.counts = &counts,
						.start_thread = nothing };

	counts.dropped_disk = 0;
	counts.words.error[0] = '\0';
	assert_int_equal(write_queue_open(&options, &queue, diag), 0);
	given.queue = queue;
	assert_int_equal(write_handover_start(&given, &handover), 0);
	return write_handover_wait_open(handover, clock_ns(CLOCK_MONOTONIC) + open_ns, diag);
}

static void start(uint64_t patience_ns)
{
	struct diag diag = { "" };

	assert_int_equal(start_in(folder, patience_ns, PATIENCE, &diag), 0);
}

static int make_folder(void **state)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/test-handover-XXXXXX");
	set_gate(false);
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

static void put(int number, size_t size)
{
	char *message = calloc(1, size);

	assert_non_null(message);
	(void)snprintf(message, size, "%d", number);
	write_handover_put(handover, message, size, 10, number);
	free(message);
}

/* After the hand-over has stopped: the queue has these, and nothing else. */
static void assert_queue_has(const int *numbers, size_t count)
{
	CLEANUP(strbuf_release) struct strbuf message = STRBUF_INIT;
	uint32_t series;

	for (size_t i = 0; i < count; i++) {
		assert_int_equal(write_queue_peek(queue, 0, &message, &series), 1);
		assert_int_equal(strtol(message.data, NULL, 10), numbers[i]);
		write_queue_pop(queue);
	}
	assert_int_equal(write_queue_peek(queue, 0, &message, &series), 0);
	write_queue_close(queue);
}

/* ---- the tests ---- */

static void all_of_it_arrives_in_its_order(void **state)
{
	int numbers[200];

	start(NO_LIMIT);
	for (int i = 0; i < 200; i++) {
		numbers[i] = i;
		put(i, 100 * KB); /* 20 MB: it waits for room */
	}
	assert_int_equal(write_handover_stop(handover, PATIENCE), 0);
	assert_int_equal(counts.dropped_disk, 0);
	assert_queue_has(numbers, 200);
}

/* If one of these calls waited for the disk, it would wait for ever. */
static void a_disk_that_hangs_costs_the_oldest_messages(void **state)
{
	const int left[] = { 0,  11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
			     21, 22, 23, 24, 25, 26, 27, 28, 29, 30 };

	start(0);
	set_gate(true);
	put(0, 100 * KB);
	wait_until_it_hangs();
	for (int i = 1; i <= 30; i++)
		put(i, 100 * KB);
	assert_int_equal(__atomic_load_n(&counts.dropped_disk, __ATOMIC_RELAXED), 100);
	assert_int_equal(write_handover_stop(handover, 1), -ETIMEDOUT);
	set_gate(false);
	assert_int_equal(write_handover_stop(handover, PATIENCE), 0);
	assert_queue_has(left, ARRAY_SIZE(left));
}

static void many_small_messages_are_bounded_by_their_number(void **state)
{
	start(0);
	set_gate(true);
	put(0, 10);
	wait_until_it_hangs();
	for (int i = 1; i <= WRITE_HANDOVER_MESSAGES + 3; i++)
		put(i, 10);
	assert_int_equal(__atomic_load_n(&counts.dropped_disk, __ATOMIC_RELAXED), 30);
	set_gate(false);
	assert_int_equal(write_handover_stop(handover, PATIENCE), 0);
	write_queue_close(queue);
}

/* Once it has waited in vain, it drops at once; after the disk has responded it waits again. */
static void it_waits_once_for_a_disk_that_hangs(void **state)
{
	start(NSEC_PER_MSEC);
	set_gate(true);
	put(0, 1500 * KB);
	wait_until_it_hangs();
	put(1, 1500 * KB);
	put(2, 1500 * KB);
	assert_int_equal(__atomic_load_n(&counts.dropped_disk, __ATOMIC_RELAXED), 10);
	put(3, 1500 * KB);
	assert_int_equal(__atomic_load_n(&counts.dropped_disk, __ATOMIC_RELAXED), 20);
	set_gate(false);
	assert_int_equal(write_handover_stop(handover, PATIENCE), 0);
	assert_queue_has((const int[]){ 0, 3 }, 2);
}

/* The program starts, says why nothing is sent, and loses no more than later. */
static void a_disk_that_hangs_at_the_start_is_state(void **state)
{
	const int left[] = { 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
			     21, 22, 23, 24, 25, 26, 27, 28, 29, 30 };
	CLEANUP(strbuf_release) struct strbuf message = STRBUF_INIT;
	struct diag diag = { "" };
	uint32_t series;

	set_gate(true);
	assert_int_equal(start_in(folder, NO_LIMIT, NSEC_PER_MSEC, &diag), 0);
	assert_string_equal(counts.words.error,
			    "the disk of remote-write.queue-dir does not respond");
	for (int i = 1; i <= 30; i++)
		put(i, 100 * KB);
	assert_int_equal(__atomic_load_n(&counts.dropped_disk, __ATOMIC_RELAXED), 100);
	assert_int_equal(write_queue_peek(queue, 0, &message, &series), 0); /* at once */
	set_gate(false);
	assert_int_equal(write_handover_stop(handover, PATIENCE), 0);
	assert_queue_has(left, ARRAY_SIZE(left));
}

static void a_folder_that_cannot_be_made_is_reported(void **state)
{
	struct diag diag = { "" };

	assert_int_equal(start_in("/dev/null/queue", 0, PATIENCE, &diag), -ENOTDIR);
	assert_string_equal(diag.text, "/dev/null/queue: cannot be made: Not a directory");
	put(1, 10);
	assert_int_equal(write_handover_stop(handover, PATIENCE), 0);
	assert_queue_has((const int[]){ 1 }, 1);
}

/* At the end of the program nothing waits for a disk that hangs, and what it takes is not lost. */
static void the_end_does_not_wait_for_room(void **state)
{
	start(NO_LIMIT);
	set_gate(true);
	put(0, 1500 * KB);
	wait_until_it_hangs();
	put(1, 1500 * KB);
	write_handover_ask_to_stop(handover);
	put(2, 1500 * KB);
	set_gate(false);
	assert_int_equal(write_handover_stop(handover, PATIENCE), 0);
	assert_queue_has((const int[]){ 0, 2 }, 2);
}

int main(void)
{
#define ON_DISK(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
	const struct CMUnitTest tests[] = {
		ON_DISK(all_of_it_arrives_in_its_order),
		ON_DISK(a_disk_that_hangs_costs_the_oldest_messages),
		ON_DISK(many_small_messages_are_bounded_by_their_number),
		ON_DISK(it_waits_once_for_a_disk_that_hangs),
		ON_DISK(a_disk_that_hangs_at_the_start_is_state),
		ON_DISK(a_folder_that_cannot_be_made_is_reported),
		ON_DISK(the_end_does_not_wait_for_room),
	};

	return unit_run(tests);
}

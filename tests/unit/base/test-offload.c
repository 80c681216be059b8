// SPDX-License-Identifier: Apache-2.0
/*
 * Jobs that read from a pipe hang until the test writes to it. Events that have to happen are
 * waited for, as long as the test's own limit permits; events that must not happen are looked for
 * afterwards.
 */
#include "base/hostile.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/offload.h"
#include "tests/unit/unit.h"

#define FOR_EVER_MS 60000
#define FAR_NS      (60 * NSEC_PER_SEC)

static atomic_uint ran, dropped, started;

/* Reads one byte from a pipe and keeps it; a job without a pipe is over at once. */
struct read_job {
	struct offload_job job;
	int fd;
	char byte;
};

static void job_run(struct offload_job *job)
{
	struct read_job *mine = (struct read_job *)job;

	if (mine->fd >= 0 && read(mine->fd, &mine->byte, 1) != 1)
		mine->byte = '!';
	atomic_fetch_add(&ran, 1);
}

static void job_drop(struct offload_job *job)
{
	atomic_fetch_add(&dropped, 1);
	free(job);
}

static void note_start(void)
{
	atomic_fetch_add(&started, 1);
}

static struct read_job *new_job(int fd)
{
	struct read_job *mine = calloc(1, sizeof(*mine));

	assert_non_null(mine);
	mine->job.run = job_run;
	mine->job.drop = job_drop;
	mine->fd = fd;
	return mine;
}

static struct offload *new_pool(size_t threads, size_t waiting)
{
	const struct offload_options options = { .max_threads = threads,
						 .max_waiting = waiting,
						 .start_thread = note_start };
	struct offload *offload;

	atomic_store(&ran, 0);
	atomic_store(&dropped, 0);
	atomic_store(&started, 0);
	assert_int_equal(offload_new(&options, &offload), 0);
	return offload;
}

static bool has_finished(const struct offload *offload, int timeout_ms)
{
	struct pollfd fd = { .fd = offload_fd(offload), .events = POLLIN };

	return poll(&fd, 1, timeout_ms) == 1;
}

static struct read_job *take(struct offload *offload)
{
	assert_true(has_finished(offload, FOR_EVER_MS));
	return (struct read_job *)offload_take(offload);
}

/* Until a job sits in its read. */
static void wait_until_running(struct offload *offload, size_t running)
{
	struct offload_stats stats;

	do {
		(void)poll(NULL, 0, 1);
		offload_get_stats(offload, &stats);
	} while (stats.running != running);
}

static void submit(struct offload *offload, struct read_job *mine)
{
	assert_int_equal(offload_submit(offload, &mine->job), 0);
}

static void close_pipe(const int fds[2])
{
	(void)close(fds[0]);
	(void)close(fds[1]);
}

static void a_job_comes_back(void **state)
{
	struct offload *offload = new_pool(2, 4);
	struct offload_stats stats;
	struct read_job *mine;

	offload_get_stats(offload, &stats);
	assert_int_equal(stats.threads, 0); /* lazily */
	assert_null(offload_take(offload));
	assert_false(has_finished(offload, 0));
	for (int i = 0; i < 100; i++) {
		submit(offload, new_job(-1));
		mine = take(offload);
		assert_non_null(mine);
		assert_int_equal(atomic_load(&ran), i + 1);
		free(mine);
		assert_false(has_finished(offload, 0));
		assert_null(offload_take(offload));
	}
	assert_in_range(atomic_load(&started), 1, HOSTILE_OR(101, 2));
	offload_free(offload, FAR_NS);
	assert_int_equal(atomic_load(&dropped), 0);
}

static void others_pass_one_that_hangs(void **state)
{
	struct offload *offload = new_pool(2, 4);
	struct read_job *hanging, *mine;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	hanging = new_job(fds[0]);
	submit(offload, hanging);
	for (int i = 0; i < 10; i++) {
		submit(offload, new_job(-1));
		mine = take(offload);
		assert_ptr_not_equal(mine, hanging);
		free(mine);
	}
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_ptr_equal(take(offload), hanging);
	assert_int_equal(hanging->byte, 'x');
	free(hanging);
	offload_free(offload, FAR_NS);
	close_pipe(fds);
}

/* The owner makes the first thread only: a job that hangs leaves one that is ready. */
static void a_thread_is_ready_before_it_is_wanted(void **state)
{
	struct offload *offload = new_pool(2, 4);
	struct offload_stats stats;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	submit(offload, new_job(fds[0]));
	while (atomic_load(&started) < 2)
		(void)poll(NULL, 0, 1);
	offload_get_stats(offload, &stats);
	assert_int_equal(stats.threads, 2);
	assert_int_equal(stats.running, 1);
	assert_int_equal(stats.waiting, 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	free(take(offload));
	offload_free(offload, FAR_NS);
	close_pipe(fds);
}

static void a_full_pool_says_so(void **state)
{
	struct offload *offload = new_pool(2, 1);
	struct read_job *late;
	struct offload_stats stats;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	late = new_job(-1);
	for (int i = 0; i < 2; i++)
		submit(offload, new_job(fds[0]));
	wait_until_running(offload, 2);
	submit(offload, new_job(fds[0]));
	assert_int_equal(offload_submit(offload, &late->job), -EBUSY);
	offload_get_stats(offload, &stats);
	assert_int_equal(stats.threads, 2);
	assert_int_equal(stats.running, 2);
	assert_int_equal(stats.waiting, 1);
	assert_int_equal(write(fds[1], "xyz", 3), 3);
	for (int i = 0; i < 3; i++)
		free(take(offload));
	submit(offload, late); /* the threads are of use again */
	free(take(offload));
	offload_free(offload, FAR_NS);
	assert_int_equal(atomic_load(&dropped), 0);
	close_pipe(fds);
}

static void an_abandoned_job_is_dropped_when_it_ends(void **state)
{
	struct offload *offload = new_pool(1, 4);
	struct read_job *running, *waiting, *finished;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	finished = new_job(-1);
	submit(offload, finished);
	assert_true(has_finished(offload, FOR_EVER_MS));
	offload_abandon(offload, &finished->job);
	assert_int_equal(atomic_load(&dropped), 1);
	assert_false(has_finished(offload, 0));

	running = new_job(fds[0]);
	submit(offload, running);
	wait_until_running(offload, 1);
	waiting = new_job(-1);
	submit(offload, waiting);
	submit(offload, new_job(-1));
	offload_abandon(offload, &waiting->job);
	assert_int_equal(atomic_load(&dropped), 2);
	offload_abandon(offload, &running->job);
	assert_int_equal(atomic_load(&dropped), 2); /* it hangs on */
	assert_int_equal(write(fds[1], "x", 1), 1);
	free(take(offload)); /* the one after it */
	assert_int_equal(atomic_load(&dropped), 3);
	assert_null(offload_take(offload));
	offload_free(offload, FAR_NS);
	close_pipe(fds);
}

static void the_end_waits_for_nothing(void **state)
{
	struct offload *offload = new_pool(1, 4);
	uint64_t start_ns;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	submit(offload, new_job(fds[0]));
	wait_until_running(offload, 1);
	submit(offload, new_job(-1));
	start_ns = clock_ns(CLOCK_MONOTONIC);
	offload_free(offload, 20 * NSEC_PER_MSEC);
	assert_true(clock_ns(CLOCK_MONOTONIC) - start_ns < FAR_NS / 2);
	assert_int_equal(atomic_load(&dropped), 1); /* the one that waited */
	assert_int_equal(write(fds[1], "x", 1), 1);
	while (atomic_load(&dropped) != 2) /* then the thread frees what it had */
		(void)poll(NULL, 0, 1);
	close_pipe(fds);
}

static atomic_bool all_blocked;

static void look_at_signals(struct offload_job *job)
{
	sigset_t set;

	(void)job;
	(void)pthread_sigmask(SIG_SETMASK, NULL, &set);
	atomic_store(&all_blocked, sigismember(&set, SIGTERM) == 1 &&
					   sigismember(&set, SIGHUP) == 1 &&
					   sigismember(&set, SIGALRM) == 1);
}

static void signals_are_not_its_business(void **state)
{
	struct offload *offload = new_pool(1, 0);
	struct read_job *mine = new_job(-1);
	sigset_t set;

	mine->job.run = look_at_signals;
	submit(offload, mine);
	free(take(offload));
	assert_true(atomic_load(&all_blocked));
	(void)pthread_sigmask(SIG_SETMASK, NULL, &set);
	assert_int_equal(sigismember(&set, SIGTERM), 0); /* the caller's are as they were */
	offload_free(offload, FAR_NS);
}

/* Each job is seen exactly once, taken or dropped, whatever happens at the same time. */
static void none_is_lost_or_seen_twice(void **state)
{
	struct offload *offload = new_pool(4, 16);
	unsigned submitted = 0, taken = 0;
	struct offload_job *job;

	for (int i = 0; i < 20000; i++) {
		struct read_job *mine = new_job(-1);

		if (offload_submit(offload, &mine->job) < 0) {
			free(mine);
			while ((job = offload_take(offload))) {
				taken++;
				free(job);
			}
		} else {
			submitted++;
			if (i % 3 == 0)
				offload_abandon(offload, &mine->job);
		}
	}
	offload_free(offload, FAR_NS);
	assert_int_equal(taken + atomic_load(&dropped), submitted);
	assert_in_range(atomic_load(&started), 1, HOSTILE_OR(submitted, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_comes_back),
		cmocka_unit_test(others_pass_one_that_hangs),
		cmocka_unit_test(a_thread_is_ready_before_it_is_wanted),
		cmocka_unit_test(a_full_pool_says_so),
		cmocka_unit_test(an_abandoned_job_is_dropped_when_it_ends),
		cmocka_unit_test(the_end_waits_for_nothing),
		cmocka_unit_test(signals_are_not_its_business),
		cmocka_unit_test(none_is_lost_or_seen_twice),
	};

	return unit_run(tests);
}

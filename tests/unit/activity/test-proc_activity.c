/* SPDX-License-Identifier: Apache-2.0 */
/* The /proc reader on a tree of our own, where time stands still between two passes. */
#include "activity/activity.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/rig/remove_tree.h"
#include "tests/unit/unit.h"

#define TICK 10000000ULL

struct tree {
	char path[64];
	struct activity_reader *reader;
};

struct process {
	unsigned int pid, ppid;
	unsigned long ticks, reaped;
	unsigned int threads;
	unsigned long start;
	unsigned long flags;
};

static void write_file(const struct tree *tree, unsigned int pid, const char *name,
		       const char *text)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%u", tree->path, pid);
	(void)mkdir(path, 0755);
	(void)snprintf(path, sizeof(path), "%s/%u/%s", tree->path, pid, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC,
		      0644); /* in place: kept descriptors see it */

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	(void)close(fd);
}

static void set_process(const struct tree *tree, struct process p)
{
	char text[512];

	(void)snprintf(text, sizeof(text),
		       "%u (p %u) S %u 0 0 0 -1 %lu 0 0 0 0 %lu 0 %lu 0 20 0 %u 0 %lu 0 0 0 0 0 0 "
		       "0 0 0 0 0 "
		       "0 0 0 0 17 1 0\n",
		       p.pid, p.pid, p.ppid, p.flags, p.ticks, p.reaped, p.threads ? p.threads : 1,
		       p.start);
	write_file(tree, p.pid, "stat", text);
}

static void set_account(const struct tree *tree, unsigned int busy_ticks)
{
	char text[128];
	int fd;

	(void)snprintf(text, sizeof(text), "%s/stat", tree->path);
	fd = open(text, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	assert_true(fd >= 0);
	(void)snprintf(text, sizeof(text), "cpu  %u 0 0 9000 0 0 0 0 0 0\ncpu0 1\nintr 1\n",
		       busy_ticks);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	(void)close(fd);
}

static void remove_process(const struct tree *tree, unsigned int pid)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%u", tree->path, pid);
	assert_int_equal(remove_tree(path), 0);
}

static int set_up(void **state)
{
	struct tree *tree = calloc(1, sizeof(*tree));

	assert_non_null(tree);
	memcpy(tree->path, "/tmp/kepler-proc-XXXXXX", sizeof("/tmp/kepler-proc-XXXXXX"));
	assert_non_null(mkdtemp(tree->path));
	write_file(tree, (unsigned int)getpid(), "schedstat", "1 0 1\n"); /* this kernel has it */
	set_process(tree, (struct process){ .pid = (unsigned int)getpid() });
	*state = tree;
	return 0;
}

static int tear_down(void **state)
{
	struct tree *tree = *state;

	activity_close(tree->reader);
	assert_int_equal(remove_tree(tree->path), 0);
	free(tree);
	return 0;
}

static struct activity pass(struct tree *tree)
{
	struct activity activity;

	if (!tree->reader) {
		struct activity_options options = { .procfs = tree->path };

		assert_int_equal(activity_open(&options, &tree->reader), 0);
	}
	assert_int_equal(activity_read(tree->reader, &activity), 0);
	return activity;
}

static const struct activity_sample *sample_of(const struct activity *activity, uint32_t pid)
{
	for (size_t i = 0; i < activity->count; i++) {
		if (activity->samples[i].key.pid == pid)
			return &activity->samples[i];
	}
	return NULL;
}

static uint64_t ticks_of(const struct activity *activity, uint32_t pid)
{
	const struct activity_sample *sample = sample_of(activity, pid);

	return sample ? sample->cpu_ns / TICK : 0;
}

static void test_growth_is_charged(void **state)
{
	struct tree *tree = *state;
	struct activity activity;

	set_process(tree, (struct process){ 100001, 1, 500, 0, 1, 1234 });
	activity = pass(tree);
	assert_non_null(sample_of(&activity, 100001));
	assert_int_equal(activity.busy_ns, 0);
	set_process(tree, (struct process){ 100001, 1, 507, 0, 1, 1234 });
	set_process(tree, (struct process){ 100002, 1, 3, 0, 1, 2000 }); /* born since */
	activity = pass(tree);
	assert_int_equal(activity.count, 2);
	assert_int_equal(ticks_of(&activity, 100001), 7);
	assert_int_equal(ticks_of(&activity, 100002), 3);
	assert_int_equal(sample_of(&activity, 100001)->key.start_ns, 1234 * TICK);
	assert_string_equal(sample_of(&activity, 100001)->comm, "p 100001");
	assert_int_equal(activity.busy_ns, 10 * TICK);
	activity = pass(tree);
	assert_int_equal(activity.count, 0);
}

static void test_schedstat_spares_the_idle(void **state)
{
	struct tree *tree = *state;
	struct activity_info info;
	struct activity activity;

	set_process(tree, (struct process){ 100001, 1, 5, 0, 1, 10 });
	write_file(tree, 100001, "schedstat", "100 0 1\n");
	(void)pass(tree);
	set_process(tree, (struct process){ 100001, 1, 9, 0, 1, 10 });
	activity = pass(tree); /* schedstat did not move: stat is not read */
	assert_int_equal(activity.count, 0);
	activity_get_info(tree->reader, &info);
	assert_int_equal(info.tasks_sent, 0);
	assert_string_equal(info.reader, "procfs");
	write_file(tree, 100001, "schedstat", "101 0 2\n");
	activity = pass(tree);
	assert_int_equal(ticks_of(&activity, 100001), 4);
}

static void test_threads_are_not_trusted_to_schedstat(void **state)
{
	struct tree *tree = *state;
	struct activity activity;

	set_process(tree, (struct process){ 100001, 1, 5, 0, 2, 10 });
	write_file(tree, 100001, "schedstat", "100 0 1\n"); /* the main thread's, which sleeps */
	(void)pass(tree);
	set_process(tree, (struct process){ 100001, 1, 9, 0, 2, 10 });
	activity = pass(tree);
	assert_int_equal(ticks_of(&activity, 100001), 4);
}

static void test_unreadable_process_fails_nothing(void **state)
{
	struct tree *tree = *state;
	struct activity_info info;
	struct activity activity;
	char path[128];

	set_process(tree, (struct process){ 100001, 1, 5, 0, 1, 10 });
	write_file(tree, 100002, "stat", "no such line\n");
	write_file(tree, 100003, "stat", "");
	write_file(tree, 100004, "other", "");
	(void)snprintf(path, sizeof(path), "%s/100004/stat", tree->path);
	assert_int_equal(symlink("stat", path), 0); /* cannot be opened */
	(void)pass(tree);
	set_process(tree, (struct process){ 100001, 1, 6, 0, 1, 10 });
	activity = pass(tree);
	assert_int_equal(activity.count, 1);
	assert_int_equal(ticks_of(&activity, 100001), 1);
	activity_get_info(tree->reader, &info);
	assert_int_equal(info.errors, 6);
}

static void test_reused_pid_inherits_nothing(void **state)
{
	struct tree *tree = *state;
	struct activity activity;

	set_process(tree, (struct process){ 100001, 1, 500, 0, 1, 10 });
	(void)pass(tree);
	remove_process(tree, 100001);
	set_process(tree, (struct process){ 100001, 1, 502, 0, 1, 11 });
	activity = pass(tree);
	assert_int_equal(activity.count, 2);
	for (size_t i = 0; i < activity.count; i++) {
		const struct activity_sample *sample = &activity.samples[i];
		bool is_new = sample->key.start_ns == 11 * TICK;

		assert_int_equal(sample->cpu_ns, is_new ? 502 * TICK : 0);
		assert_int_equal(sample->flags, is_new ? 0 : ACTIVITY_ENDED);
	}
}

static void test_short_children_go_to_their_parent(void **state)
{
	struct tree *tree = *state;
	struct activity activity;

	set_process(tree, (struct process){ 100001, 1, 5, 50, 1, 10 });
	(void)pass(tree);
	set_process(tree, (struct process){ 100001, 1, 6, 58, 1, 10 });
	activity = pass(tree);
	assert_int_equal(ticks_of(&activity, 100001), 9);
}

static void test_known_child_is_not_charged_again(void **state)
{
	struct tree *tree = *state;
	struct activity activity;

	set_process(tree, (struct process){ 100001, 1, 5, 0, 1, 10 });
	set_process(tree, (struct process){ 100002, 100001, 900, 30, 1, 11 });
	(void)pass(tree);
	remove_process(tree, 100002);
	/* It ran 4 more before it ended, and one that we never met ran 2. */
	set_process(tree, (struct process){ 100001, 1, 5, 936, 1, 10 });
	activity = pass(tree);
	assert_int_equal(ticks_of(&activity, 100001), 6);
	assert_int_equal(sample_of(&activity, 100002)->flags, ACTIVITY_ENDED);
	assert_int_equal(activity.busy_ns, 6 * TICK);
}

static void test_the_reaper_is_not_charged_for_a_life(void **state)
{
	struct tree *tree = *state;
	struct activity activity;

	/*
	 * The parent dies, then the child: init reaps both, and must not be charged the child's 900
	 * of long ago.
	 */
	set_process(tree, (struct process){ 100001, 100009, 5, 0, 1, 10 });
	set_process(tree, (struct process){ 100002, 100001, 900, 0, 1, 11 });
	set_process(tree, (struct process){ 100009, 0, 1, 0, 1, 1 });
	(void)pass(tree);
	remove_process(tree, 100001);
	remove_process(tree, 100002);
	set_process(tree, (struct process){ 100009, 0, 1, 908, 1, 1 });
	activity = pass(tree);
	assert_int_equal(ticks_of(&activity, 100009), 3);
}

/*
 * A build whose short children ran 100 ticks in each pass, together with a parent that ignores
 * SIGCHLD (its children of 50 ticks come and go) and kernel threads that end.
 */
static void test_what_is_not_waited_for_pays_for_nothing_else(void **state)
{
	struct tree *tree = *state;
	uint64_t built = 0;

	set_process(tree, (struct process){ 100001, 1, 5, 0, 1, 10 });
	set_process(tree, (struct process){ 100002, 1, 5, 0, 1, 10 });
	set_process(tree, (struct process){ 2, 0, 0, 0, 1, 1 });
	for (unsigned int i = 0; i <= 30; i++) {
		struct activity activity;

		set_process(tree, (struct process){ 100001, 1, 5, i * 100UL, 1, 10 });
		set_process(tree, (struct process){ 200001 + i, 100002, 50, 0, 1, 20 + i });
		set_process(tree, (struct process){ 300001 + i, 2, 40, 0, 1, 20 + i, 0x200000 });
		activity = pass(tree);
		built += ticks_of(&activity, 100001);
		remove_process(tree, 200001 + i);
		remove_process(tree, 300001 + i);
	}
	assert_int_equal(built, 30 * 100);
}

static void test_a_grandchild_is_not_charged_again(void **state)
{
	struct tree *tree = *state;
	struct activity activity;

	/* make, its shell, the compiler: the shell waits for the compiler, make for the shell. */
	set_process(tree, (struct process){ 100001, 1, 5, 0, 1, 10 });
	set_process(tree, (struct process){ 100002, 100001, 1, 0, 1, 11 });
	set_process(tree, (struct process){ 100003, 100002, 300, 0, 1, 12 });
	(void)pass(tree);
	remove_process(tree, 100002);
	remove_process(tree, 100003);
	set_process(tree, (struct process){ 100001, 1, 5, 307, 1, 10 });
	activity = pass(tree);
	assert_int_equal(ticks_of(&activity, 100001), 6);
}

static void test_an_orphan_is_waited_for_above(void **state)
{
	struct tree *tree = *state;
	struct activity activity;

	/* The parent's own parent waits for it, init for the orphan that it leaves. */
	set_process(tree, (struct process){ 1, 0, 5, 0, 1, 1 });
	set_process(tree, (struct process){ 100001, 1, 5, 0, 1, 10 });
	set_process(tree, (struct process){ 100002, 100001, 7, 0, 1, 11 });
	set_process(tree, (struct process){ 100003, 100002, 300, 0, 1, 12 });
	(void)pass(tree);
	remove_process(tree, 100002);
	remove_process(tree, 100003);
	set_process(tree, (struct process){ 100001, 1, 5, 7, 1, 10 });
	set_process(tree, (struct process){ 1, 0, 5, 302, 1, 1 });
	activity = pass(tree);
	assert_int_equal(ticks_of(&activity, 100001), 0);
	assert_int_equal(ticks_of(&activity, 1), 2);
}

#define GENERATIONS 300

/* @count of them, each the child of the one before, the first of process 1. */
static void set_line(const struct tree *tree, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		set_process(tree,
			    (struct process){ 100001 + i, i ? 100000 + i : 1, 3, 0, 1, 10 + i });
}

static void test_many_generations_end_at_once(void **state)
{
	struct tree *tree = *state;
	struct activity activity;

	set_process(tree, (struct process){ 1, 0, 5, 0, 1, 1 });
	set_line(tree, GENERATIONS);
	(void)pass(tree);
	for (unsigned int i = 0; i < GENERATIONS; i++)
		remove_process(tree, 100001 + i);
	set_process(tree, (struct process){ 1, 0, 5, 3UL * GENERATIONS + 2, 1, 1 });
	activity = pass(tree);
	assert_int_equal(ticks_of(&activity, 1), 2);
}

static void test_an_orphan_is_waited_for_far_above(void **state)
{
	struct tree *tree = *state;
	struct activity activity;

	set_process(tree, (struct process){ 1, 0, 5, 0, 1, 1 });
	set_line(tree, GENERATIONS);
	(void)pass(tree);
	remove_process(tree, 100000 + GENERATIONS);
	remove_process(tree, 100000 + GENERATIONS - 1);
	set_process(tree, (struct process){ 1, 0, 5, 3 + 2, 1, 1 });
	activity = pass(tree);
	assert_int_equal(ticks_of(&activity, 1), 2);
}

/* Pids that are used again within a tick: each has the other's for a parent. */
static void test_a_ring_of_parents_ends(void **state)
{
	struct tree *tree = *state;
	struct activity activity;

	set_process(tree, (struct process){ 100001, 100002, 5, 0, 1, 10 });
	set_process(tree, (struct process){ 100002, 100001, 5, 0, 1, 10 });
	set_process(tree, (struct process){ 100003, 100002, 5, 0, 1, 11 });
	set_process(tree, (struct process){ 100004, 100003, 5, 0, 1, 12 });
	(void)pass(tree);
	remove_process(tree, 100003); /* credits the ring with what nothing there reaps */
	remove_process(tree, 100004);
	activity = pass(tree);
	assert_int_equal(activity.busy_ns, 0);
	remove_process(tree, 100001);
	remove_process(tree, 100002);
	activity = pass(tree);
	assert_int_equal(activity.count, 2);
}

static void test_a_parent_may_have_been_read_before_it_waited(void **state)
{
	struct tree *tree = *state;
	struct activity activity;

	set_process(tree, (struct process){ 100001, 1, 5, 0, 1, 10 });
	set_process(tree, (struct process){ 100002, 100001, 300, 0, 1, 11 });
	(void)pass(tree);
	remove_process(tree, 100002);
	activity = pass(tree);
	assert_int_equal(ticks_of(&activity, 100001), 0);
	set_process(tree, (struct process){ 100001, 1, 5, 301, 1, 10 });
	activity = pass(tree);
	assert_int_equal(ticks_of(&activity, 100001), 1);
	set_process(tree, (struct process){ 100001, 1, 5, 311, 1, 10 }); /* its credit is used */
	activity = pass(tree);
	assert_int_equal(ticks_of(&activity, 100001), 10);
}

static void test_a_pid_of_a_younger_process_is_not_the_parent(void **state)
{
	struct tree *tree = *state;
	struct activity activity;

	set_process(tree, (struct process){ 100001, 1, 5, 0, 1, 10 });
	set_process(tree, (struct process){ 100002, 100001, 300, 0, 1, 11 });
	(void)pass(tree);
	remove_process(tree, 100001);
	remove_process(tree, 100002);
	set_process(tree, (struct process){ 100001, 1, 0, 0, 1, 12 });
	activity = pass(tree);
	set_process(tree, (struct process){ 100001, 1, 0, 80, 1, 12 });
	activity = pass(tree);
	assert_int_equal(ticks_of(&activity, 100001), 80);
}

static void test_descriptors_run_out(void **state)
{
	struct tree *tree = *state;
	struct rlimit before, tight;
	struct activity_info info;
	struct activity activity;

	for (unsigned int i = 0; i < 60; i++)
		set_process(tree, (struct process){ 100001 + i, 1, 5, 0, 2, 10 });
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	tight = before;
	tight.rlim_cur = 200; /* 50 kept */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
	(void)pass(tree);
	(void)pass(tree); /* now knows which processes have threads, and keeps what it reads */
	for (unsigned int i = 0; i < 60; i++)
		set_process(tree, (struct process){ 100001 + i, 1, 6, 0, 2, 10 });
	tight.rlim_cur = 20; /* none can be opened any more */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
	activity = pass(tree);
	assert_true(activity.busy_ns >= 40 * TICK); /* through what was kept */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	activity_get_info(tree->reader, &info);
	assert_true(info.errors > 0);
	for (int i = 0; i < 2; i++) {
		uint64_t busy_ns = activity.busy_ns;

		activity = pass(tree);
		activity.busy_ns += busy_ns;
	}
	assert_int_equal(activity.busy_ns, 60 * TICK); /* late, not lost */
}

static void test_a_process_without_a_row_is_reported_late(void **state)
{
	struct tree *tree = *state;
	struct activity_options options = { .procfs = tree->path, .max_processes = 2 };
	struct activity_info info;
	struct activity activity;

	assert_int_equal(activity_open(&options, &tree->reader), 0);
	set_process(tree, (struct process){ 100001, 1, 5, 0, 1, 10 });
	(void)pass(tree);
	set_process(tree, (struct process){ 100002, 1, 7, 0, 1, 11 });
	activity = pass(tree);
	assert_int_equal(activity.count, 0);
	assert_int_equal(activity.busy_ns, 0);
	activity_get_info(tree->reader, &info);
	assert_int_equal(info.overflows, 1);
	remove_process(tree, 100001);
	(void)pass(tree); /* its row is free after it */
	set_process(tree, (struct process){ 100002, 1, 9, 0, 1, 11 });
	activity = pass(tree);
	assert_int_equal(ticks_of(&activity, 100002), 9);
	assert_int_equal(activity.busy_ns, 9 * TICK);
}

/* The machine's account has reported its run time meanwhile. */
static void test_who_has_no_room_is_unseen(void **state)
{
	struct activity_options options;
	struct tree *tree = *state;
	struct activity activity;
	uint64_t unseen_ns = 0;

	options = (struct activity_options){ .procfs = tree->path, .max_processes = 2 };
	set_account(tree, 1000);
	assert_int_equal(activity_open(&options, &tree->reader), 0);
	set_process(tree, (struct process){ 100001, 1, 5, 0, 1, 10 });
	(void)pass(tree);
	set_process(tree, (struct process){ 100002, 1, 7, 0, 1, 11 });
	set_account(tree, 1001);
	unseen_ns += pass(tree).unseen_ns;
	remove_process(tree, 100001);
	set_account(tree, 1002);
	unseen_ns += pass(tree).unseen_ns;
	set_process(tree, (struct process){ 100002, 1, 9, 0, 1, 11 });
	set_account(tree, 1003);
	activity = pass(tree);
	assert_int_equal(activity.busy_ns - activity.unseen_ns, 0);
	set_process(tree, (struct process){ 100002, 1, 10, 0, 1, 11 });
	set_account(tree, 1004);
	activity = pass(tree);
	assert_int_equal(ticks_of(&activity, 100002), 1);
	assert_int_equal(unseen_ns, 0); /* within the bound */
}

static void test_no_proc_is_an_error(void **state)
{
	struct activity_options options = { .procfs = "/nonexistent" };
	struct activity_reader *reader = NULL;

	assert_int_equal(activity_open(&options, &reader), -ENOENT);
	assert_null(reader);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_growth_is_charged),
		TEST(test_schedstat_spares_the_idle),
		TEST(test_threads_are_not_trusted_to_schedstat),
		TEST(test_unreadable_process_fails_nothing),
		TEST(test_reused_pid_inherits_nothing),
		TEST(test_short_children_go_to_their_parent),
		TEST(test_known_child_is_not_charged_again),
		TEST(test_the_reaper_is_not_charged_for_a_life),
		TEST(test_what_is_not_waited_for_pays_for_nothing_else),
		TEST(test_a_grandchild_is_not_charged_again),
		TEST(test_an_orphan_is_waited_for_above),
		TEST(test_many_generations_end_at_once),
		TEST(test_an_orphan_is_waited_for_far_above),
		TEST(test_a_ring_of_parents_ends),
		TEST(test_a_parent_may_have_been_read_before_it_waited),
		TEST(test_a_pid_of_a_younger_process_is_not_the_parent),
		TEST(test_descriptors_run_out),
		TEST(test_a_process_without_a_row_is_reported_late),
		TEST(test_who_has_no_room_is_unseen),
		cmocka_unit_test(test_no_proc_is_an_error),
	};

	return unit_run(tests);
}

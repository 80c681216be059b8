// SPDX-License-Identifier: Apache-2.0
/* The processes in a tree of our own that are missing from the passes. */
#include "activity/unseen.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/rig/remove_tree.h"
#include "tests/unit/unit.h"

#define TICK_NS    10000000ULL
#define FULL_NS    (1000 * TICK_NS) /* the last full pass */
#define OWN_PID    50U
#define OWN_TICKS  900U
#define KTHREADD   2U
#define INIT_TICKS 3U

struct scene {
	char path[64];
	struct thread_table *table;
	struct unseen *unseen;
};

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void show(const struct scene *s, const char *name, unsigned pid, unsigned start_ticks,
		 unsigned long ticks)
{
	char path[128], text[256];

	(void)snprintf(path, sizeof(path), "%s/%s", s->path, name);
	(void)mkdir(path, 0755);
	(void)snprintf(path, sizeof(path), "%s/%s/stat", s->path, name);
	(void)snprintf(text, sizeof(text),
		       "%u (p) S 1 0 0 0 -1 0 0 0 0 0 %lu 0 0 0 20 0 1 0 %u 0 0 0 0 0 0 0 0 0 0 0 "
		       "0 0 0 0 17 1 0\n",
		       pid, ticks, start_ticks);
	write_file(path, text); /* in place: a kept descriptor sees it */
}

/* A pass reports a process. */
static void tell(const struct scene *s, unsigned pid, uint64_t start_ns)
{
	const struct kepler_thread record = {
		.key = 0xffff888000000000ULL + pid * 4096ULL,
		.process_start_ns = start_ns,
		.tgid = pid,
		.tid = pid,
		.flags = KEPLER_LEADER,
		.comm = "p",
	};

	thread_table_living(s->table, &record, NULL, 1);
}

static void begin_scene(struct scene *s, uint32_t max_processes)
{
	*s = (struct scene){ .path = "/tmp/kepler-unseen-XXXXXX" };
	assert_non_null(mkdtemp(s->path));
	show(s, "self", OWN_PID, OWN_TICKS, 0);
	show(s, "50", OWN_PID, OWN_TICKS, 0);
	show(s, "1", 1, INIT_TICKS, 1000);
	show(s, "2", KTHREADD, INIT_TICKS, 0);
	show(s, "self.not-a-pid", 7, INIT_TICKS, 1000);
	assert_int_equal(thread_table_new(max_processes, &s->table), 0);
	assert_int_equal(unseen_open(s->path, &s->unseen), 0);
	thread_table_begin(s->table, true, 1);
	tell(s, OWN_PID, OWN_TICKS * TICK_NS + 1234567);
	tell(s, KTHREADD, INIT_TICKS * TICK_NS);
}

static int look(const struct scene *s)
{
	struct activity activity;

	assert_int_equal(thread_table_finish(s->table, &activity), 0);
	return unseen_look(s->unseen, s->table, FULL_NS);
}

static void end_scene(struct scene *s)
{
	unseen_close(s->unseen);
	thread_table_free(s->table);
	assert_int_equal(remove_tree(s->path), 0);
}

static void test_all_are_seen(void **state)
{
	struct scene s;

	begin_scene(&s, 100);
	tell(&s, 1, INIT_TICKS * TICK_NS + 5);
	assert_int_equal(look(&s), 0);
	assert_int_equal(unseen_count(s.unseen), 0);
	assert_int_equal(unseen_first_pid(s.unseen), 0);
	end_scene(&s);
}

static void test_a_guarded_process_is_counted_with_what_it_runs(void **state)
{
	struct activity_sample samples[UNSEEN_MAX];
	struct scene s;

	begin_scene(&s, 100);
	assert_int_equal(look(&s), 1);
	assert_int_equal(unseen_count(s.unseen), 1);
	assert_int_equal(unseen_first_pid(s.unseen), 1);
	assert_int_equal(unseen_cpu_ns(s.unseen), 0); /* what it ran before is history */
	assert_int_equal(unseen_take(s.unseen, samples), 0);
	show(&s, "1", 1, INIT_TICKS, 1007);
	assert_int_equal(unseen_take(s.unseen, samples), 1);
	assert_int_equal(samples[0].key.pid, 1);
	assert_int_equal(samples[0].key.start_ns, INIT_TICKS * TICK_NS);
	assert_int_equal(samples[0].cpu_ns, 7 * TICK_NS);
	assert_int_equal(samples[0].flags, 0);
	assert_string_equal(samples[0].comm, "p");
	show(&s, "1", 1, INIT_TICKS, 1008);
	unseen_look(s.unseen, s.table, FULL_NS); /* finds it again, and loses nothing */
	assert_int_equal(unseen_take(s.unseen, samples), 1);
	assert_int_equal(samples[0].cpu_ns, TICK_NS);
	assert_int_equal(unseen_cpu_ns(s.unseen), 8 * TICK_NS);
	show(&s, "1", 1, INIT_TICKS, 1007); /* the kernel takes a tick back */
	assert_int_equal(unseen_take(s.unseen, samples), 0);
	show(&s, "1", 1, INIT_TICKS, 1009);
	assert_int_equal(unseen_take(s.unseen, samples), 1);
	assert_int_equal(unseen_cpu_ns(s.unseen), 9 * TICK_NS);
	end_scene(&s);
}

static void test_a_process_that_is_reported_now_is_not_watched(void **state)
{
	struct activity_sample samples[UNSEEN_MAX];
	struct activity activity;
	struct scene s;

	begin_scene(&s, 100);
	look(&s);
	assert_int_equal(unseen_count(s.unseen), 1);
	thread_table_begin(s.table, false, 2);
	tell(&s, 1, INIT_TICKS * TICK_NS);
	assert_int_equal(thread_table_finish(s.table, &activity), 0);
	assert_int_equal(unseen_look(s.unseen, s.table, FULL_NS), 0);
	assert_int_equal(unseen_count(s.unseen), 0);
	show(&s, "1", 1, INIT_TICKS, 2000);
	assert_int_equal(unseen_take(s.unseen, samples), 0);
	end_scene(&s);
}

static void test_who_gets_its_pid_is_another(void **state)
{
	struct activity_sample samples[UNSEEN_MAX];
	struct scene s;

	begin_scene(&s, 100);
	look(&s);
	assert_int_equal(unseen_count(s.unseen), 1);
	show(&s, "1", 1, INIT_TICKS + 5, 9000);
	assert_int_equal(unseen_take(s.unseen, samples), 1);
	assert_int_equal(samples[0].flags, ACTIVITY_ENDED);
	assert_int_equal(samples[0].cpu_ns, 0);
	assert_int_equal(unseen_count(s.unseen), 0);
	assert_int_equal(unseen_cpu_ns(s.unseen), 0);
	assert_int_equal(unseen_count(NULL) + unseen_first_pid(NULL) + unseen_cpu_ns(NULL), 0);
	end_scene(&s);
}

static void test_who_is_younger_than_the_pass_may_be_seen_yet(void **state)
{
	struct scene s;

	begin_scene(&s, 100);
	tell(&s, 1, INIT_TICKS * TICK_NS);
	show(&s, "60", 60, FULL_NS / TICK_NS + 1, 0);
	show(&s, "61", 61, FULL_NS / TICK_NS - 1, 0); /* its tick is not over before the pass */
	assert_int_equal(look(&s), 0);
	assert_int_equal(unseen_count(s.unseen), 0);
	end_scene(&s);
}

/* Pids of another namespace would be compared. */
static void test_a_procfs_that_counts_otherwise_says_nothing(void **state)
{
	struct scene s;

	begin_scene(&s, 100);
	show(&s, "self", OWN_PID, OWN_TICKS - 40, 0);
	assert_int_equal(look(&s), -EXDEV);
	assert_int_equal(unseen_count(s.unseen), 0);
	end_scene(&s);
}

static void test_a_full_table_says_nothing(void **state)
{
	struct scene s;

	begin_scene(&s, 2);
	tell(&s, 1, INIT_TICKS * TICK_NS);
	assert_int_equal(look(&s), -EAGAIN);
	assert_int_equal(unseen_count(s.unseen), 0);
	end_scene(&s);
}

static void test_no_more_than_the_limit(void **state)
{
	struct scene s;
	char name[16];

	begin_scene(&s, 100);
	for (unsigned pid = 100; pid < 150; pid++) {
		(void)snprintf(name, sizeof(name), "%u", pid);
		show(&s, name, pid, INIT_TICKS, 1);
	}
	assert_int_equal(look(&s), UNSEEN_MAX);
	assert_int_equal(unseen_count(s.unseen), UNSEEN_MAX);
	end_scene(&s);
}

/* Lets the process open @count files more. */
static void leave_descriptors(unsigned count, struct rlimit *ret_before)
{
	struct rlimit tight;
	int lowest = open("/", O_RDONLY | O_CLOEXEC);

	assert_true(lowest >= 0);
	(void)close(lowest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, ret_before), 0);
	tight = *ret_before;
	tight.rlim_cur = (rlim_t)lowest + count;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
}

/* A file that cannot be read to its end says nothing, and known values stay. */
static void look_with_descriptors(unsigned count)
{
	struct activity_sample samples[UNSEEN_MAX];
	struct rlimit before;
	struct scene s;
	int r;

	begin_scene(&s, 100);
	assert_int_equal(look(&s), 1);
	leave_descriptors(count, &before);
	r = unseen_look(s.unseen, s.table, FULL_NS);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(r, -EMFILE);
	assert_int_equal(unseen_count(s.unseen), 1);
	show(&s, "1", 1, INIT_TICKS, 1007);
	assert_int_equal(unseen_take(s.unseen, samples), 1);
	assert_int_equal(samples[0].cpu_ns, 7 * TICK_NS);
	end_scene(&s);
}

static void test_a_look_without_descriptors_says_nothing(void **state)
{
	look_with_descriptors(0);
	look_with_descriptors(1); /* for /proc, and none for its contents */
}

/* Found and not to be watched, or gone by then: there is one all the same. */
static void test_who_cannot_be_watched_is_found(void **state)
{
	struct rlimit before;
	struct scene s;
	int r;

	begin_scene(&s, 100);
	show(&s, "60", 60, INIT_TICKS, 0);
	show(&s, "61", 61, INIT_TICKS, 0);
	leave_descriptors(2, &before);
	r = look(&s);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(r, 3);
	assert_int_equal(unseen_count(s.unseen), 2);
	end_scene(&s);
}

/* As with hidepid: process 1 is not listed, which does not say that it is not there. */
static void test_a_procfs_that_hides_processes_says_nothing(void **state)
{
	char path[128];
	struct scene s;

	begin_scene(&s, 100);
	for (unsigned pid = 1; pid <= KTHREADD; pid++) {
		(void)snprintf(path, sizeof(path), "%s/%u", s.path, pid);
		assert_int_equal(remove_tree(path), 0);
	}
	assert_int_equal(look(&s), -EACCES);
	end_scene(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_are_seen),
		cmocka_unit_test(test_a_guarded_process_is_counted_with_what_it_runs),
		cmocka_unit_test(test_a_process_that_is_reported_now_is_not_watched),
		cmocka_unit_test(test_who_gets_its_pid_is_another),
		cmocka_unit_test(test_who_is_younger_than_the_pass_may_be_seen_yet),
		cmocka_unit_test(test_a_procfs_that_counts_otherwise_says_nothing),
		cmocka_unit_test(test_a_full_table_says_nothing),
		cmocka_unit_test(test_no_more_than_the_limit),
		cmocka_unit_test(test_a_look_without_descriptors_says_nothing),
		cmocka_unit_test(test_who_cannot_be_watched_is_found),
		cmocka_unit_test(test_a_procfs_that_hides_processes_says_nothing),
	};

	return unit_run(tests);
}

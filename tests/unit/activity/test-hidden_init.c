// SPDX-License-Identifier: Apache-2.0
/* Process 1 in a tree of our own, and in the passes or not. */
#include "activity/hidden_init.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"
#include "tests/rig/remove_tree.h"
#include "tests/unit/unit.h"

#define TICK_NS    10000000ULL
#define OWN_TICKS  900U
#define INIT_TICKS 3U

struct scene {
	char path[64];
	struct thread_table *table;
	struct hidden_init init;
};

static void show(const struct scene *s, unsigned pid, unsigned start_ticks, unsigned long ticks)
{
	char path[128];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%u", s->path, pid);
	(void)mkdir(path, 0755);
	(void)snprintf(path, sizeof(path), "%s/%u/stat", s->path, pid);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fprintf(file,
			    "%u (p) S 1 0 0 0 -1 0 0 0 0 0 %lu 0 0 0 20 0 1 0 %u 0 0 0 0 0 0 0 0 0 "
			    "0 0 0 0 0 0 17 1 0\n",
			    pid, ticks, start_ticks) > 0);
	assert_int_equal(fclose(file), 0);
}

static void report(const struct scene *s, unsigned pid, uint64_t start_ns)
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

static void finish(const struct scene *s, struct activity *activity)
{
	assert_int_equal(thread_table_finish(s->table, activity), 0);
}

/* The first pass, which reports this process and, if it @has_init, process 1. */
static void begin_scene(struct scene *s, uint32_t max_processes, bool has_init)
{
	struct activity activity;

	*s = (struct scene){ .path = "/tmp/kepler-init-XXXXXX" };
	assert_non_null(mkdtemp(s->path));
	show(s, (unsigned)getpid(), OWN_TICKS, 0);
	show(s, 1, INIT_TICKS, 1000);
	assert_int_equal(thread_table_new(max_processes, &s->table), 0);
	assert_int_equal(hidden_init_open(s->path, &s->init), 0);
	thread_table_begin(s->table, true, 1000 * NSEC_PER_SEC);
	report(s, (unsigned)getpid(), OWN_TICKS * TICK_NS + 1234567);
	if (has_init)
		report(s, 1, INIT_TICKS * TICK_NS);
	finish(s, &activity);
}

static void end_scene(struct scene *s)
{
	hidden_init_close(&s->init);
	thread_table_free(s->table);
	assert_int_equal(remove_tree(s->path), 0);
}

static void what_passes_report_is_not_read(void **state)
{
	struct kepler_thread record;
	struct scene s;

	begin_scene(&s, 100, true);
	assert_int_equal(hidden_init_look(&s.init, s.table), 0);
	assert_false(hidden_init_read(&s.init, &record));
	assert_true(hidden_init_cpu_ns(&s.init) == 0);
	end_scene(&s);
}

/* A pass with process 1 as /proc shows it. */
static struct activity pass(struct scene *s, unsigned long ticks)
{
	struct kepler_thread record;
	struct activity activity;

	show(s, 1, INIT_TICKS, ticks);
	thread_table_begin(s->table, false, 1001 * NSEC_PER_SEC);
	assert_true(hidden_init_read(&s->init, &record));
	thread_table_living(s->table, &record, NULL, 1);
	finish(s, &activity);
	return activity;
}

static void what_it_ran_since_it_was_found_is_its_own(void **state)
{
	struct activity activity;
	struct scene s;

	begin_scene(&s, 100, false);
	assert_int_equal(hidden_init_look(&s.init, s.table), 1);
	assert_true(pass(&s, 1000).busy_ns == 0);
	activity = pass(&s, 1007);
	assert_int_equal(activity.count, 1);
	assert_int_equal(activity.samples[0].key.pid, 1);
	assert_true(activity.samples[0].cpu_ns == 7 * TICK_NS);
	assert_true(activity.busy_ns == 7 * TICK_NS);
	assert_true(pass(&s, 1006).busy_ns == 0); /* a tick that was taken back */
	assert_true(pass(&s, 1008).busy_ns == TICK_NS);
	assert_true(hidden_init_cpu_ns(&s.init) == 8 * TICK_NS);
	end_scene(&s);
}

static void a_procfs_that_counts_otherwise_says_nothing(void **state)
{
	struct scene s;

	begin_scene(&s, 100, false);
	show(&s, (unsigned)getpid(), OWN_TICKS + 100, 0);
	assert_int_equal(hidden_init_look(&s.init, s.table), -EXDEV);
	show(&s, (unsigned)getpid(), OWN_TICKS, 0);
	assert_int_equal(remove_tree(s.path), 0); /* as with hidepid */
	assert_int_equal(hidden_init_look(&s.init, s.table), -ENOENT);
	assert_int_equal(mkdir(s.path, 0755), 0);
	end_scene(&s);
}

static void a_full_table_says_nothing(void **state)
{
	struct activity activity;
	struct scene s;

	begin_scene(&s, 1, false);
	thread_table_begin(s.table, true, 1001 * NSEC_PER_SEC);
	for (unsigned pid = 7; pid < 14; pid++)
		report(&s, pid, INIT_TICKS * TICK_NS);
	finish(&s, &activity);
	assert_int_equal(hidden_init_look(&s.init, s.table), -EAGAIN);
	end_scene(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_passes_report_is_not_read),
		cmocka_unit_test(what_it_ran_since_it_was_found_is_its_own),
		cmocka_unit_test(a_procfs_that_counts_otherwise_says_nothing),
		cmocka_unit_test(a_full_table_says_nothing),
	};

	return unit_run(tests);
}

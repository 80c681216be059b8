/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of the kernel in any order, as crafted records: no time is lost or reported twice. */
#include "activity/bpf_reader/thread_table.h"

#include "tests/unit/unit.h"
#include "thread_records.h"

static const uint64_t now_ns = 1;

static int set_up(void **state)
{
	*state = new_table(now_ns);
	return 0;
}

static int tear_down(void **state)
{
	thread_table_free(*state);
	return 0;
}

static void test_baseline_shows_all_and_charges_none(void **state)
{
	struct thread_table *table = NULL;
	struct activity activity;

	assert_int_equal(thread_table_new(1000, &table), 0);
	assert_true(thread_table_wants_full(table));
	thread_table_begin(table, true, now_ns);
	ended(table, thread(TASK_B, 200, 200, 9)); /* before anything was counted */
	living(table, thread(TASK_A, 100, 100, 1000000000));
	activity = finish(table);
	assert_int_equal(activity.count, 1);
	assert_int_equal(activity.samples[0].key.pid, 100);
	assert_int_equal(activity.samples[0].key.start_ns, START);
	assert_int_equal(activity.samples[0].cpu_ns, 0);
	assert_int_equal(activity.busy_ns, 0);
	assert_false(thread_table_wants_full(table));
	thread_table_free(table);
}

static void test_end_before_baseline_is_not_charged(void **state)
{
	/* Reaped before the baseline walked, freed after it. */
	ended(*state, thread(TASK_B, 200, 200, 5000));
	thread_table_begin(*state, false, now_ns);
	assert_int_equal(finish(*state).count, 0);
}

/* Each thread's at the frequency of its own CPU, and once only. */
static void test_cycles_are_of_each_thread_s_cpu(void **state)
{
	uint32_t khz[] = { 0, 1000000, 0, 3000000 };
	const struct cpu_frequencies frequencies = { 2000000, 4, khz };
	struct kepler_thread a = thread(TASK_A, 100, 100, 1000001000);
	struct kepler_thread b = thread(TASK_B, 100, 101, 500);
	struct activity activity;

	thread_table_tell_frequencies(*state, &frequencies);
	thread_table_begin(*state, false, now_ns);
	a.cpu = 1;
	b.cpu = 3;
	living(*state, a);
	living(*state, b);
	activity = finish(*state);
	assert_int_equal(activity.count, 1);
	assert_int_equal(activity.samples[0].cpu_ns, 1500);
	assert_int_equal(activity.samples[0].cycles, 1000 + 1500);
	thread_table_begin(*state, false, now_ns);
	a.run_ns += 100;
	a.cpu = 2; /* not known: the mean */
	living(*state, a);
	activity = finish(*state);
	assert_int_equal(activity.samples[0].cycles, 200);
}

static void test_living_thread_is_charged_its_growth(void **state)
{
	struct activity activity;

	thread_table_begin(*state, false, now_ns);
	living(*state, thread(TASK_A, 100, 100, 1000000500));
	activity = finish(*state);
	assert_int_equal(activity.count, 1);
	assert_int_equal(activity.samples[0].cpu_ns, 500);
	assert_int_equal(activity.samples[0].cgroup_id, 77);
	assert_int_equal(activity.samples[0].cgroup_set, 78);
	assert_int_equal(activity.samples[0].cpu, 3);
	assert_int_equal(activity.samples[0].flags, 0);
	assert_string_equal(activity.samples[0].comm, "name");
	assert_int_equal(activity.busy_ns, 500);
}

static void test_idle_process_has_no_sample(void **state)
{
	thread_table_begin(*state, false, now_ns);
	living(*state, thread(TASK_A, 100, 100, 1000000000));
	assert_int_equal(finish(*state).count, 0);
}

static void test_end_is_charged_once_even_late(void **state)
{
	struct activity activity;

	thread_table_begin(*state, false, now_ns);
	living(*state, thread(TASK_A, 100, 100, 1000000500));
	(void)finish(*state);
	thread_table_begin(*state, false,
			   now_ns); /* left the list, not freed yet: no event reports it */
	assert_int_equal(finish(*state).count, 0);
	ended(*state, thread(TASK_A, 100, 100, 1000000700));
	thread_table_begin(*state, false, now_ns);
	activity = finish(*state);
	assert_int_equal(activity.count, 1);
	assert_int_equal(activity.samples[0].cpu_ns, 200);
	assert_int_equal(activity.samples[0].flags, ACTIVITY_ENDED);
	thread_table_begin(*state, false, now_ns);
	assert_int_equal(finish(*state).count, 0);
	assert_int_equal(thread_table_count(*state), 0);
}

static void test_process_between_two_passes(void **state)
{
	struct activity activity;

	ended(*state, young(thread(TASK_B, 200, 201, 30)));
	ended(*state, young(thread(TASK_B + 64, 200, 200, 12)));
	thread_table_begin(*state, false, now_ns);
	activity = finish(*state);
	assert_int_equal(activity.count, 1);
	assert_int_equal(activity.samples[0].cpu_ns, 42);
	assert_int_equal(activity.samples[0].flags, ACTIVITY_ENDED);
}

static void test_ended_thread_of_living_process(void **state)
{
	struct activity activity;

	thread_table_begin(*state, false, now_ns);
	living(*state, thread(TASK_B, 100, 101, 10));
	(void)finish(*state);
	ended(*state, thread(TASK_B, 100, 101, 25));
	ended(*state, young(thread(TASK_B, 100, 102, 5))); /* the same memory at once again */
	thread_table_begin(*state, false, now_ns);
	activity = finish(*state);
	assert_int_equal(activity.count, 1);
	assert_int_equal(activity.samples[0].cpu_ns, 20);
	assert_int_equal(activity.samples[0].flags, 0);
}

static void test_leader_ends_before_its_threads(void **state)
{
	const struct activity_sample *sample;
	struct activity activity;

	thread_table_begin(*state, false, now_ns);
	living(*state, thread(TASK_B, 100, 101, 10));
	(void)finish(*state);
	ended(*state, thread(TASK_A, 100, 100, 1000000001));
	thread_table_begin(*state, false, now_ns);
	activity = finish(*state);
	sample = sample_of(&activity, 100);
	assert_non_null(sample);
	assert_int_equal(sample->flags, 0); /* a thread is still to come */
	ended(*state, thread(TASK_B, 100, 101, 11));
	thread_table_begin(*state, false, now_ns);
	activity = finish(*state);
	sample = sample_of(&activity, 100);
	assert_non_null(sample);
	assert_int_equal(sample->flags, ACTIVITY_ENDED);
	assert_int_equal(sample->cpu_ns, 1);
}

static void test_thread_whose_leader_was_freed(void **state)
{
	struct kepler_thread orphan = young(thread(TASK_B, 100, 101, 40));
	struct activity activity;

	orphan.process_start_ns = 0;
	orphan.flags |= KEPLER_START_UNKNOWN;
	ended(*state, orphan);
	orphan.tgid = 300; /* and one of an unknown process */
	ended(*state, orphan);
	thread_table_begin(*state, false, now_ns);
	activity = finish(*state);
	assert_int_equal(activity.count, 1);
	assert_int_equal(activity.samples[0].key.pid, 100);
	assert_int_equal(activity.samples[0].cpu_ns, 40);
	assert_int_equal(activity.dropped_cgroup_count, 1);
	assert_int_equal(activity.dropped_cgroups[0].cgroup_id, 77);
	assert_int_equal(activity.dropped_cgroups[0].cpu_ns, 40);
	assert_int_equal(activity.busy_ns, 80);
}

static void test_reused_pid_inherits_nothing(void **state)
{
	struct kepler_thread next = thread(TASK_A, 100, 100, 1000000900); /* the same memory, too */
	const struct activity_sample *sample;
	struct activity activity;

	next.process_start_ns = START + 1;
	ended(*state, thread(TASK_A, 100, 100, 1000000100));
	thread_table_begin(*state, false, now_ns);
	living(*state, next);
	activity = finish(*state);
	assert_int_equal(activity.count, 2);
	for (size_t i = 0; i < activity.count; i++) {
		sample = &activity.samples[i];
		assert_int_equal(sample->key.pid, 100);
		if (sample->key.start_ns == START)
			assert_int_equal(sample->cpu_ns, 100);
		else
			assert_int_equal(sample->cpu_ns, 1000000900);
	}
}

static void test_exec_by_another_thread_keeps_both_counts(void **state)
{
	struct activity activity;

	thread_table_begin(*state, false, now_ns);
	living(*state, thread(TASK_B, 100, 101, 500));
	(void)finish(*state);
	/* B takes over tid 100; A dies as 101. */
	thread_table_begin(*state, false, now_ns);
	living(*state, thread(TASK_B, 100, 100, 700));
	ended(*state, thread(TASK_A, 100, 101, 1000000030));
	activity = finish(*state);
	assert_int_equal(activity.count, 1);
	assert_int_equal(activity.samples[0].cpu_ns, 230);
	assert_int_equal(activity.samples[0].flags, 0);
	ended(*state, thread(TASK_B, 100, 100, 800));
	thread_table_begin(*state, false, now_ns);
	activity = finish(*state);
	assert_int_equal(activity.samples[0].cpu_ns, 100);
	assert_int_equal(activity.samples[0].flags, ACTIVITY_ENDED);
	assert_int_equal(thread_table_count(*state), 0);
}

static void test_exec_and_end_between_two_passes(void **state)
{
	struct activity activity;

	thread_table_begin(*state, false, now_ns);
	living(*state, thread(TASK_B, 100, 101, 500));
	(void)finish(*state);
	ended(*state, thread(TASK_A, 100, 101, 1000000030));
	ended(*state, thread(TASK_B, 100, 100, 800));
	thread_table_begin(*state, false, now_ns);
	activity = finish(*state);
	assert_int_equal(activity.count, 1);
	assert_int_equal(activity.samples[0].cpu_ns, 330);
	assert_int_equal(activity.samples[0].flags, ACTIVITY_ENDED);
}

static void test_lost_ends_are_settled_exactly(void **state)
{
	uint64_t dropped_ns = 0;

	thread_table_begin(*state, false, now_ns);
	living(*state, thread(TASK_B, 200, 200, 600)); /* reported: 600 */
	(void)finish(*state);
	/*
	 * Both die, their ends are lost: of A 1 s was reported before the baseline, of B 600; 50
	 * more each are new.
	 */
	thread_table_lost_old(*state, 2, 1000000000 + 50 + 600 + 50);
	for (int pass = 0; pass < 4; pass++) {
		thread_table_begin(*state, thread_table_wants_full(*state), now_ns);
		dropped_ns += finish(*state).dropped_ns;
	}
	assert_int_equal(dropped_ns, 100);
	assert_int_equal(thread_table_count(*state), 0);
	assert_false(thread_table_wants_full(*state));
}

static void test_lost_end_of_unreported_thread_is_dropped_whole(void **state)
{
	uint64_t dropped_ns = 0;

	thread_table_lost_old(*state, 1, 70); /* born just before the last pass was over */
	for (int pass = 0; pass < 4; pass++) {
		thread_table_begin(*state, true, now_ns);
		living(*state, thread(TASK_A, 100, 100, 1000000000));
		dropped_ns += finish(*state).dropped_ns;
	}
	assert_int_equal(dropped_ns, 70);
	assert_int_equal(thread_table_count(*state), 1);
	assert_false(thread_table_wants_full(*state));
}

static void test_end_that_is_late_for_the_sweep_counts_once(void **state)
{
	struct activity activity;

	/* Left the list of tasks, its end comes after the full pass. */
	thread_table_begin(*state, true, now_ns);
	assert_int_equal(finish(*state).count, 0);
	assert_true(thread_table_wants_full(*state));
	ended(*state, thread(TASK_A, 100, 100, 1000000009));
	assert_false(thread_table_wants_full(*state));
	thread_table_begin(*state, false, now_ns);
	activity = finish(*state);
	assert_int_equal(activity.samples[0].cpu_ns, 9);
	assert_int_equal(activity.dropped_ns, 0);
}

static void test_lost_by_cgroup_and_node(void **state)
{
	struct activity activity;

	thread_table_lost_cgroup(*state, 5, 10);
	thread_table_lost_cgroup(*state, 6, 1);
	thread_table_lost_cgroup(*state, 5, 20);
	thread_table_lost_node(*state, 4);
	thread_table_begin(*state, false, now_ns);
	activity = finish(*state);
	assert_int_equal(activity.dropped_cgroup_count, 2);
	assert_int_equal(activity.dropped_cgroups[0].cpu_ns, 30);
	assert_int_equal(activity.dropped_ns, 4);
	assert_int_equal(activity.busy_ns, 35);
	thread_table_begin(*state, false, now_ns);
	activity = finish(*state);
	assert_int_equal(activity.dropped_cgroup_count, 0);
	assert_int_equal(activity.busy_ns, 0);
}

static void test_lost_cgroups_are_bounded(void **state)
{
	struct activity activity;

	for (uint64_t id = 1; id <= KEPLER_DROPS_MAX + 10; id++)
		thread_table_lost_cgroup(*state, id, 1);
	thread_table_begin(*state, false, now_ns);
	activity = finish(*state);
	assert_int_equal(activity.dropped_cgroup_count, KEPLER_DROPS_MAX);
	assert_int_equal(activity.dropped_ns, 10);
}

/* 3 processes fit; 10 run 100 ns each pass, and in the end all end. */
static void test_what_finds_no_room_is_dropped_not_lost(void **state)
{
	struct thread_table *table = NULL;
	uint64_t named_ns = 0, dropped_ns = 0;
	struct activity activity;

	assert_int_equal(thread_table_new(3, &table), 0);
	for (uint64_t pass = 0; pass < 5; pass++) {
		thread_table_begin(table, true, now_ns);
		for (uint32_t i = 0; i < 10; i++)
			living(table, thread(TASK_A + i * 64, 100 + i, 100 + i, 1000 + pass * 100));
		activity = finish(table);
		for (size_t i = 0; i < activity.count; i++)
			named_ns += activity.samples[i].cpu_ns;
		dropped_ns += activity.dropped_ns;
		assert_true(thread_table_wants_full(table));
		assert_int_equal(thread_table_overflows(table), 7 * (pass + 1));
	}
	assert_int_equal(named_ns, 3 * 400);
	assert_int_equal(dropped_ns, 7 * 400);
	for (uint32_t i = 0; i < 10; i++)
		ended(table, thread(TASK_A + i * 64, 100 + i, 100 + i, 1500));
	thread_table_begin(table, true, now_ns);
	activity = finish(table);
	for (size_t i = 0; i < activity.count; i++)
		named_ns += activity.samples[i].cpu_ns;
	dropped_ns += activity.dropped_ns;
	assert_int_equal(named_ns + dropped_ns, 10 * 500);
	assert_false(thread_table_wants_full(table));
	thread_table_free(table);
}

static void count_visit(void *userdata, const struct activity_sample *sample)
{
	(void)sample;
	++*(int *)userdata;
}

static void test_visit_shows_the_living(void **state)
{
	int count = 0;

	ended(*state, young(thread(TASK_B, 200, 200, 30)));
	thread_table_visit(*state, count_visit, &count);
	assert_int_equal(count, 1);
}

/*
 * Random lives of threads against a model: whatever the order of records, the reported time of a
 * thread is its run time. The seed is fixed, so a failure repeats.
 */
#define LIVES 64
static void test_random_lives_add_up(void **state)
{
	struct {
		uint64_t task, run_ns;
		uint32_t pid;
		bool alive, pending; /* ended, its record still to come */
	} lives[LIVES] = { 0 };
	uint64_t seed = 42, ran_ns = 0, told_ns = 0;
	uint32_t next_pid = 1000;
	struct thread_table *table = NULL;

	assert_int_equal(thread_table_new(1000, &table), 0);
	thread_table_begin(table, true, now_ns);
	(void)finish(table);
	for (int pass = 0; pass < 3000; pass++) {
		bool full = thread_table_wants_full(table) || pass % 50 == 0;

		for (int i = 0; i < LIVES; i++) {
			uint32_t dice;

			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			dice = (uint32_t)(seed >> 40) % 16;
			if (lives[i].pending) { /* a grace period is over */
				ended(table, young(thread(lives[i].task, lives[i].pid, lives[i].pid,
							  lives[i].run_ns)));
				lives[i].pending = false;
			} else if (!lives[i].alive && dice < 8) {
				lives[i].alive = true;
				lives[i].pid = next_pid++;
				lives[i].run_ns = 0;
				lives[i].task = TASK_A + (uint64_t)i * 64; /* reused at once */
			} else if (lives[i].alive && dice < 3) {
				lives[i].alive = false;
				lives[i].pending = true;
			}
			if (lives[i].alive && dice & 1) {
				lives[i].run_ns += dice * 100;
				ran_ns += dice * 100;
			}
		}
		thread_table_begin(table, full, now_ns);
		for (int i = 0; i < LIVES; i++) {
			if (lives[i].alive)
				living(table, thread(lives[i].task, lives[i].pid, lives[i].pid,
						     lives[i].run_ns));
		}
		told_ns += finish(table).busy_ns;
	}
	for (int pass = 0; pass < 4; pass++) {
		for (int i = 0; i < LIVES && pass == 0; i++) {
			if (lives[i].alive || lives[i].pending)
				ended(table, young(thread(lives[i].task, lives[i].pid, lives[i].pid,
							  lives[i].run_ns)));
		}
		thread_table_begin(table, true, now_ns);
		told_ns += finish(table).busy_ns;
	}
	assert_int_equal(told_ns, ran_ns);
	assert_int_equal(thread_table_count(table), 0);
	thread_table_free(table);
}

static struct kepler_thread on_cpu(struct kepler_thread record, uint32_t cpu)
{
	record.cpu = cpu;
	return record;
}

/*
 * Each part of a run time belongs to the CPU with which it was reported, also for ends and other
 * threads.
 */
static void test_time_is_reported_by_socket(void **state)
{
	uint8_t of_cpu[] = { 0, 1, UINT8_MAX, 1 };
	struct cpu_sockets sockets = { .count = 2, .cpu_count = 4, .of_cpu = of_cpu };
	struct thread_table *table = NULL;
	struct activity activity;

	assert_int_equal(thread_table_new(1000, &table), 0);
	thread_table_tell_sockets(table, &sockets);
	thread_table_begin(table, true, now_ns);
	living(table, on_cpu(thread(TASK_A, 100, 100, 1000), 0));
	activity = finish(table);
	assert_int_equal(activity.sockets, 2);
	assert_int_equal(activity.socket_ns[0] + activity.socket_ns[1], 0);

	for (uint32_t pid = 200; pid < 300; pid++) /* rows grow meanwhile */
		ended(table, young(on_cpu(thread(TASK_B + pid, pid, pid, pid), 1)));
	thread_table_begin(table, false, now_ns);
	living(table, on_cpu(thread(TASK_A, 100, 100, 1500), 3));
	living(table, on_cpu(thread(TASK_B, 100, 101, 70), 0));
	activity = finish(table);
	assert_int_equal(activity.count, 101);
	for (size_t i = 0; i < activity.count; i++) {
		const uint64_t *socket_ns = activity.socket_ns + i * 2;
		uint32_t pid = activity.samples[i].key.pid;

		assert_int_equal(socket_ns[0], pid == 100 ? 70 : 0);
		assert_int_equal(socket_ns[1], pid == 100 ? 500 : pid);
		assert_int_equal(activity.samples[i].cpu_ns, socket_ns[0] + socket_ns[1]);
	}
	thread_table_begin(table, false, now_ns);
	living(table, on_cpu(thread(TASK_A, 100, 100, 1600), 2)); /* a CPU that came since */
	activity = finish(table);
	assert_int_equal(activity.samples[0].cpu_ns, 100);
	assert_int_equal(activity.socket_ns[0] + activity.socket_ns[1], 0);
	of_cpu[2] = 2; /* with a socket of its own */
	sockets.count = 3;
	thread_table_begin(table, false, now_ns);
	living(table, on_cpu(thread(TASK_A, 100, 100, 1700), 2));
	activity = finish(table);
	assert_int_equal(activity.sockets, 3);
	assert_int_equal(activity.socket_ns[2], 100);
	thread_table_free(table);
}

static struct kepler_thread child_of(uint32_t parent, struct kepler_thread record)
{
	record.parent = parent;
	record.parent_start_ns = parent * 10;
	return record;
}

/* The last one that is known: an end may be reported when its parent's memory is gone. */
static void test_samples_have_the_parent(void **state)
{
	struct thread_table *table = *state;
	struct activity activity;

	thread_table_begin(table, false, now_ns);
	living(table, child_of(7, thread(TASK_A, 100, 100, 2000000000)));
	activity = finish(table);
	assert_int_equal(activity.samples[0].parent.pid, 7);
	assert_int_equal(activity.samples[0].parent.start_ns, 70);
	thread_table_begin(table, false, now_ns);
	living(table, child_of(8, thread(TASK_A, 100, 100, 2000000001)));
	activity = finish(table);
	assert_int_equal(activity.samples[0].parent.pid, 8);
	thread_table_begin(table, false, now_ns);
	ended(table, thread(TASK_A, 100, 100, 2000000002));
	activity = finish(table);
	assert_int_equal(activity.samples[0].parent.pid, 8);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_baseline_shows_all_and_charges_none),
		TEST(test_samples_have_the_parent),
		TEST(test_end_before_baseline_is_not_charged),
		TEST(test_cycles_are_of_each_thread_s_cpu),
		TEST(test_living_thread_is_charged_its_growth),
		TEST(test_idle_process_has_no_sample),
		TEST(test_end_is_charged_once_even_late),
		TEST(test_process_between_two_passes),
		TEST(test_ended_thread_of_living_process),
		TEST(test_leader_ends_before_its_threads),
		TEST(test_thread_whose_leader_was_freed),
		TEST(test_reused_pid_inherits_nothing),
		TEST(test_exec_by_another_thread_keeps_both_counts),
		TEST(test_exec_and_end_between_two_passes),
		TEST(test_lost_ends_are_settled_exactly),
		TEST(test_lost_end_of_unreported_thread_is_dropped_whole),
		TEST(test_end_that_is_late_for_the_sweep_counts_once),
		TEST(test_lost_by_cgroup_and_node),
		TEST(test_lost_cgroups_are_bounded),
		cmocka_unit_test(test_what_finds_no_room_is_dropped_not_lost),
		TEST(test_visit_shows_the_living),
		cmocka_unit_test(test_time_is_reported_by_socket),
		cmocka_unit_test(test_random_lives_add_up),
	};

	return unit_run(tests);
}

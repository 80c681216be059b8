// SPDX-License-Identifier: Apache-2.0
/*
 * Threads that the table has no row of any more, or never had one of: no life is charged that was
 * charged before, or was lived before anything was counted.
 */
#include "activity/bpf_reader/thread_table.h"

#include "activity/unseen_time.h"
#include "base/num.h"
#include "tests/unit/unit.h"
#include "thread_records.h"

#define LIFE_NS  (36000 * NSEC_PER_SEC)
#define BEGIN_NS (100000 * NSEC_PER_SEC) /* long after START */
#define HALF_NS  (NSEC_PER_SEC / 2)

static uint64_t now_ns;

static int set_up(void **state)
{
	now_ns = BEGIN_NS;
	*state = new_table(now_ns);
	return 0;
}

static int tear_down(void **state)
{
	thread_table_free(*state);
	return 0;
}

static void begin(struct thread_table *table, bool full)
{
	now_ns += NSEC_PER_SEC;
	thread_table_begin(table, full, now_ns);
}

static struct kepler_thread exiting(struct kepler_thread record)
{
	record.flags |= KEPLER_EXITING;
	return record;
}

/* A process born after the baseline. */
static struct kepler_thread born(uint64_t task, uint32_t tgid, uint32_t tid, uint64_t run_ns)
{
	struct kepler_thread record = thread(task, tgid, tid, run_ns);

	record.process_start_ns = BEGIN_NS + 1;
	return record;
}

/* The part of a second that passes report from now on, all work of the node. */
static uint64_t run_passes(struct thread_table *table, unsigned int count, bool full)
{
	uint64_t busy_ns = 0;

	while (count--) {
		begin(table, full || thread_table_wants_full(table));
		living(table, thread(TASK_A, 100, 100, NSEC_PER_SEC));
		busy_ns += finish(table).busy_ns;
	}
	return busy_ns;
}

/* A process that has run for ten hours; all but the last half second was reported. */
static void live_long(struct thread_table *table)
{
	begin(table, true);
	living(table, thread(TASK_A, 100, 100, NSEC_PER_SEC));
	living(table, born(TASK_B, 200, 200, 0));
	(void)finish(table);
	begin(table, false);
	living(table, born(TASK_B, 200, 200, LIFE_NS));
	assert_int_equal(finish(table).busy_ns, LIFE_NS);
}

/* It exits, is reaped, and its callback of RCU takes longer than full passes do. */
static void test_late_end_is_charged_the_rest(void **state)
{
	uint64_t busy_ns;

	live_long(*state);
	ended(*state, exiting(born(TASK_B, 200, 200, LIFE_NS + HALF_NS)));
	busy_ns = run_passes(*state, 40, true);
	assert_int_equal(busy_ns, HALF_NS);
	assert_int_equal(thread_table_count(*state), 1);
	ended(*state, born(TASK_B, 200, 200, LIFE_NS + HALF_NS + 7));
	busy_ns += run_passes(*state, 5, false);
	assert_int_equal(busy_ns, HALF_NS + 7);
}

/* The same if the exit is not reported. */
static void test_late_end_without_exit_is_charged_the_rest(void **state)
{
	uint64_t busy_ns;

	live_long(*state);
	busy_ns = run_passes(*state, 4, true);
	assert_int_equal(busy_ns, 0);
	ended(*state, born(TASK_B, 200, 200, LIFE_NS + HALF_NS));
	assert_int_equal(run_passes(*state, 1, false), HALF_NS);
}

/* Two full passes are over before its exit counts as overdue, and the end never comes. */
static void test_exit_counts_though_the_row_is_swept(void **state)
{
	live_long(*state);
	ended(*state, exiting(born(TASK_B, 200, 200, LIFE_NS + HALF_NS)));
	assert_int_equal(run_passes(*state, 10, true), HALF_NS);
	assert_int_equal(thread_table_count(*state), 1);
}

/*
 * It exits after the ring was emptied and before the walk comes to it, so that the pass reports its
 * final time, and its exit, which has less, is read afterwards.
 */
static void test_exit_that_is_older_than_the_walk_charges_nothing_again(void **state)
{
	begin(*state, false);
	living(*state, young(born(TASK_B, 200, 200, 5000)));
	assert_int_equal(finish(*state).busy_ns, 5000);
	ended(*state, exiting(young(born(TASK_B, 200, 200, 4000))));
	ended(*state, young(born(TASK_B, 200, 200, 5000)));
	begin(*state, false);
	assert_int_equal(finish(*state).busy_ns, 0);
	assert_int_equal(thread_table_count(*state), 1);
}

/* The kernel's list of tasks did not have it twice, and then it has. */
static void test_living_thread_that_was_swept(void **state)
{
	live_long(*state);
	assert_int_equal(run_passes(*state, 4, true), 0);
	begin(*state, false);
	living(*state, born(TASK_B, 200, 200, LIFE_NS + 9));
	assert_int_equal(finish(*state).busy_ns, 9);
}

/* It was taken for the one whose end was lost: its reported time is in the account of the lost. */
static void test_late_end_that_was_taken_for_a_lost_one(void **state)
{
	uint64_t busy_ns;

	live_long(*state);
	thread_table_lost_old(*state, 1, 4000); /* of a thread that no pass reported */
	busy_ns = run_passes(*state, 6, true);
	ended(*state, born(TASK_B, 200, 200, LIFE_NS + HALF_NS));
	begin(*state, false);
	busy_ns += finish(*state).busy_ns;
	assert_true(busy_ns <= HALF_NS + 4000);
	busy_ns += run_passes(*state, 6, true);
	assert_int_equal(busy_ns, HALF_NS + 4000);
}

/* An end of long ago: at most what can have run since the full passes that did not have it. */
static void test_end_of_the_forgotten_is_bounded(void **state)
{
	uint64_t busy_ns;

	live_long(*state);
	assert_int_equal(run_passes(*state, 4, true), 0);
	assert_int_equal(run_passes(*state, 100, false), 0); /* longer than it is remembered */
	assert_int_equal(run_passes(*state, 2, true), 0);
	ended(*state, born(TASK_B, 200, 200, LIFE_NS + HALF_NS));
	busy_ns = run_passes(*state, 1, false);
	assert_in_range(busy_ns, 0, 3 * NSEC_PER_SEC);
}

/* More late ends than are remembered: bounded, and counted. */
static void test_late_ends_without_room_are_counted(void **state)
{
	enum { COUNT = 1500 }; /* of 1,000 processes */
	struct thread_table *table = *state;
	uint64_t busy_ns = 0;

	begin(table, false);
	for (uint32_t i = 0; i < COUNT; i++)
		living(table, born(TASK_B + i * 64, 200, 200 + i, LIFE_NS));
	(void)finish(table);
	assert_int_equal(thread_table_overflows(table), 0);
	busy_ns += run_passes(table, 3, true);
	assert_int_equal(thread_table_overflows(table), COUNT - 1000);
	for (uint32_t i = 0; i < COUNT; i++)
		ended(table, born(TASK_B + i * 64, 200, 200 + i, LIFE_NS + 1));
	busy_ns += run_passes(table, 1, false);
	assert_in_range(busy_ns, 1000, COUNT * 3 * NSEC_PER_SEC);
	assert_int_equal(thread_table_count(table), 1);
}

/* A new thread in the memory of one that was swept inherits nothing. */
static void test_reused_memory_inherits_nothing(void **state)
{
	struct kepler_thread next = thread(TASK_B, 300, 300, 70);

	live_long(*state);
	(void)run_passes(*state, 4, true);
	next.process_start_ns = now_ns + 1;
	begin(*state, false);
	living(*state, next);
	assert_int_equal(finish(*state).busy_ns, 70);
	ended(*state, young(thread(TASK_B + 64, 200, 200, 20))); /* the same tid only */
	assert_int_equal(run_passes(*state, 1, false), 20);
}

/* Older than the last full pass, which did not have it: it is new to us, not to the machine. */
static void test_old_process_without_a_row_is_baseline(void **state)
{
	struct activity activity;

	begin(*state, false);
	living(*state, thread(TASK_B, 200, 200, LIFE_NS));
	activity = finish(*state);
	assert_int_equal(activity.busy_ns, 0);
	begin(*state, false);
	living(*state, thread(TASK_B, 200, 200, LIFE_NS + 11));
	activity = finish(*state);
	assert_int_equal(activity.busy_ns, 11);
	assert_int_equal(activity.samples[0].key.pid, 200);
}

static void test_new_thread_of_an_old_process_is_work(void **state)
{
	begin(*state, false);
	living(*state, thread(TASK_B, 100, 101, 12));
	assert_int_equal(finish(*state).busy_ns, 12);
}

/*
 * A pass that sees a part of the machine: the past of an unseen process is not charged at its end.
 */
static void test_partial_view_charges_no_unseen_life(void **state)
{
	uint64_t busy_ns;

	thread_table_sees_part(*state);
	begin(*state, false);
	(void)finish(*state);
	ended(*state, exiting(thread(TASK_B, 200, 200, LIFE_NS)));
	busy_ns = run_passes(*state, 6, false);
	ended(*state, thread(TASK_B, 200, 200, LIFE_NS + 3));
	busy_ns += run_passes(*state, 6, false);
	assert_int_equal(busy_ns, 0);
	ended(*state, thread(TASK_B + 64, 201, 201, LIFE_NS));
	ended(*state, young(thread(TASK_B + 128, 202, 202, 40)));
	assert_int_equal(run_passes(*state, 2, false), 40);
}

/* The time that an exit reports is known to come until the end is reported, or is given up. */
static void test_exit_is_known_to_come(void **state)
{
	struct activity activity;

	live_long(*state);
	ended(*state, exiting(born(TASK_B, 200, 200, LIFE_NS + HALF_NS)));
	ended(*state, exiting(young(born(TASK_B + 64, 201, 201, 300))));
	begin(*state, false);
	activity = finish(*state);
	assert_int_equal(activity.busy_ns, 0);
	assert_int_equal(activity.coming_ns, HALF_NS + 300);
	assert_int_equal(activity.coming_threads, 2);
	ended(*state, young(born(TASK_B + 64, 201, 201, 310)));
	begin(*state, false);
	living(*state, born(TASK_B, 200, 200, LIFE_NS + HALF_NS / 2)); /* while it was exiting */
	activity = finish(*state);
	assert_int_equal(activity.busy_ns, HALF_NS / 2 + 310);
	assert_int_equal(activity.coming_ns, HALF_NS / 2);
	assert_int_equal(activity.coming_threads, 1);
	begin(*state, false);
	activity = finish(*state); /* its exit may be no older than two seconds */
	assert_int_equal(activity.busy_ns, 0);
	begin(*state, false);
	activity = finish(*state); /* overdue: its exit counts */
	assert_int_equal(activity.busy_ns, HALF_NS / 2);
	assert_int_equal(activity.coming_ns, 0);
	assert_int_equal(activity.coming_threads, 0);
}

/* The ring has no room for exits: how many there were is known for as long as ends take. */
static void test_unreported_exits_are_known_to_come(void **state)
{
	struct activity activity;

	thread_table_unreported_exits(*state, 5, 700);
	thread_table_unreported_exits(*state, 1, 50);
	for (int pass = 0; pass < 3; pass++) {
		begin(*state, false);
		activity = finish(*state);
		assert_int_equal(activity.coming_ns, 750);
		assert_int_equal(activity.coming_threads, 6);
		assert_int_equal(activity.busy_ns, 0);
	}
	(void)run_passes(*state, 4, false);
	begin(*state, false);
	assert_int_equal(finish(*state).coming_ns, 0);
}

/*
 * Each pass of 5 s finds the exit of a process whose end comes with the next one. That does not
 * cause a full pass, while an end that does not come does.
 */
static void test_long_intervals_make_no_exit_overdue(void **state)
{
	uint64_t busy_ns = 0;
	unsigned int full = 0;

	for (uint32_t pid = 200; pid < 400; pid++) {
		struct kepler_thread record = young(born(TASK_B + pid * 64ULL, pid, pid, HALF_NS));
		bool wants_full = thread_table_wants_full(*state);

		full += wants_full;
		ended(*state, exiting(record));
		now_ns += 4 * NSEC_PER_SEC;
		begin(*state, wants_full);
		living(*state, thread(TASK_A, 100, 100, NSEC_PER_SEC));
		busy_ns += finish(*state).busy_ns;
		assert_int_equal(busy_ns, (pid - 200) * HALF_NS);
		ended(*state, record);
	}
	assert_int_equal(full, 0);
	ended(*state, exiting(young(born(TASK_B, 400, 400, HALF_NS))));
	now_ns += 4 * NSEC_PER_SEC;
	(void)run_passes(*state, 1, false);
	assert_false(thread_table_wants_full(*state));
	(void)run_passes(*state, 3, false);
	assert_true(thread_table_wants_full(*state));
}

/* The pass that finds an end overdue is a full one: it removes the row, and no other is needed. */
static void test_full_pass_settles_what_is_overdue_by_then(void **state)
{
	uint64_t busy_ns;

	live_long(*state);
	ended(*state, exiting(born(TASK_B, 200, 200, LIFE_NS + HALF_NS)));
	busy_ns = run_passes(*state, 1, true); /* which misses it */
	now_ns += 3 * NSEC_PER_SEC;
	busy_ns += run_passes(*state, 1, true);
	assert_int_equal(busy_ns, HALF_NS);
	assert_int_equal(thread_table_count(*state), 1);
	assert_false(thread_table_wants_full(*state));
	busy_ns = run_passes(*state, 29, false); /* after which overdue ends are checked together */
	assert_int_equal(busy_ns, 0);
	assert_false(thread_table_wants_full(*state));
}

/* Lost ends are held back for two passes. */
static void test_what_is_held_back_is_known_to_come(void **state)
{
	struct activity activity;
	uint64_t busy_ns = 0;

	thread_table_lost_old(*state, 1, 4000);
	for (int pass = 0; pass < 3; pass++) {
		begin(*state, true);
		living(*state, thread(TASK_A, 100, 100, NSEC_PER_SEC));
		activity = finish(*state);
		busy_ns += activity.busy_ns;
		assert_int_equal(activity.coming_ns + busy_ns, 4000);
	}
	assert_int_equal(busy_ns, 4000);
}

/* It was guarded from all passes, and what it ran was unseen: its end brings nothing back. */
static void test_end_of_a_guarded_process_adds_no_work(void **state)
{
	uint64_t busy_ns = run_passes(*state, 1, false);

	for (uint32_t pid = 200; pid < 204; pid += 2) {
		ended(*state, exiting(thread(TASK_B, pid, pid, NSEC_PER_SEC - 1)));
		ended(*state, thread(TASK_B, pid, pid, NSEC_PER_SEC));
		ended(*state, thread(TASK_B + 64, pid, pid + 1, LIFE_NS));
		busy_ns += run_passes(*state, 6, true);
	}
	assert_int_equal(busy_ns, 0);
}

/* A short life was not reported, and its end comes after full passes: it is not a guarded one. */
static void test_late_end_of_a_short_life(void **state)
{
	struct kepler_thread record = thread(TASK_B, 200, 200, HALF_NS);
	uint64_t busy_ns = run_passes(*state, 2, true);

	record.process_start_ns = now_ns + 1;
	busy_ns += run_passes(*state, 20, true);
	ended(*state, record);
	busy_ns += run_passes(*state, 1, false);
	assert_int_equal(busy_ns, HALF_NS);
}

/* ---- random lives on a machine that counts what is run ---- */

#define LIVES      64
#define CPUS       4U
#define TICK_NS    NSEC_PER_MSEC
#define LAST_SLICE (100 * NSEC_PER_MSEC)

struct life {
	struct kepler_thread record;
	uint32_t late;      /* passes until the end is reported */
	uint64_t untold_ns; /* by then */
	bool alive;
};

struct machine {
	struct thread_table *table;
	struct life lives[LIVES];
	struct unseen_time unseen;
	struct machine_time account;
	bool tells_exits;
	uint64_t seed;
	uint32_t next_pid;
	uint64_t told_ns, found_ns;
	uint64_t late_ns, most_late_ns; /* run, and not reported yet */
};

static uint32_t throw_dice(struct machine *machine)
{
	machine->seed = machine->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(machine->seed >> 40) % 64;
}

static void run(struct machine *machine, struct life *life, uint64_t ns)
{
	life->record.run_ns += ns;
	machine->account.busy_ns += ns;
}

/* It leaves the list of tasks; its end is reported up to 40 passes later. */
static void leave(struct machine *machine, struct life *life, uint32_t dice)
{
	run(machine, life, dice * LAST_SLICE);
	if (machine->tells_exits)
		ended(machine->table, exiting(life->record));
	run(machine, life, dice); /* after it reported its exit */
	life->alive = false;
	life->late = 1 + throw_dice(machine) % 40;
	life->untold_ns = dice * (LAST_SLICE + 1);
	machine->late_ns += life->untold_ns;
	if (machine->late_ns > machine->most_late_ns)
		machine->most_late_ns = machine->late_ns;
}

static void live(struct machine *machine, uint32_t number, bool is_last)
{
	struct life *life = &machine->lives[number];
	uint32_t dice = throw_dice(machine);

	if (life->late) {
		if (--life->late)
			return;
		ended(machine->table, life->record);
		machine->late_ns -= life->untold_ns;
	} else if (!life->alive && dice < 20 && !is_last) {
		life->alive = true;
		life->record =
			thread(TASK_B + number * 64ULL, machine->next_pid, machine->next_pid, 0);
		life->record.process_start_ns = now_ns;
		machine->next_pid++;
		run(machine, life, dice * 1000);
	} else if (life->alive && (dice < 8 || is_last)) {
		leave(machine, life, dice % 8);
	} else if (life->alive && dice & 1) {
		run(machine, life, dice * 100);
	}
}

/* A second of the machine, with a pass at its end that compares as activity.c does. */
static void pass_second(struct machine *machine, bool full, uint64_t hidden_ns)
{
	struct activity activity;

	machine->account.busy_ns += hidden_ns;
	begin(machine->table, full);
	living(machine->table, thread(TASK_A, 100, 100, NSEC_PER_SEC));
	for (int i = 0; i < LIVES; i++) {
		if (machine->lives[i].alive)
			living(machine->table, machine->lives[i].record);
	}
	activity = finish(machine->table);
	machine->told_ns += activity.busy_ns;
	machine->account.time_ns = machine->account.boottime_ns = now_ns;
	machine->account.idle_ns = (now_ns - BEGIN_NS) * CPUS - machine->account.busy_ns;
	machine->found_ns +=
		unseen_time_add(&machine->unseen, &machine->account, activity.busy_ns,
				activity.coming_ns + activity.coming_threads * TICK_NS);
}

/*
 * Lives whose ends come up to 40 passes after they left the list, and any pass may be full:
 * whatever the order, the reported time is the run time.
 */
static void live_at_random(struct machine *machine, struct thread_table *table, bool tells_exits)
{
	*machine = (struct machine){
		.table = table,
		.account = { .time_ns = BEGIN_NS, .boottime_ns = BEGIN_NS, .cpus = CPUS },
		.tells_exits = tells_exits,
		.seed = 7,
		.next_pid = 1000
	};
	unseen_time_init(&machine->unseen, TICK_NS);
	(void)unseen_time_add(&machine->unseen, &machine->account, 0, 0);
	for (int pass = 0; pass < 1000; pass++) {
		for (uint32_t i = 0; i < LIVES; i++)
			live(machine, i, pass >= 900);
		pass_second(machine, thread_table_wants_full(table) || pass % 9 == 0, 0);
	}
	for (int pass = 0; pass < 4; pass++)
		pass_second(machine, true, 0);
	assert_int_equal(machine->late_ns, 0);
	assert_int_equal(machine->told_ns, machine->account.busy_ns);
	assert_int_equal(thread_table_count(table), 1);
	assert_int_equal(thread_table_overflows(table), 0);
}

static void test_random_late_ends_add_up(void **state)
{
	struct machine machine;

	live_at_random(&machine, *state, true);
	assert_int_equal(machine.found_ns, 0); /* an exit reported for each */
}

/* Late time may be given out as unseen first: no more than ever was late, and it is repaid. */
static void test_random_late_ends_without_exits_add_up(void **state)
{
	const uint64_t hidden_ns = 1000 * NSEC_PER_SEC;
	struct machine machine;

	live_at_random(&machine, *state, false);
	assert_in_range(machine.found_ns, machine.most_late_ns / 2, machine.most_late_ns);
	for (int pass = 0; pass < 1000; pass++)
		pass_second(&machine, false, hidden_ns / 1000);
	assert_int_equal(machine.told_ns + hidden_ns, machine.account.busy_ns);
	assert_in_range(machine.found_ns, hidden_ns * 98 / 100, hidden_ns);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_late_end_is_charged_the_rest),
		TEST(test_late_end_without_exit_is_charged_the_rest),
		TEST(test_exit_counts_though_the_row_is_swept),
		TEST(test_exit_that_is_older_than_the_walk_charges_nothing_again),
		TEST(test_living_thread_that_was_swept),
		TEST(test_late_end_that_was_taken_for_a_lost_one),
		TEST(test_end_of_the_forgotten_is_bounded),
		TEST(test_late_ends_without_room_are_counted),
		TEST(test_reused_memory_inherits_nothing),
		TEST(test_old_process_without_a_row_is_baseline),
		TEST(test_new_thread_of_an_old_process_is_work),
		TEST(test_partial_view_charges_no_unseen_life),
		TEST(test_exit_is_known_to_come),
		TEST(test_unreported_exits_are_known_to_come),
		TEST(test_long_intervals_make_no_exit_overdue),
		TEST(test_full_pass_settles_what_is_overdue_by_then),
		TEST(test_what_is_held_back_is_known_to_come),
		TEST(test_end_of_a_guarded_process_adds_no_work),
		TEST(test_late_end_of_a_short_life),
		TEST(test_random_late_ends_add_up),
		TEST(test_random_late_ends_without_exits_add_up),
	};

	return unit_run(tests);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * A machine that is made up: work that is seen, work that is not, and the account that ticks make
 * of both. The unseen time that is found is compared with the true one.
 */
#include "activity/unseen_time.h"

#include <inttypes.h>

#include "base/num.h"
#include "tests/rig/property.h"
#include "tests/unit/unit.h"

#define TICK_NS   (4 * NSEC_PER_MSEC)
#define CUT_NS    (10 * NSEC_PER_MSEC)
#define CPUS      2U
#define SECOND_NS NSEC_PER_SEC

struct rig {
	struct unseen_time unseen;
	struct machine_time exact; /* not cut yet */
	uint64_t seen_ns, hidden_ns, found_ns;
	uint64_t coming_ns; /* is reported to come with a later pass */
	uint64_t chance;
};

static uint64_t cut(uint64_t ns)
{
	return ns - ns % CUT_NS;
}

static void told(struct rig *rig, uint64_t seen_ns)
{
	struct machine_time now = rig->exact;

	now.busy_ns = cut(now.busy_ns);
	now.idle_ns = cut(now.idle_ns);
	rig->seen_ns += seen_ns;
	rig->found_ns += unseen_time_add(&rig->unseen, &now, seen_ns, rig->coming_ns);
}

static void begin(struct rig *rig)
{
	*rig = (struct rig){ .exact = { .time_ns = 100 * SECOND_NS,
					.boottime_ns = 500 * SECOND_NS,
					.busy_ns = 12345678901,
					.idle_ns = 98765432109,
					.cpus = CPUS } };
	unseen_time_init(&rig->unseen, TICK_NS);
	told(rig, 0);
}

static void pass_time(struct rig *rig, uint64_t ns)
{
	rig->exact.time_ns += ns;
	rig->exact.boottime_ns += ns;
}

/* A second in which the account says this, and a pass that. */
static void account_second(struct rig *rig, uint64_t busy_ns, uint64_t idle_ns, uint64_t seen_ns)
{
	pass_time(rig, SECOND_NS);
	rig->exact.busy_ns += busy_ns;
	rig->exact.idle_ns += idle_ns;
	told(rig, seen_ns);
}

/* A second in which so much was run, counted exactly. */
static void second(struct rig *rig, uint64_t seen_ns, uint64_t hidden_ns)
{
	rig->hidden_ns += hidden_ns;
	account_second(rig, seen_ns + hidden_ns, CPUS * SECOND_NS - seen_ns - hidden_ns, seen_ns);
}

static void test_what_is_seen_is_not_unseen(void **state)
{
	struct rig rig;

	begin(&rig);
	for (int i = 0; i < 1000; i++)
		second(&rig, (uint64_t)i % 3 * SECOND_NS, 0);
	assert_int_equal(rig.found_ns, 0);
}

static void test_what_is_hidden_is_found(void **state)
{
	struct rig rig;

	begin(&rig);
	for (int i = 0; i < 600; i++)
		second(&rig, SECOND_NS / 100, SECOND_NS);
	assert_true(rig.found_ns <= rig.hidden_ns);
	assert_true(rig.found_ns >= rig.hidden_ns * 98 / 100);
	/* It was not given out twice: nothing is owed when it ends. */
	rig.hidden_ns = rig.found_ns = 0;
	for (int i = 0; i < 600; i++)
		second(&rig, SECOND_NS / 100, 0);
	assert_int_equal(rig.found_ns, 0);
}

static void test_the_first_second_has_most_of_it(void **state)
{
	struct rig rig;

	begin(&rig);
	second(&rig, 0, SECOND_NS);
	assert_true(rig.found_ns > SECOND_NS / 2);
}

/* Chance decides: many numbers, and no single one matters by itself. */
static uint64_t below(struct rig *rig, uint64_t bound)
{
	rig->chance ^= rig->chance << 13;
	rig->chance ^= rig->chance >> 7;
	rig->chance ^= rig->chance << 17;
	return rig->chance % bound;
}

/*
 * A second in which each tick counts all or nothing, by the task that it finds; idle time is made
 * of ticks as well where they do not stop in idle. In the part @run_ns of each tick there is work.
 */
static void sampled_second(struct rig *rig, uint64_t run_ns, uint64_t hidden_ns, bool idle_exact)
{
	const uint64_t ticks = CPUS * SECOND_NS / TICK_NS;
	uint64_t found = 0;

	for (uint64_t i = 0; i < ticks; i++)
		found += below(rig, TICK_NS) < run_ns + hidden_ns;
	pass_time(rig, SECOND_NS);
	rig->exact.busy_ns += found * TICK_NS;
	rig->exact.idle_ns +=
		CPUS * SECOND_NS - (idle_exact ? ticks * (run_ns + hidden_ns) : found * TICK_NS);
	rig->hidden_ns += ticks * hidden_ns;
	told(rig, ticks * run_ns);
}

static void begin_by_chance(struct rig *rig, struct property_source *source)
{
	begin(rig);
	rig->chance = draw_below(source, UINT64_MAX - 1) + 1;
}

static const char *sampling_is_not_unseen(struct property_source *source, void *userdata)
{
	uint64_t run_ns = draw_below(source, TICK_NS + 1);
	bool idle_exact = draw_chance(source, 2);
	struct rig rig;

	(void)userdata;
	begin_by_chance(&rig, source);
	for (int i = 0; i < 600; i++) {
		if (i % 50 == 0)
			run_ns = below(&rig, TICK_NS + 1);
		sampled_second(&rig, run_ns, 0, idle_exact);
		if (rig.found_ns)
			return "sampling made time that was not seen";
	}
	return NULL;
}

static void test_sampling_is_not_unseen(void **state)
{
	assert_true(property_check("sampling", sampling_is_not_unseen, NULL, 50));
}

static const char *a_little_is_found(struct property_source *source, void *userdata)
{
	uint64_t run_ns = TICK_NS / 4, hidden_ns = TICK_NS / 20;
	struct rig rig;

	(void)userdata;
	begin_by_chance(&rig, source);
	for (int i = 0; i < 1200; i++)
		sampled_second(&rig, run_ns, hidden_ns, false);
	if (rig.found_ns > rig.hidden_ns)
		return "more was found than hidden";
	return rig.found_ns < rig.hidden_ns * 8 / 10 ? "too little was found" : NULL;
}

static void test_a_little_is_found_in_time(void **state)
{
	assert_true(property_check("a little", a_little_is_found, NULL, 20));
}

static void test_work_in_step_with_ticks_is_not_unseen(void **state)
{
	struct rig rig;

	begin(&rig);
	for (int i = 0; i < 600; i++) /* each tick of a CPU finds it */
		account_second(&rig, SECOND_NS, CPUS * SECOND_NS - SECOND_NS / 8, SECOND_NS / 8);
	assert_int_equal(rig.found_ns, 0);
}

static void test_work_that_ticks_miss_hides_nothing_later(void **state)
{
	struct rig rig;

	begin(&rig);
	for (int i = 0; i < 3600; i++)
		account_second(&rig, 0, CPUS * SECOND_NS - SECOND_NS / 4, SECOND_NS / 4);
	assert_int_equal(rig.found_ns, 0);
	for (int i = 0; i < 10; i++)
		second(&rig, 0, SECOND_NS);
	assert_true(rig.found_ns > 8 * SECOND_NS);
}

static void test_differences_cancel(void **state)
{
	struct rig rig;

	begin(&rig);
	for (int i = 0; i < 600; i++) /* ended tasks are reported an interval late */
		account_second(&rig, SECOND_NS, SECOND_NS,
			       i % 2 ? SECOND_NS + SECOND_NS / 20 : SECOND_NS - SECOND_NS / 20);
	assert_int_equal(rig.found_ns, 0);
}

/* Seconds of full work that is reported whole, from the account's view. */
static void settle(struct rig *rig, int seconds)
{
	while (seconds--)
		second(rig, SECOND_NS, 0);
}

/* So much ran, and is reported in a later pass. */
static void second_told_later(struct rig *rig, uint64_t late_ns)
{
	second(rig, SECOND_NS, late_ns);
	rig->hidden_ns -= late_ns;
}

/* So much is reported that ran earlier. */
static void second_told_of_before(struct rig *rig, uint64_t late_ns)
{
	pass_time(rig, SECOND_NS);
	rig->exact.busy_ns += SECOND_NS;
	rig->exact.idle_ns += SECOND_NS;
	told(rig, SECOND_NS + late_ns);
}

/* An exit was reported, its end was not: that is known to come. */
static void test_what_is_to_come_is_not_unseen(void **state)
{
	struct rig rig;

	begin(&rig);
	rig.coming_ns = 3 * SECOND_NS;
	for (int i = 0; i < 3; i++)
		second_told_later(&rig, SECOND_NS);
	settle(&rig, 20);
	assert_int_equal(rig.found_ns, 0);
	rig.coming_ns = 0;
	second_told_of_before(&rig, 3 * SECOND_NS);
	settle(&rig, 100);
	assert_int_equal(rig.found_ns, 0);
	assert_true(rig.seen_ns <= rig.exact.busy_ns);
	/* Nothing that is hidden meanwhile was forgotten. */
	rig.coming_ns = SECOND_NS;
	for (int i = 0; i < 100; i++)
		second(&rig, SECOND_NS / 2, SECOND_NS);
	rig.coming_ns = 0;
	second(&rig, SECOND_NS / 2, SECOND_NS);
	assert_in_range(rig.found_ns, rig.hidden_ns * 9 / 10, rig.hidden_ns);
}

/*
 * Nothing was known of it, so it was unseen; then it is reported: the next unseen time pays for it.
 */
static void late_end(int passes)
{
	const uint64_t late_ns = 50 * SECOND_NS, bound_ns = 6 * SECOND_NS;
	uint64_t given_ns;
	struct rig rig;

	begin(&rig);
	for (int i = 0; i < 50; i++)
		second_told_later(&rig, SECOND_NS);
	given_ns = rig.found_ns;
	assert_true(given_ns > 48 * SECOND_NS);
	settle(&rig, passes);
	second_told_of_before(&rig, late_ns);
	settle(&rig, 150); /* long ago as well */
	assert_int_equal(rig.found_ns, given_ns);
	for (int i = 0; i < 200; i++)
		second(&rig, 0, SECOND_NS);
	/* It is paid, and once. */
	assert_in_range(rig.found_ns, rig.hidden_ns - 2 * bound_ns, rig.hidden_ns + bound_ns);
}

static void test_a_late_end_is_repaid(void **state)
{
	for (int passes = 0; passes < 50; passes += 7)
		late_end(passes);
}

/* The loop was kept from a CPU between the account and the pass: it shows less than is seen. */
static void test_an_account_of_an_earlier_moment(void **state)
{
	struct rig rig;

	begin(&rig);
	for (int i = 0; i < 100; i++) {
		second_told_of_before(&rig, SECOND_NS);
		account_second(&rig, 2 * SECOND_NS, 0, SECOND_NS);
		assert_int_equal(rig.found_ns, 0);
	}
}

/* The time that was to come has come while the machine slept, an interval that is not compared. */
static void test_late_work_that_comes_during_a_sleep_is_seen(void **state)
{
	struct rig rig;

	begin(&rig);
	rig.coming_ns = 2 * SECOND_NS;
	second_told_later(&rig, SECOND_NS);
	second_told_later(&rig, SECOND_NS);
	rig.coming_ns = 0;
	rig.exact.boottime_ns += 3600 * SECOND_NS;
	second_told_of_before(&rig, 2 * SECOND_NS);
	settle(&rig, 100);
	assert_int_equal(rig.found_ns, 0);
}

/*
 * A reader that reports half a minute in one of its seconds, again and again, as one that meets a
 * process, loses it, and meets it again with all that it ran.
 */
static const char *told_in_the_end(struct property_source *source, void *userdata)
{
	uint64_t kept_ns = 0, longest_ns = 0;
	struct rig rig;

	(void)userdata;
	begin_by_chance(&rig, source);
	for (int i = 0; i < 2000; i++) {
		uint64_t ran_ns = SECOND_NS + below(&rig, SECOND_NS);

		pass_time(&rig, SECOND_NS);
		rig.exact.busy_ns += ran_ns;
		rig.exact.idle_ns += CPUS * SECOND_NS - ran_ns;
		kept_ns += ran_ns;
		longest_ns = kept_ns > longest_ns ? kept_ns : longest_ns;
		if (below(&rig, 30) == 0) {
			told(&rig, kept_ns);
			kept_ns = 0;
		} else {
			told(&rig, 0);
		}
	}
	return rig.found_ns > longest_ns ? "charged again and again" : NULL;
}

static void test_late_work_is_reported_in_the_end(void **state)
{
	assert_true(property_check("told in the end", told_in_the_end, NULL, 30));
}

static void test_steal_and_waiting_are_not_busy(void **state)
{
	struct rig rig;

	begin(&rig);
	for (int i = 0; i < 100; i++) {
		rig.exact.steal_ns += SECOND_NS;
		account_second(&rig, 0, SECOND_NS, 0);
	}
	assert_int_equal(rig.found_ns, 0);
}

static void test_an_account_that_stands_still_is_not_used(void **state)
{
	struct rig rig;

	begin(&rig);
	for (int i = 0; i < 10; i++) {
		pass_time(&rig, SECOND_NS / 10);
		told(&rig, 0);
	}
	assert_true(rig.unseen.is_static);
	assert_int_equal(rig.found_ns, 0);
	for (int i = 0; i < 10; i++) {
		pass_time(&rig, SECOND_NS);
		told(&rig, SECOND_NS);
	}
	second(&rig, 0, SECOND_NS); /* it moves again */
	assert_false(rig.unseen.is_static);
	second(&rig, 0, SECOND_NS);
	assert_true(rig.found_ns > SECOND_NS);
}

static void test_sleep_hotplug_and_a_step_back_say_nothing(void **state)
{
	struct rig rig;

	begin(&rig);
	rig.exact.boottime_ns += 3600 * SECOND_NS;
	second(&rig, 0, SECOND_NS);
	rig.exact.cpus = 1;
	rig.exact.busy_ns += 50 * SECOND_NS;
	second(&rig, 0, 0);
	rig.exact.cpus = CPUS;
	rig.exact.busy_ns += 50 * SECOND_NS;
	second(&rig, 0, 0);
	rig.exact.busy_ns -= 60 * SECOND_NS;
	second(&rig, 0, 0);
	assert_int_equal(rig.found_ns, 0);
	rig.exact.idle_ns -= 60 * SECOND_NS; /* idle time may go back where a CPU came again */
	second(&rig, 0, 0);
	assert_int_equal(rig.found_ns, 0);
	second(&rig, 0, SECOND_NS);
	assert_true(rig.found_ns > SECOND_NS / 2);
}

/* ---- accounts as kernels show them ---- */

/*
 * A second of /proc/stat in USER_HZ ticks that user, system, interrupts and softirqs got, on two
 * CPUs that were otherwise idle.
 */
struct shown {
	uint64_t user, system, irq, softirq, idle;
};

static void show(struct rig *rig, struct shown *sum, struct shown second, uint64_t seen_ns)
{
	char text[256];
	struct machine_time now = rig->exact;

	sum->user += second.user;
	sum->system += second.system;
	sum->irq += second.irq;
	sum->softirq += second.softirq;
	sum->idle += 200 - second.user - second.system - second.irq - second.softirq;
	(void)snprintf(text, sizeof(text),
		       "cpu  %" PRIu64 " 0 %" PRIu64 " %" PRIu64 " 0 %" PRIu64 " %" PRIu64
		       " 0 0 0\ncpu0 1\ncpu1 1\nintr 1\n",
		       sum->user, sum->system, sum->idle, sum->irq, sum->softirq);
	assert_int_equal(machine_time_parse(text, strlen(text), CUT_NS, &now), 0);
	rig->seen_ns += seen_ns;
	rig->found_ns += unseen_time_add(&rig->unseen, &now, seen_ns, 0);
}

static void begin_shown(struct rig *rig, struct shown *sum)
{
	*rig = (struct rig){ .exact = { .time_ns = 100 * SECOND_NS,
					.boottime_ns = 500 * SECOND_NS } };
	*sum = (struct shown){ .user = 1000, .system = 2000, .idle = 30000 };
	unseen_time_init(&rig->unseen, TICK_NS);
	show(rig, sum, (struct shown){ 0 }, 0);
}

/* CONFIG_IRQ_TIME_ACCOUNTING: a task's run time is without the interrupts on top of it. */
static void test_interrupts_are_counted_separately(void **state)
{
	const struct shown second = { .user = 40, .system = 20, .irq = 10, .softirq = 30 };
	struct shown sum;
	struct rig rig;

	begin_shown(&rig, &sum);
	for (int i = 0; i < 300; i++) {
		pass_time(&rig, SECOND_NS);
		show(&rig, &sum, second, 60 * CUT_NS);
	}
	/* 0.4 s a second, less the bound. */
	assert_in_range(rig.found_ns, 110 * SECOND_NS, 120 * SECOND_NS);
}

/*
 * Without it the interrupted process is charged, and ticks in interrupts are shown as such all the
 * same.
 */
static void test_interrupts_in_the_run_time_of_tasks(void **state)
{
	const struct shown second = { .user = 40, .system = 20, .irq = 10, .softirq = 30 };
	struct shown sum;
	struct rig rig;

	begin_shown(&rig, &sum);
	for (int i = 0; i < 300; i++) {
		pass_time(&rig, SECOND_NS);
		show(&rig, &sum, second, 100 * CUT_NS);
	}
	assert_int_equal(rig.found_ns, 0);
}

/* Neither clock nor account moves in a suspend but for boottime; work around it is compared on. */
static void test_suspend_between_two_readings(void **state)
{
	const struct shown full = { .user = 200 }, resume = { .user = 60, .irq = 15 };
	struct shown sum;
	struct rig rig;

	begin_shown(&rig, &sum);
	for (int i = 0; i < 100; i++) {
		pass_time(&rig, SECOND_NS);
		if (i % 10) {
			show(&rig, &sum, full, 200 * CUT_NS);
			continue;
		}
		rig.exact.boottime_ns += 8 * 3600 * SECOND_NS;
		show(&rig, &sum, resume, 10 * CUT_NS);
	}
	assert_int_equal(rig.found_ns, 0);
	for (int i = 0; i < 10; i++) {
		pass_time(&rig, SECOND_NS);
		show(&rig, &sum, full, 100 * CUT_NS);
	}
	assert_in_range(rig.found_ns, 9 * SECOND_NS, 10 * SECOND_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_seen_is_not_unseen),
		cmocka_unit_test(test_what_is_hidden_is_found),
		cmocka_unit_test(test_the_first_second_has_most_of_it),
		cmocka_unit_test(test_sampling_is_not_unseen),
		cmocka_unit_test(test_a_little_is_found_in_time),
		cmocka_unit_test(test_work_in_step_with_ticks_is_not_unseen),
		cmocka_unit_test(test_work_that_ticks_miss_hides_nothing_later),
		cmocka_unit_test(test_differences_cancel),
		cmocka_unit_test(test_what_is_to_come_is_not_unseen),
		cmocka_unit_test(test_a_late_end_is_repaid),
		cmocka_unit_test(test_an_account_of_an_earlier_moment),
		cmocka_unit_test(test_late_work_that_comes_during_a_sleep_is_seen),
		cmocka_unit_test(test_late_work_is_reported_in_the_end),
		cmocka_unit_test(test_steal_and_waiting_are_not_busy),
		cmocka_unit_test(test_an_account_that_stands_still_is_not_used),
		cmocka_unit_test(test_sleep_hotplug_and_a_step_back_say_nothing),
		cmocka_unit_test(test_interrupts_are_counted_separately),
		cmocka_unit_test(test_interrupts_in_the_run_time_of_tasks),
		cmocka_unit_test(test_suspend_between_two_readings),
	};

	return unit_run(tests);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Data of context switches on this kernel: they add up to the CPU time, no time of short processes
 * is lost, and each program that the kernel refuses costs only its own data.
 */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/num.h"
#include "tests/rig/activity_rig.h"

#include <cmocka.h>

#include "tests/rig/remove_tree.h"

#define SHORT_LIVES    500
#define AT_ONCE        100
#define TOLD           98 /* of so many at once */
#define CLOCK_PERMILLE 10

/* Everywhere: cpu-clock counts ns. Where the PMU msr is, its event 0 is the time stamp counter. */
#define CLOCK SIGNAL_CPU_CYCLES
#define TSC   SIGNAL_REF_CYCLES

static bool has_msr(void)
{
	return access("/sys/bus/event_source/devices/msr/type", R_OK) == 0;
}

static struct activity_options options_of(void)
{
	return (struct activity_options){
		.allow_bpf = true,
		.allow_walk = true,
		.switches = { .switches = SWITCH_ALWAYS,
			      .counters = SWITCH_ALWAYS,
			      .events = { "cpu-clock", has_msr() ? "msr:0x0" : "none",
					  "page-faults", "none" } },
	};
}

/* Sums over passes: of all samples, and of those with a name. */
struct sums {
	uint64_t cpu_ns, all[SIGNAL_COUNT], named[SIGNAL_COUNT], named_cpu_ns;
	unsigned ended;
};

/*
 * Where a process is guarded from BPF, its switches are not seen, and the slices of what ran before
 * and after it are not counted: then counted time is less.
 */
static void assert_counted(struct activity_reader *reader, const char *what, uint64_t counted_ns,
			   uint64_t run_ns)
{
	struct activity_info info;

	activity_get_info(reader, &info);
	rig_assert_between(what, counted_ns, run_ns, info.unseen ? 400 : 10, 10);
}

static void add_pass(struct activity_reader *reader, const char *comm, struct sums *sums)
{
	struct activity activity;

	assert_int_equal(activity_read(reader, &activity), 0);
	sums->cpu_ns += activity.busy_ns - activity.unseen_ns;
	for (size_t i = 0; i < activity.count; i++) {
		bool is_named = strcmp(activity.samples[i].comm, comm) == 0;

		if (is_named) {
			sums->named_cpu_ns += activity.samples[i].cpu_ns;
			sums->ended += activity.samples[i].flags & ACTIVITY_ENDED ? 1 : 0;
		}
		for (int signal = 0; signal < SIGNAL_COUNT; signal++) {
			uint64_t amount = activity.signal[signal] ? activity.signal[signal][i] : 0;

			sums->all[signal] += amount;
			sums->named[signal] += is_named ? amount : 0;
		}
	}
}

static struct activity_reader *open_counting(const struct activity_options *options)
{
	struct activity_reader *reader = rig_open(options);
	struct activity_info info;

	activity_get_info(reader, &info);
	printf("# %s, signals %#x, %s\n", info.reader, info.signals,
	       info.why_not_counted[0] ? info.why_not_counted : "all counted");
	return reader;
}

/*
 * Passes until @count processes of the name have ended: what they did since they were last walked
 * comes with their end. A busy host lets a CPU of an emulated machine stand still for seconds, and
 * with it what is freed there. Of one that is freed on top of a guarded process no end is seen.
 */
static void add_ends(struct activity_reader *reader, struct sums *sums, unsigned count)
{
	for (int i = 0; i < 40 && (i < 3 || sums->ended < count); i++) {
		rig_wait_for_frees();
		add_pass(reader, rig_comm(), sums);
	}
}

static void burn(void *arg)
{
	rig_burn_ms(*(unsigned *)arg);
}

/*
 * The work of one burner. If it is freed on top of a process that is guarded from BPF, its exit
 * alone is reported, without counts: then another one burns. A wrong count is wrong each time.
 */
static void count_one(struct activity_reader *reader, rig_fn *fn, unsigned ms, struct sums *sums)
{
	struct activity_info info;

	for (int i = 0; i < 4; i++) {
		*sums = (struct sums){ 0 };
		(void)rig_wait(rig_fork(rig_comm(), fn, &ms));
		add_ends(reader, sums, 1);
		activity_get_info(reader, &info);
		if (!info.unseen || sums->named[SIGNAL_COUNTED_TIME] > sums->named_cpu_ns * 9 / 10)
			return;
	}
}

static bool is_near(uint64_t seen_ns, uint64_t truth_ns)
{
	uint64_t off_ns = seen_ns > truth_ns ? seen_ns - truth_ns : truth_ns - seen_ns;

	return off_ns <= truth_ns * CLOCK_PERMILLE / 1000;
}

/*
 * The work of three burners, in passes while they run and until they have ended; returns the sums.
 */
static struct sums count_burners(struct activity_reader *reader)
{
	unsigned ms = 700;
	struct sums sums = { 0 };
	pid_t burners[3];

	for (size_t i = 0; i < 3; i++)
		burners[i] = rig_fork(rig_comm(), burn, &ms);
	for (int i = 0; i < 6; i++) {
		rig_sleep_ms(150);
		add_pass(reader, rig_comm(), &sums);
	}
	for (size_t i = 0; i < 3; i++)
		(void)rig_wait(burners[i]);
	add_ends(reader, &sums, 3);
	printf("# CPU %.1f ms, counted %.1f, clock %.1f; burners %.1f, %.1f, %.1f\n",
	       (double)sums.cpu_ns / 1e6, (double)sums.all[SIGNAL_COUNTED_TIME] / 1e6,
	       (double)sums.all[CLOCK] / 1e6, (double)sums.named_cpu_ns / 1e6,
	       (double)sums.named[SIGNAL_COUNTED_TIME] / 1e6, (double)sums.named[CLOCK] / 1e6);
	assert_counted(reader, "counted time", sums.all[SIGNAL_COUNTED_TIME], sums.cpu_ns);
	assert_counted(reader, "counted time of burners", sums.named[SIGNAL_COUNTED_TIME],
		       sums.named_cpu_ns);
	return sums;
}

static void test_adds_up_to_the_cpu_time(void **state)
{
	const struct activity_options options = options_of();
	struct activity_reader *reader = open_counting(&options);
	struct sums sums = count_burners(reader);

	(void)state;
	/*
	 * A CPU that stands still between the reading of the scheduler's clock and the event's
	 * reading moves time from a slice to the next. A wrong count is wrong each time.
	 */
	for (int i = 0; i < 2 && !is_near(sums.named[CLOCK], sums.named[SIGNAL_COUNTED_TIME]); i++)
		sums = count_burners(reader);
	rig_assert_near("cpu-clock of burners", sums.named[CLOCK], sums.named[SIGNAL_COUNTED_TIME],
			CLOCK_PERMILLE);
	activity_close(reader);
}

/* How many ticks a nanosecond had, of a burner and of all else. */
static void tick_rates(double *ret_burner, double *ret_others)
{
	const struct activity_options options = options_of();
	struct activity_reader *reader = open_counting(&options);
	struct sums sums = { 0 };
	unsigned ms = 300;

	(void)rig_wait(rig_fork(rig_comm(), burn, &ms));
	add_ends(reader, &sums, 1);
	activity_close(reader);
	assert_true(sums.named[TSC] > 0);
	*ret_burner = (double)sums.named[TSC] / (double)sums.named[SIGNAL_COUNTED_TIME];
	*ret_others = (double)(sums.all[TSC] - sums.named[TSC]) /
		      (double)(sums.all[SIGNAL_COUNTED_TIME] - sums.named[SIGNAL_COUNTED_TIME]);
	printf("# ticks a ns: burner %.4f, all others %.4f\n", *ret_burner, *ret_others);
}

/*
 * The time stamp counter ticks at one rate, whatever runs. All else runs for some microseconds at a
 * time, and the scheduler's account and the switches see different beginnings of them.
 */
static void test_counts_what_the_processor_counts(void **state)
{
	double burner = 0, others = 0;

	(void)state;
	if (!has_msr()) {
		print_message("# not possible here: there is no PMU msr\n");
		return;
	}
	tick_rates(&burner, &others);
	assert_true(burner > 0.1 && burner < 10);
	assert_true(others > burner * 0.8 && others < burner * 1.03);
}

/*
 * The kernel frees many processes in one go. What it frees on top of a process that is guarded from
 * BPF has no end that is seen, so there a hundred of them are tried again. What loses ends wrongly
 * does so each time.
 */
static void test_short_lives_are_not_lost(void **state)
{
	const struct activity_options options = options_of();
	struct activity_reader *reader = open_counting(&options);
	struct sums sums = { 0 };
	struct activity_info info = { 0 };
	uint64_t truth_ns = 0;
	unsigned ms = 2, lives = 0, whole = 0, tries = SHORT_LIVES / AT_ONCE;

	(void)state;
	while (whole < SHORT_LIVES / AT_ONCE && tries-- > 0) {
		unsigned before = sums.ended;

		for (int i = 0; i < AT_ONCE; i++)
			truth_ns += rig_wait(rig_fork(rig_comm(), burn, &ms));
		add_ends(reader, &sums, before + TOLD);
		lives += AT_ONCE;
		whole += sums.ended - before >= TOLD ? 1 : 0;
		activity_get_info(reader, &info);
		tries += info.unseen && lives == SHORT_LIVES ? 3 * SHORT_LIVES / AT_ONCE : 0;
	}
	printf("# %u of %u ended, %.1f of %.1f ms, %.1f counted\n", sums.ended, lives,
	       (double)sums.named_cpu_ns / 1e6, (double)truth_ns / 1e6,
	       (double)sums.named[SIGNAL_COUNTED_TIME] / 1e6);
	assert_int_equal(whole, SHORT_LIVES / AT_ONCE);
	assert_true(sums.ended <= lives);
	assert_counted(reader, "counted time", sums.named[SIGNAL_COUNTED_TIME], sums.named_cpu_ns);
	rig_assert_near("cpu-clock", sums.named[CLOCK], sums.named[SIGNAL_COUNTED_TIME], 20);
	activity_close(reader);
}

/*
 * A process that does not leave its CPU is charged in each pass, with all that the scheduler knows
 * of it then. Between the two a tick may come, which the pass sees alone.
 */
static void test_what_runs_is_charged_at_once(void **state)
{
	const struct activity_options options = options_of();
	struct activity_reader *reader = open_counting(&options);
	unsigned ms = 2000, exact = 0;
	pid_t burner = rig_fork(rig_comm(), burn, &ms);
	struct sums sums = { 0 };

	(void)state;
	rig_sleep_ms(50);
	add_pass(reader, rig_comm(), &sums);
	for (int i = 0; i < 12; i++) {
		struct sums pass = { 0 };

		rig_sleep_ms(50);
		add_pass(reader, rig_comm(), &pass);
		printf("# counted %.3f of %.3f ms\n", (double)pass.named[SIGNAL_COUNTED_TIME] / 1e6,
		       (double)pass.named_cpu_ns / 1e6);
		exact += pass.named_cpu_ns && pass.named[SIGNAL_COUNTED_TIME] == pass.named_cpu_ns;
	}
	(void)kill(burner, SIGKILL);
	(void)rig_wait(burner);
	/* Without what the scheduler knows, none is: a tick is never as long as a pass. */
	assert_true(exact >= 6);
	activity_close(reader);
}

static void put_online(const char *sysfs, const char *list)
{
	char path[128];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/devices/system/cpu/online", sysfs);
	file = fopen(path, "w");
	assert_non_null(file);
	(void)fputs(list, file);
	(void)fclose(file);
}

/* A tree in which the CPUs 0 and 1 are threads of one core. */
static void make_sysfs(char *sysfs)
{
	char path[128];
	FILE *file;

	assert_non_null(mkdtemp(sysfs));
	for (int cpu = 0; cpu < 2; cpu++) {
		(void)snprintf(path, sizeof(path), "mkdir -p %s/devices/system/cpu/cpu%d/topology",
			       sysfs, cpu);
		assert_int_equal(system(path), 0);
		(void)snprintf(path, sizeof(path),
			       "%s/devices/system/cpu/cpu%d/topology/thread_siblings_list", sysfs,
			       cpu);
		file = fopen(path, "w");
		assert_non_null(file);
		(void)fputs("0-1\n", file);
		(void)fclose(file);
	}
	put_online(sysfs, "0-1\n");
}

/* Two burners on siblings are paired for as long as both run, and one alone is not. */
static void test_busy_siblings_are_seen(void **state)
{
	char sysfs[] = "/tmp/kepler-test-sysfs.XXXXXX";
	struct activity_options options = options_of();
	struct activity_reader *reader;
	struct sums alone = { 0 }, both = { 0 };
	unsigned ms = 400;
	pid_t other;

	(void)state;
	make_sysfs(sysfs);
	options.sysfs = sysfs;
	options.switches.counters = SWITCH_NEVER;
	reader = open_counting(&options);
	count_one(reader, burn, ms, &alone);
	other = rig_fork(rig_comm(), burn, &ms);
	(void)rig_wait(rig_fork(rig_comm(), burn, &ms));
	(void)rig_wait(other);
	rig_wait_for_frees();
	add_pass(reader, rig_comm(), &both);
	printf("# one: %.1f of %.1f ms paired; two: %.1f of %.1f ms\n",
	       (double)alone.named[SIGNAL_PAIRED_TIME] / 1e6,
	       (double)alone.named[SIGNAL_COUNTED_TIME] / 1e6,
	       (double)both.named[SIGNAL_PAIRED_TIME] / 1e6,
	       (double)both.named[SIGNAL_COUNTED_TIME] / 1e6);
	/* Other work of the machine runs meanwhile, so one may be paired as well. */
	assert_true(both.named[SIGNAL_PAIRED_TIME] > both.named[SIGNAL_COUNTED_TIME] * 7 / 10);
	assert_true((double)alone.named[SIGNAL_PAIRED_TIME] /
			    (double)alone.named[SIGNAL_COUNTED_TIME] <=
		    0.02 + (double)both.named[SIGNAL_PAIRED_TIME] /
				    (double)both.named[SIGNAL_COUNTED_TIME]);
	activity_close(reader);
	assert_int_equal(remove_tree(sysfs), 0);
}

static void burn_on_cpu_1(void *arg)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(1, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) == 0)
		burn(arg);
}

/* The counted work of a burner on CPU 1, as parts of its run time, by the event. */
static double part_counted(struct activity_reader *reader)
{
	struct sums sums;

	count_one(reader, burn_on_cpu_1, 200, &sums);
	assert_true(sums.named[SIGNAL_COUNTED_TIME] > 20 * NSEC_PER_MSEC);
	return (double)sums.named[CLOCK] / (double)sums.named[SIGNAL_COUNTED_TIME];
}

static unsigned uncounted_cpus(struct activity_reader *reader)
{
	struct activity_info info;

	activity_get_info(reader, &info);
	return info.uncounted_cpus;
}

/* By the list of CPUs alone: CPU 1 goes, and comes back. */
static void check_cpu_that_comes(enum switch_mode counters)
{
	char sysfs[] = "/tmp/kepler-test-sysfs.XXXXXX";
	struct activity_options options = options_of();
	struct activity_reader *reader;
	struct sums sums = { 0 };
	double before, meanwhile, after;

	make_sysfs(sysfs);
	options.sysfs = sysfs;
	options.switches.counters = counters;
	options.switches.events[COUNTER_REF_CYCLES] = "none";
	reader = open_counting(&options);
	before = part_counted(reader);
	put_online(sysfs, "0\n");
	add_pass(reader, "", &sums);
	assert_int_equal(uncounted_cpus(reader), 0); /* it is not online */
	meanwhile = part_counted(reader);
	put_online(sysfs, "0-1\n");
	add_pass(reader, "", &sums);
	assert_int_equal(uncounted_cpus(reader), counters == SWITCH_ALWAYS ? 0 : 1);
	after = part_counted(reader);
	printf("# counted: %.3f, without the CPU %.3f, with it %.3f\n", before, meanwhile, after);
	assert_true(before > 0.95 && before < 1.05);
	assert_true(meanwhile < 0.05); /* a little of it ran on its parent's CPU */
	if (counters == SWITCH_ALWAYS)
		assert_true(after > 0.95 && after < 1.05);
	else
		assert_true(after < 0.05);
	activity_close(reader);
	assert_int_equal(remove_tree(sysfs), 0);
}

static void test_cpus_that_come_and_go(void **state)
{
	(void)state;
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		print_message("# not possible here: there is one CPU\n");
		return;
	}
	check_cpu_that_comes(SWITCH_ALWAYS);
	check_cpu_that_comes(SWITCH_AUTO);
}

static void check_without(const char *program, bool is_counted)
{
	struct activity_options options = options_of();
	struct activity_reader *reader;
	struct activity_info info;
	struct sums sums = { 0 };
	unsigned ms = 100;

	options.spoil_program = program;
	printf("# without %s\n", program);
	reader = open_counting(&options);
	count_one(reader, burn, ms, &sums);
	activity_get_info(reader, &info);
	assert_int_equal(info.counts_switches, is_counted);
	assert_int_equal(info.why_not_counted[0] != '\0', !is_counted);
	if (is_counted && strcmp(program, "ended") != 0)
		assert_counted(reader, program, sums.named[SIGNAL_COUNTED_TIME], sums.named_cpu_ns);
	assert_true(sums.named_cpu_ns > 20 * NSEC_PER_MSEC);
	assert_int_equal(info.is_late, strcmp(program, "flush") == 0);
	activity_close(reader);
}

/* Before Linux 6.7 the iterator is all there is. */
static bool walks_by_default(void)
{
	const struct activity_options options = { .allow_bpf = true, .allow_walk = true };
	struct activity_reader *reader = rig_open(&options);
	struct activity_info info;

	activity_get_info(reader, &info);
	activity_close(reader);
	return strcmp(info.reader, "bpf-walk") == 0;
}

static void test_refused_programs(void **state)
{
	(void)state;
	check_without("switch_typed", true); /* the raw one does */
	check_without("flush", true);        /* what runs is charged later: */
	check_without("thread_made", false);
	check_without("walk", true);
	if (walks_by_default())
		check_without("iterate", true);
	check_without("cgroup_made", true);
	check_without("ended", true); /* the raw one knows no work */
}

static void test_is_off_if_switches_are_not_counted(void **state)
{
	struct activity_options options = { .allow_bpf = true, .allow_walk = true };
	struct activity_reader *reader;
	struct activity_info info;

	(void)state;
	options.switches.switches = SWITCH_NEVER;
	reader = open_counting(&options);
	activity_get_info(reader, &info);
	assert_false(info.counts_switches);
	assert_int_equal(info.signals, 0);
	assert_non_null(strstr(info.why_not_counted, "--counters.switches"));
	activity_close(reader);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_adds_up_to_the_cpu_time),
		cmocka_unit_test(test_counts_what_the_processor_counts),
		cmocka_unit_test(test_short_lives_are_not_lost),
		cmocka_unit_test(test_what_runs_is_charged_at_once),
		cmocka_unit_test(test_busy_siblings_are_seen),
		cmocka_unit_test(test_cpus_that_come_and_go),
		cmocka_unit_test(test_refused_programs),
		cmocka_unit_test(test_is_off_if_switches_are_not_counted),
	};

	/* Skips where BPF is refused altogether. */
	activity_close(rig_open(&(const struct activity_options){ .allow_bpf = true }));
	rig_calibrate();
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

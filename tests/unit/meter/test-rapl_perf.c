// SPDX-License-Identifier: Apache-2.0
/*
 * Recorded layouts, and events that this test opens itself: a read takes one record that was put
 * into the group of its CPU. At the end the kernel's own events: a clock's, in the place of energy.
 */
#include <dirent.h>
#include <linux/perf_event.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/num.h"
#include "meter/meter_table.h"
#include "rapl_tree.h"
#include "seen_zones.h"
#include "tests/unit/unit.h"

#define CPUS           8
#define TRIAL_READINGS 51

struct group {
	int writer; /* -1: none */
	unsigned opened;
	int error; /* of opening */
	uint64_t configs[8];
	size_t count;
	uint64_t enabled_ns;
};

static struct group groups[CPUS];
/*
 * By how much each event grows from reading to reading when a group is opened, mJ; NULL: nothing
 * can be read then.
 */
static const uint64_t *grows_mj;
static size_t grows_count;

struct fixture {
	struct fake_tree tree;
	struct meter *meter;
	struct meter_table *table;
	struct seen_zone seen[METER_ZONES_MAX];
};

static void put_reading(unsigned cpu, const uint64_t *millijoules, uint64_t enabled_ns);

/* All that a new group is tried with. */
static void put_trial(unsigned cpu)
{
	uint64_t millijoules[ARRAY_SIZE(groups[0].configs)] = { 0 };

	for (unsigned i = 0; i < TRIAL_READINGS; i++) {
		put_reading(cpu, millijoules, groups[cpu].enabled_ns += NSEC_PER_MSEC);
		for (size_t k = 0; k < grows_count; k++)
			millijoules[k] += grows_mj[k];
	}
}

static int open_event(const struct perf_event_attr *attr, int cpu, int group_fd)
{
	struct group *group = &groups[cpu];
	int pair[2];

	assert_in_range(cpu, 0, CPUS - 1);
	assert_int_equal(attr->type, 10);
	assert_int_equal(attr->read_format, PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
						    PERF_FORMAT_TOTAL_TIME_RUNNING);
	if (group->error && (group_fd >= 0 || group->error != -EBUSY))
		return group->error;
	if (group_fd >= 0) {
		group->configs[group->count++] = attr->config;
		if (grows_mj && group->count == grows_count)
			put_trial((unsigned)cpu);
		return fcntl(group_fd, F_DUPFD_CLOEXEC, 0);
	}
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
	if (group->writer >= 0)
		assert_int_equal(close(group->writer), 0);
	*group = (struct group){ .writer = pair[0],
				 .opened = group->opened + 1,
				 .error = group->error,
				 .configs = { attr->config },
				 .count = 1 };
	return pair[1];
}

/* The next read of the group: @millijoules of each event in their order. */
static void put_reading(unsigned cpu, const uint64_t *millijoules, uint64_t enabled_ns)
{
	struct group *group = &groups[cpu];
	uint64_t record[11] = { group->count, enabled_ns, enabled_ns };
	size_t size = (3 + group->count) * sizeof(*record);

	for (size_t i = 0; i < group->count; i++)
		record[3 + i] = muldiv_u64(millijoules[i], COUNT_J, 1000) + 1; /* not less */
	assert_int_equal(write(group->writer, record, size), size);
}

static void put_next(unsigned cpu, const uint64_t *millijoules)
{
	put_reading(cpu, millijoules, groups[cpu].enabled_ns += NSEC_PER_SEC);
}

static int setup(void **state)
{
	static struct fixture fixture;

	fixture = (struct fixture){ 0 };
	for (size_t i = 0; i < CPUS; i++)
		groups[i] = (struct group){ .writer = -1 };
	tree_make(&fixture.tree);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	rapl_perf_meter.close(fixture->meter);
	meter_table_close(fixture->table);
	for (size_t i = 0; i < CPUS; i++) {
		if (groups[i].writer >= 0)
			assert_int_equal(close(groups[i].writer), 0);
	}
	tree_remove(&fixture->tree);
	return 0;
}

static struct meter_options options_of(const struct fixture *fixture)
{
	return (struct meter_options){ .sysfs = fixture->tree.sysfs,
				       .read_deadline_ns = 120 * NSEC_PER_SEC,
				       .rapl_perf.open_event = open_event };
}

static void open_meter(struct fixture *fixture)
{
	struct meter_options options = options_of(fixture);

	assert_int_equal(rapl_perf_meter.open(&options, &fixture->meter), 0);
}

static void rescan(struct fixture *fixture, int result)
{
	assert_int_equal(rapl_perf_meter.rescan(fixture->meter), result);
}

static void expect_zone(const struct fixture *fixture, size_t index, enum zone_kind kind,
			const char *instance, const char *path)
{
	const struct zone *zone = rapl_perf_meter.zone_at(fixture->meter, index);

	assert_int_equal(zone->kind, kind);
	assert_string_equal(zone->instance, instance);
	assert_string_equal(zone->path, path);
	assert_string_equal(zone->source, "rapl-perf");
	assert_int_equal(zone->rank, RANK_MEASURED_PERF);
	assert_int_equal(zone->quality, QUALITY_MEASURED);
}

static size_t zone_count(const struct fixture *fixture)
{
	return rapl_perf_meter.zone_count(fixture->meter);
}

static int read_zone(const struct fixture *fixture, size_t index, struct raw_reading *ret)
{
	return rapl_perf_meter.read_raw(fixture->meter, index, ret);
}

static void expect_energy(const struct fixture *fixture, size_t index, uint64_t energy_uj,
			  uint32_t generation)
{
	struct raw_reading raw;

	assert_int_equal(read_zone(fixture, index, &raw), 0);
	assert_int_equal(raw.value, energy_uj);
	assert_int_equal(raw.range_uj, (UJ_PER_J << 32) - 1);
	assert_int_equal(raw.kind, SAMPLE_COUNTER);
	assert_int_equal(raw.generation, generation);
	assert_true(raw.to_ns > 0 && raw.to_ns <= clock_ns(CLOCK_MONOTONIC));
}

/* A server of two sockets, as Linux 6.1 shows it. */
static void make_server(const struct fixture *fixture, const char *cpumask)
{
	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		rapl_put_cpu(&fixture->tree, cpu, cpu / 4, 0);
	rapl_put_pmu(&fixture->tree, cpumask);
	rapl_put_event(&fixture->tree, "energy-pkg", "event=0x02\n");
	rapl_put_event(&fixture->tree, "energy-ram", "event=0x03\n");
}

/* Two reads in all: what is not in the queue of a group cannot be read. */
static void test_one_read_a_package(void **state)
{
	struct fixture *fixture = *state;
	struct raw_reading raw;

	make_server(fixture, "0,4\n");
	open_meter(fixture);
	rescan(fixture, 0);
	assert_int_equal(zone_count(fixture), 4);
	expect_zone(fixture, 0, ZONE_PACKAGE, "0", "power/energy-pkg@0");
	expect_zone(fixture, 1, ZONE_DRAM, "0", "power/energy-ram@0");
	expect_zone(fixture, 2, ZONE_PACKAGE, "1", "power/energy-pkg@1");
	expect_zone(fixture, 3, ZONE_DRAM, "1", "power/energy-ram@1");
	assert_int_equal(rapl_perf_meter.zone_at(fixture->meter, 2)->domain.number, 1);
	assert_int_equal(groups[4].configs[0], 2);
	assert_int_equal(groups[4].configs[1], 3);
	put_next(0, (uint64_t[]){ 1500, 250 });
	put_next(4, (uint64_t[]){ 7000, 1 });
	expect_energy(fixture, 0, 1500000, 1);
	expect_energy(fixture, 1, 250000, 1);
	expect_energy(fixture, 2, 7000000, 1);
	expect_energy(fixture, 3, 1000, 1);
	/* A value is taken once: the next reading is a new one, whichever zone it begins with. */
	assert_int_equal(read_zone(fixture, 1, &raw), -EAGAIN);
	put_next(0, (uint64_t[]){ 1600, 260 });
	expect_energy(fixture, 1, 260000, 1);
	expect_energy(fixture, 0, 1600000, 1);
}

/* 2^32 J is where the kernel's counter starts again; the processor's does much earlier. */
static void test_wraps_and_periods(void **state)
{
	struct fixture *fixture = *state;
	struct meter_options options = options_of(fixture);
	const uint64_t last_mj = 4294967295000, first_mj = 500;
	struct raw_reading raw;

	rapl_put_cpu(&fixture->tree, 0, 0, 0);
	rapl_put_pmu(&fixture->tree, "0\n");
	rapl_put_event(&fixture->tree, "energy-pkg", "event=0x02\n");
	assert_int_equal(meter_table_open_source(&rapl_perf_meter, &options, &fixture->table), 0);
	put_next(0, &last_mj);
	assert_int_equal(see_zones(fixture->table, fixture->seen), 1);
	put_next(0, &first_mj);
	assert_int_equal(see_zones(fixture->table, fixture->seen), 1);
	assert_int_equal(fixture->seen[0].energy_uj, 1500000);
	assert_int_equal(fixture->seen[0].wraps, 1);
	open_meter(fixture);
	rescan(fixture, 0);
	put_next(0, &first_mj);
	assert_int_equal(read_zone(fixture, 0, &raw), 0);
	assert_int_equal(raw.unread_max_uj, 65536 * UJ_PER_J);
}

static void test_dies_and_all_kinds(void **state)
{
	struct fixture *fixture = *state;

	for (unsigned cpu = 0; cpu < 4; cpu++)
		rapl_put_cpu(&fixture->tree, cpu, cpu / 2, cpu % 2);
	rapl_put_pmu(&fixture->tree, "0-3\n");
	rapl_put_event(&fixture->tree, "energy-cores", "event=0x01\n");
	rapl_put_event(&fixture->tree, "energy-pkg", "event=0x02\n");
	rapl_put_event(&fixture->tree, "energy-gpu", "event=0x04\n");
	rapl_put_event(&fixture->tree, "energy-psys", "event=0x05\n");
	open_meter(fixture);
	rescan(fixture, 0);
	/* A psys is counted once a package. */
	assert_int_equal(zone_count(fixture), 4 * 3 + 2);
	expect_zone(fixture, 0, ZONE_PACKAGE, "0-die-0", "power/energy-pkg@0-die-0");
	expect_zone(fixture, 1, ZONE_CORE, "0-die-0", "power/energy-cores@0-die-0");
	expect_zone(fixture, 2, ZONE_UNCORE, "0-die-0", "power/energy-gpu@0-die-0");
	expect_zone(fixture, 3, ZONE_PSYS, "0", "power/energy-psys@0");
	expect_zone(fixture, 4, ZONE_PACKAGE, "0-die-1", "power/energy-pkg@0-die-1");
	expect_zone(fixture, 10, ZONE_PSYS, "1", "power/energy-psys@1");
	rescan(fixture, 0);
	assert_int_equal(zone_count(fixture), 4 * 3 + 2);
	assert_int_equal(groups[3].opened, 1);
}

/* As long as the package has a CPU the kernel moves its events there, and they go on. */
static void test_events_that_the_kernel_moves(void **state)
{
	struct fixture *fixture = *state;

	make_server(fixture, "0,4\n");
	open_meter(fixture);
	rescan(fixture, 0);
	put_next(4, (uint64_t[]){ 7000, 1 });
	expect_energy(fixture, 2, 7000000, 1);
	rapl_put(&fixture->tree, PMU "cpumask", "0,5\n");
	rescan(fixture, 0);
	put_next(4, (uint64_t[]){ 8000, 2 });
	expect_energy(fixture, 2, 8000000, 1);
	assert_int_equal(groups[5].opened, 0);
}

static unsigned open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	assert_int_equal(closedir(dir), 0);
	return count;
}

/* A socket that goes offline and returns, on another CPU. */
static void test_package_that_goes_and_returns(void **state)
{
	struct fixture *fixture = *state;
	struct raw_reading raw;
	unsigned descriptors;

	make_server(fixture, "0,4\n");
	open_meter(fixture);
	rescan(fixture, 0);
	put_next(4, (uint64_t[]){ 7000, 1 });
	expect_energy(fixture, 2, 7000000, 1);
	expect_energy(fixture, 3, 1000, 1);
	descriptors = open_descriptors();
	put_reading(4, (uint64_t[]){ 7000, 1 }, groups[4].enabled_ns); /* it stands still */
	assert_int_equal(read_zone(fixture, 2, &raw), -ENODEV);
	assert_int_equal(read_zone(fixture, 3, &raw), -ENODEV);
	assert_int_equal(open_descriptors(), descriptors - 2);
	rapl_put(&fixture->tree, PMU "cpumask", "0\n");
	rescan(fixture, 0);
	assert_int_equal(read_zone(fixture, 2, &raw), -ENODEV);
	put_next(0, (uint64_t[]){ 1, 2 });
	expect_energy(fixture, 0, 1000, 1);
	rapl_put(&fixture->tree, PMU "cpumask", "0,6\n");
	rescan(fixture, 0);
	assert_int_equal(zone_count(fixture), 4);
	put_next(6, (uint64_t[]){ 3, 4 });
	expect_energy(fixture, 2, 3000, 2);
	expect_energy(fixture, 3, 4000, 2);
	assert_int_equal(groups[0].opened, 1);
}

/* The result of read() for an event at its end, and for a group that was taken apart. */
static void test_readings_that_are_too_short(void **state)
{
	static const uint64_t shorter[] = { 1, NSEC_PER_SEC, NSEC_PER_SEC, 5 };
	struct fixture *fixture = *state;
	struct raw_reading raw;

	make_server(fixture, "0\n");
	open_meter(fixture);
	rescan(fixture, 0);
	assert_int_equal(write(groups[0].writer, shorter, sizeof(shorter)), sizeof(shorter));
	assert_int_equal(read_zone(fixture, 0, &raw), -ENODEV);
	rescan(fixture, 0);
	assert_int_equal(shutdown(groups[0].writer, SHUT_WR), 0);
	assert_int_equal(read_zone(fixture, 0, &raw), -ENODEV);
	rescan(fixture, 0);
	put_next(0, (uint64_t[]){ 3, 4 });
	expect_energy(fixture, 0, 3000, 3);
}

/*
 * A counter that may not be opened is not a meter that is down: an estimate may stand in its place.
 */
static void test_events_that_may_not_be_opened(void **state)
{
	struct fixture *fixture = *state;
	unsigned descriptors;
	struct meter_remark remark;

	make_server(fixture, "0,4\n");
	open_meter(fixture);
	assert_false(rapl_perf_meter.remark(fixture->meter, 0, &remark));
	groups[0].error = groups[4].error = -EACCES;
	rescan(fixture, -EACCES);
	assert_int_equal(zone_count(fixture), 0);
	assert_true(rapl_perf_meter.remark(fixture->meter, 0, &remark));
	assert_true(remark.is_failure && strstr(remark.what, "CAP_PERFMON"));
	assert_false(rapl_perf_meter.remark(fixture->meter, 1, &remark));
	/* All events of a package, or none. */
	groups[0].error = groups[4].error = -EBUSY;
	descriptors = open_descriptors();
	rescan(fixture, -EBUSY);
	assert_int_equal(zone_count(fixture), 0);
	assert_int_equal(open_descriptors(), descriptors + 2); /* the ends of this test */
	groups[0].error = groups[4].error = 0;
	rescan(fixture, 0);
	assert_int_equal(zone_count(fixture), 4);
	assert_false(rapl_perf_meter.remark(fixture->meter, 0, &remark));
}

/* As a hypervisor answers that has no such register, and as a board that feeds no psys. */
static void test_events_that_stand_still(void **state)
{
	struct fixture *fixture = *state;
	struct meter_remark remark;

	make_server(fixture, "0\n");
	rapl_put_event(&fixture->tree, "energy-psys", "event=0x05\n");
	grows_mj = (uint64_t[]){ 4, 0, 0 };
	grows_count = 3;
	open_meter(fixture);
	rescan(fixture, 0);
	grows_mj = NULL;
	assert_int_equal(zone_count(fixture), 2);
	expect_zone(fixture, 0, ZONE_PACKAGE, "0", "power/energy-pkg@0");
	expect_zone(fixture, 1, ZONE_DRAM, "0", "power/energy-ram@0"); /* may be at rest */
	assert_true(rapl_perf_meter.remark(fixture->meter, 0, &remark));
	assert_non_null(
		strstr(remark.what, "power/energy-psys@0 is not read: it does not advance"));
	assert_false(remark.is_failure);
	assert_false(rapl_perf_meter.remark(fixture->meter, 1, &remark));
	put_next(0, (uint64_t[]){ 1500, 250, 0 });
	expect_energy(fixture, 0, 1500000, 1);
	expect_energy(fixture, 1, 250000, 1);
	/* It is not tried again, which would take readings. */
	rescan(fixture, 0);
	put_next(0, (uint64_t[]){ 1600, 260, 0 });
	expect_energy(fixture, 0, 1600000, 1);
}

static void test_where_it_is_wanted(void **state)
{
	struct fixture *fixture = *state;
	struct meter_options options = options_of(fixture);

	assert_false(rapl_perf_meter.is_wanted(&options));
	make_server(fixture, "0,4\n");
	assert_true(rapl_perf_meter.is_wanted(&options));
	tree_mkdir(&fixture->tree, "intel-rapl");
	assert_true(rapl_perf_meter.is_wanted(&options));
	tree_zone(&fixture->tree, "intel-rapl:0", "package-0", 1);
	assert_false(rapl_perf_meter.is_wanted(&options));
}

/* ---- the kernel's own events ---- */

/* PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK: nanoseconds, at 10 W and 1 W. */
static void make_clock(const struct fixture *fixture)
{
	rapl_put_cpu(&fixture->tree, 0, 0, 0);
	rapl_put_pmu(&fixture->tree, "0\n");
	rapl_put(&fixture->tree, PMU "type", "1\n");
	rapl_put_event(&fixture->tree, "energy-pkg", "event=0x00\n");
	rapl_put_event(&fixture->tree, "energy-ram", "event=0x00\n");
	rapl_put(&fixture->tree, PMU "events/energy-pkg.scale", "1e-8\n"); /* 10 W */
	rapl_put(&fixture->tree, PMU "events/energy-ram.scale", "1e-9\n"); /* 1 W */
}

static bool may_open_events(void)
{
	const struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(attr) };
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	return fd >= 0 && close(fd) == 0;
}

static void test_clock_of_the_kernel(void **state)
{
	struct fixture *fixture = *state;
	struct meter_options options = options_of(fixture);
	struct raw_reading package[2], dram[2];
	uint64_t begin_ns, end_ns, energy_uj;

	make_clock(fixture);
	options.rapl_perf.open_event = NULL;
	assert_int_equal(rapl_perf_meter.open(&options, &fixture->meter), 0);
	rescan(fixture, 0);
	assert_int_equal(zone_count(fixture), 2);
	for (size_t i = 0; i < 2; i++) {
		end_ns = clock_ns(CLOCK_MONOTONIC);
		assert_int_equal(read_zone(fixture, 0, &package[i]), 0);
		begin_ns = i ? begin_ns : clock_ns(CLOCK_MONOTONIC);
		assert_int_equal(read_zone(fixture, 1, &dram[i]), 0);
		while (clock_ns(CLOCK_MONOTONIC) - begin_ns < 20 * NSEC_PER_MSEC)
			continue;
	}
	energy_uj = package[1].value - package[0].value;
	/* At least the time between the two readings; each is at some time in its call. */
	assert_true(energy_uj + 1 >= (end_ns - begin_ns) / 100);
	assert_in_range((dram[1].value - dram[0].value) * 10, energy_uj - energy_uj / 20,
			energy_uj + energy_uj / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TREE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		TREE_TEST(test_one_read_a_package),
		TREE_TEST(test_wraps_and_periods),
		TREE_TEST(test_dies_and_all_kinds),
		TREE_TEST(test_events_that_the_kernel_moves),
		TREE_TEST(test_package_that_goes_and_returns),
		TREE_TEST(test_readings_that_are_too_short),
		TREE_TEST(test_events_that_may_not_be_opened),
		TREE_TEST(test_events_that_stand_still),
		TREE_TEST(test_where_it_is_wanted),
		TREE_TEST(test_clock_of_the_kernel),
	};
	const size_t own = sizeof(tests) / sizeof(tests[0]) - 1;

	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (may_open_events())
		return cmocka_run_group_tests(tests, NULL, NULL);
	print_message("# the kernel's own events may not be opened here\n");
	return _cmocka_run_group_tests("tests", tests, own, NULL, NULL);
}

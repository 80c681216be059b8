// SPDX-License-Identifier: Apache-2.0
#include "truth/meters/perf_meter.h"

#include <linux/perf_event.h>
#include <math.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit/truth/read_truth.h"
#include "tests/unit/truth/truth_root.h"
#include "truth/truth.h"

#define PMU "bus/event_source/devices/power"

static void texts_are_checked(void **state)
{
	unsigned cpus[4];
	uint64_t config;
	double joules;

	assert_true(truth_perf_event_parse("event=0x0a\n", &config));
	assert_int_equal(config, 10);
	assert_false(truth_perf_event_parse("event=0x02,umask=0x01\n", &config));
	assert_false(truth_perf_event_parse("event=0x-2\n", &config));
	assert_false(truth_perf_event_parse("event=0x100\n", &config));
	assert_false(truth_perf_event_parse("event=0x\n", &config));
	assert_true(truth_perf_scale_parse("2.3283064365386962890625e-10\n", "Joules\n", &joules));
	assert_true(fabs(joules - ldexp(1, -32)) < 1e-20);
	assert_false(truth_perf_scale_parse("2\n", "Joules\n", &joules));
	assert_false(truth_perf_scale_parse("1e-9\n", "Watts\n", &joules));
	assert_int_equal(truth_cpu_list_parse("0,28-30\n", cpus, 4), 4);
	assert_int_equal(cpus[3], 30);
	assert_int_equal(truth_cpu_list_parse("0-99999999999\n", cpus, 4), 0);
	assert_int_equal(truth_cpu_list_parse("0-4000\n", cpus, 4), 4);
	assert_int_equal(truth_cpu_list_parse("0;1\n", cpus, 4), 0);
}

/*
 * A PMU with a clock of the kernel's instead of a meter: 40 W of a second are 40 J. It is of one
 * CPU, and each package has one.
 */
static void events_are_counted(void **state)
{
	CLEANUP(truth_close) struct truth truth;
	const struct truth_options options = {
		.source = TRUTH_AUTO, .sysfs = root, .procfs = root, .devices = root
	};
	struct diag diag = { "" };

	write_text(PMU "/type", "1\n"); /* PERF_TYPE_SOFTWARE */
	write_text(PMU "/cpumask", "0\n");
	write_text(PMU "/events/energy-pkg", "event=0x00\n"); /* PERF_COUNT_SW_CPU_CLOCK */
	write_text(PMU "/events/energy-pkg.scale", "4e-8\n");
	write_text(PMU "/events/energy-pkg.unit", "Joules\n");
	write_text(PMU "/events/energy-ram", "event=0x00\n");
	write_text(PMU "/events/energy-ram.scale", "4e-8\n");
	write_text(PMU "/events/energy-ram.unit", "Watts\n");
	assert_int_equal(truth_open(&options, &truth, &diag), 0);
	assert_int_equal(truth.source, TRUTH_PERF);
	assert_int_equal(truth.meter_count, 1);
	assert_string_equal(truth.zones[0].series->query, "power/energy-pkg@cpu0");
	assert_int_equal(read_truth_at(&truth, 0), 0);
	uint64_t before = truth.meters[0].last_raw;
	assert_int_equal(read_truth_at(&truth, 1000), 0);
	double counted_j = (double)(truth.meters[0].last_raw - before) * 4e-8;
	series_finish(truth.zones[0].series);
	assert_true(counted_j > 0 &&
		    fabs(series_amount(truth.zones[0].series, 0, 1000).amount - counted_j) < 1e-6);
}

static bool may_open_events(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(attr) };
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0UL);

	if (fd >= 0)
		(void)close(fd);
	return fd >= 0;
}

int main(void)
{
	const struct CMUnitTest texts[] = { cmocka_unit_test(texts_are_checked) };
	const struct CMUnitTest all[] = {
		cmocka_unit_test(texts_are_checked),
		cmocka_unit_test_setup_teardown(events_are_counted, make_root, remove_root),
	};
	return may_open_events() ? unit_run(all) : unit_run(texts);
}

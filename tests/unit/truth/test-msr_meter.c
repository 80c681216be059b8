// SPDX-License-Identifier: Apache-2.0
#include "truth/meters/msr_meter.h"

#include <fcntl.h>
#include <math.h>

#include "tests/unit/truth/read_truth.h"
#include "tests/unit/truth/truth_root.h"
#include "truth/truth.h"

static void write_register(unsigned cpu, uint32_t address, uint64_t value)
{
	char path[64];
	FILE *file;

	(void)snprintf(path, sizeof(path), "dev/cpu/%u/msr", cpu);
	open_text(path, "a", &file);
	assert_int_equal(fclose(file), 0);
	open_text(path, "r+", &file);
	assert_int_equal(fseek(file, (long)address, SEEK_SET), 0);
	assert_int_equal(fwrite(&value, sizeof(value), 1, file), 1);
	assert_int_equal(fclose(file), 0);
}

static void add_cpu(unsigned cpu, const char *package)
{
	char path[96];

	(void)snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/topology/physical_package_id",
		       cpu);
	write_text(path, package);
}

/* Two packages are read on one CPU each, and summed; a counter wraps; 0 counts nothing. */
static void packages_are_summed(void **state)
{
	CLEANUP(truth_close) struct truth truth;
	char devices[64];
	struct diag diag = { "" };

	(void)snprintf(devices, sizeof(devices), "%s/dev", root);
	const struct truth_options options = {
		.source = TRUTH_MSR, .sysfs = root, .procfs = root, .devices = devices
	};
	write_text("cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n");
	add_cpu(0, "0\n");
	add_cpu(1, "0\n");
	add_cpu(2, "1\n");
	for (unsigned cpu = 0; cpu <= 2; cpu++) {
		write_register(cpu, 0x606, 14 << 8);
		write_register(cpu, 0x611, 0xffffc000); /* 1 J before its end */
		write_register(cpu, 0x619, 0);
		write_register(cpu, 0x639, 0);
		write_register(cpu, 0x641, 0);
		write_register(cpu, 0x64d, 0);
	}
	assert_int_equal(truth_open(&options, &truth, &diag), 0);
	assert_int_equal(truth.meter_count, 2);
	assert_int_equal(read_truth_at(&truth, 10), 0);
	write_register(0, 0x611, 0x4000);
	write_register(2, 0x611, 0xffffe000);
	assert_int_equal(read_truth_at(&truth, 11), 0);
	series_finish(truth.zones[0].series);
	assert_string_equal(truth.zones[0].kind, "package");
	assert_true(fabs(series_amount(truth.zones[0].series, 10, 11).amount - 2.5) < 1e-6);
	assert_int_equal(truth.meters[0].wraps + truth.meters[1].wraps, 1);
	assert_non_null(strstr(truth.zones[0].series->query, "/dev/cpu/2/msr:0x611"));
}

/* The open of a FIFO waits for its writer, which never comes; the other package is found. */
static void a_device_that_hangs_is_reported(void **state)
{
	CLEANUP(truth_close) struct truth truth;
	char devices[64], path[128];
	struct diag diag = { "" };

	(void)snprintf(devices, sizeof(devices), "%s/dev", root);
	const struct truth_options options = {
		.source = TRUTH_MSR, .sysfs = root, .procfs = root, .devices = devices
	};
	write_text("cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n");
	add_cpu(0, "0\n");
	add_cpu(1, "1\n");
	write_register(0, 0x606, 14 << 8);
	write_register(0, 0x611, 0x4000);
	write_register(0, 0x619, 0);
	write_text("dev/cpu/1/other", "");
	(void)snprintf(path, sizeof(path), "%s/cpu/1/msr", devices);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(truth_open(&options, &truth, &diag), 0);
	assert_int_equal(truth.meter_count, 1);
	assert_string_equal(truth.stalled, path);
	assert_string_equal(truth.gpu_stalled, "");
}

static void a_missing_module_is_reported(void **state)
{
	CLEANUP(truth_close) struct truth truth;
	const struct truth_options options = {
		.source = TRUTH_MSR, .sysfs = root, .procfs = "/proc", .devices = root
	};
	struct diag diag = { "" };

	assert_int_equal(truth_open(&options, &truth, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "msr has no meter that can be read below /dev/cpu"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(packages_are_summed, make_root, remove_root),
		cmocka_unit_test_setup_teardown(a_device_that_hangs_is_reported, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(a_missing_module_is_reported, make_root,
						remove_root),
	};
	return unit_run(tests);
}

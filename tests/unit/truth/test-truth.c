// SPDX-License-Identifier: Apache-2.0
#include "truth/truth.h"

#include <fcntl.h>
#include <math.h>

#include "tests/unit/truth/read_truth.h"
#include "tests/unit/truth/truth_root.h"

static void write_package(unsigned index, const char *name, const char *energy_uj)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "class/powercap/intel-rapl:%u/name", index);
	write_text(path, name);
	(void)snprintf(path, sizeof(path), "class/powercap/intel-rapl:%u/energy_uj", index);
	write_text(path, energy_uj);
	(void)snprintf(path, sizeof(path), "class/powercap/intel-rapl:%u/max_energy_range_uj",
		       index);
	write_text(path, "262143328850\n");
}

static void open_truth(enum truth_source source, struct truth *ret)
{
	char file[256];
	(void)snprintf(file, sizeof(file), "%s/pdu", root);
	const struct truth_options options = { .source = source,
					       .sysfs = root,
					       .procfs = root,
					       .devices = root,
					       .file = file,
					       .law = "zone=package,idle=20,cpu=10000" };
	struct diag diag = { "" };

	assert_int_equal(truth_open(&options, ret, &diag), 0);
}

/* Two sockets are one zone; a counter wraps; a meter that fails for a while loses nothing. */
static void counters_are_summed(void **state)
{
	CLEANUP(truth_close) struct truth truth;

	write_package(0, "package-0\n", "262142328850\n");
	write_package(1, "package-1\n", "1000000\n");
	write_text("class/powercap/intel-rapl-mmio:0/name", "package-0\n");
	write_text("class/powercap/intel-rapl-mmio:0/energy_uj", "5\n");
	open_truth(TRUTH_AUTO, &truth);
	assert_int_equal(truth.source, TRUTH_RAPL_SYSFS);
	assert_int_equal(truth.meter_count, 2);
	assert_int_equal(truth.zone_count, 1);
	assert_int_equal(read_truth_at(&truth, 100), 0);
	write_package(0, "package-0\n", "999999\n"); /* +2 J: it has wrapped */
	write_package(1, "package-1\n", "4000000\n");
	assert_int_equal(read_truth_at(&truth, 101), 0);
	write_package(1, "package-1\n", "");
	assert_int_equal(read_truth_at(&truth, 102), 0);
	write_package(1, "package-1\n", "6000000\n");
	assert_int_equal(read_truth_at(&truth, 103), 0);
	series_finish(truth.zones[0].series);
	assert_true(fabs(series_amount(truth.zones[0].series, 100, 101).amount - 5) < 1e-6);
	assert_true(fabs(series_amount(truth.zones[0].series, 101, 103).amount - 2) < 1e-6);
	assert_int_equal(truth.skipped, 1);
	assert_non_null(strstr(truth.failure.text, "intel-rapl:1/energy_uj"));
	assert_non_null(strstr(truth.zones[0].series->query, "intel-rapl:0/energy_uj"));
	assert_non_null(strstr(truth.zones[0].series->query, ", "));
}

/* Energy that is not known is a gap: neither 0 J nor what the counter seems to have counted. */
static void a_reset_is_not_a_wrap(void **state)
{
	CLEANUP(truth_close) struct truth truth;

	write_package(0, "package-0\n", "200000000000\n");
	open_truth(TRUTH_AUTO, &truth);
	assert_int_equal(read_truth_at(&truth, 100), 0);
	write_package(0, "package-0\n", "5000000\n"); /* a wrap would be 62 kJ in a second */
	assert_int_equal(read_truth_at(&truth, 101), 0);
	write_package(0, "package-0\n", "9000000\n");
	assert_int_equal(read_truth_at(&truth, 102), 0);
	write_package(0, "package-0\n", "19000000\n"); /* 262 kJ may have been between */
	assert_int_equal(read_truth_at(&truth, 402), 0);
	series_finish(truth.zones[0].series);
	struct amount known = series_amount(truth.zones[0].series, 100, 402);
	assert_true(fabs(known.amount - 4) < 1e-6 && fabs(known.covered_s - 1) < 1e-6);
	assert_int_equal(truth.meters[0].resets, 1);
	assert_int_equal(truth.meters[0].late, 1);
}

static void numbers_in_names_are_instances(void **state)
{
	CLEANUP(truth_close) struct truth truth;

	write_package(0, "package-0-die-1\n", "1\n");
	write_package(1, "package-1\n", "1\n");
	write_package(2, "psys\n", "1\n");
	write_package(3, "psys-1\n", "1\n");
	open_truth(TRUTH_AUTO, &truth);
	assert_int_equal(truth.meter_count, 4);
	assert_int_equal(truth.zone_count, 2);
}

static void kinds_beyond_the_limit_are_counted(void **state)
{
	CLEANUP(truth_close) struct truth truth;
	char name[32];

	for (unsigned i = 0; i < TRUTH_ZONES_MAX + 3; i++) {
		(void)snprintf(name, sizeof(name), "zone%u\n", i);
		write_package(i, name, "1\n");
	}
	open_truth(TRUTH_AUTO, &truth);
	assert_int_equal(truth.zone_count, TRUTH_ZONES_MAX);
	assert_int_equal(truth.left_out, 3);
}

/* While no program writes the file, its number is not the power of now. */
static void an_old_file_is_not_a_reading(void **state)
{
	CLEANUP(truth_close) struct truth truth;
	const struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	char file[256];

	write_text("pdu", "12.5\n");
	open_truth(TRUTH_FILE, &truth);
	assert_int_equal(read_truth_at(&truth, 10), 0);
	assert_int_equal(truth.skipped, 0);
	(void)snprintf(file, sizeof(file), "%s/pdu", root);
	assert_int_equal(utimensat(AT_FDCWD, file, old, 0), 0);
	assert_int_equal(read_truth_at(&truth, 11), 0);
	assert_int_equal(truth.skipped, 1);
	assert_non_null(strstr(truth.failure.text, "has not been written for"));
}

/* Unlike a counter, a power does not tell what it was meanwhile. */
static void a_power_that_was_not_read_is_a_gap(void **state)
{
	CLEANUP(truth_close) struct truth truth;

	write_text("pdu", "10\n");
	open_truth(TRUTH_FILE, &truth);
	for (int i = 0; i < 10; i++) {
		write_text("pdu", i == 4 ? "\n" : i == 5 ? "1e6\n" : "10\n");
		assert_int_equal(read_truth_at(&truth, i), 0);
	}
	series_finish(truth.zones[0].series);
	struct amount known = series_amount(truth.zones[0].series, 0, 10);
	assert_true(fabs(known.covered_s - 6) < 1e-6 && fabs(known.amount - 60) < 1e-6);
	assert_int_equal(truth.skipped, 2);
	assert_non_null(strstr(truth.failure.text, "it reads 1e+06 W, which cannot be"));
}

/* A formula of CPU time; its name says what it is. */
static void a_law_follows_cpu_time(void **state)
{
	CLEANUP(truth_close) struct truth truth;
	double tick_s = 1 / (double)sysconf(_SC_CLK_TCK);

	write_text("stat", "cpu  100 0 0 500 0 0 0 0 0 0\n");
	open_truth(TRUTH_LAW, &truth);
	assert_int_equal(read_truth_at(&truth, 10), 0);
	write_text("stat", "cpu  200 0 100 900 0 0 0 0 0 0\n");
	assert_int_equal(read_truth_at(&truth, 12), 0);
	series_finish(truth.zones[0].series);
	assert_string_equal(truth.zones[0].kind, "package");
	assert_non_null(strstr(truth.zones[0].series->query, "a law, and not a meter"));
	assert_true(fabs(series_amount(truth.zones[0].series, 10, 12).amount -
			 (2 * 20 + 200 * tick_s * 10000)) < 1e-4);
}

static void powers_are_integrated(void **state)
{
	CLEANUP(truth_close) struct truth acpi, hwmon, pdu;

	write_text("class/hwmon/hwmon0/name", "power_meter\n");
	write_text("class/hwmon/hwmon0/power1_average", "20000000\n");
	write_text("class/hwmon/hwmon1/name", "amdgpu\n");
	write_text("class/hwmon/hwmon1/power1_average", "90000000\n");
	write_text("class/hwmon/hwmon2/name", "ina226\n");
	write_text("class/hwmon/hwmon2/power1_input", "7000000\n");
	write_text("pdu", "12.5\n");
	open_truth(TRUTH_AUTO, &acpi);
	assert_int_equal(acpi.source, TRUTH_ACPI);
	open_truth(TRUTH_HWMON, &hwmon);
	assert_int_equal(hwmon.meter_count, 1);
	open_truth(TRUTH_FILE, &pdu);
	struct truth *all[] = { &acpi, &hwmon, &pdu };
	static const double joules[] = { 60, 14, 25 };
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		assert_int_equal(read_truth_at(all[i], 10), 0);
	write_text("class/hwmon/hwmon0/power1_average", "40000000\n");
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		assert_int_equal(read_truth_at(all[i], 12), 0);
		series_finish(all[i]->zones[0].series);
		assert_string_equal(all[i]->zones[0].kind, "platform");
		assert_true(fabs(series_amount(all[i]->zones[0].series, 10, 12).amount -
				 joules[i]) < 1e-6);
	}
}

/* The energy of the board so far, and whether it draws nothing, at the second that is read. */
static const struct truth_value *board_value;

static int read_a_board(struct truth_meter *meter, double now_s, struct truth_value *ret,
			struct diag *diag)
{
	*ret = *board_value;
	return 0;
}

/* A board that is off for 20 s and then draws 378 W has a counter that stood still, and rightly. */
static void a_board_that_is_off_does_not_stand_still(void **state)
{
	for (int is_off = 0; is_off < 2; is_off++) {
		struct truth truth = { .meter_count = 1 };
		struct truth_meter *meter = &truth.meters[0];

		*meter = (struct truth_meter){ .kind = "gpu", .read = read_a_board, .unit = 1e-3 };
		for (uint64_t second = 0; second <= 40; second++) {
			bool rests = second <= 20;
			const struct truth_value value = {
				.raw = rests ? 0 : 378000 * (second - 20),
				.is_off = rests && is_off,
			};

			board_value = &value;
			assert_int_equal(read_truth_at(&truth, (double)second), 0);
		}
		assert_true(fabs(meter->joules - 20 * 378) < 1e-6);
		assert_true(fabs(meter->still_s - (is_off ? 0 : 20)) < 1e-9);
	}
}

/* Each look at the clock is so much later than the one before. */
struct slow_clock {
	double time_s, step_s;
};

static double slow_now_s(const void *state)
{
	struct slow_clock *clock = *(struct slow_clock *const *)state;

	clock->time_s += clock->step_s;
	return clock->time_s;
}

/* On a busy machine: a sample is of the middle of its reading, and one of a long reading waits. */
static void a_slow_reading_is_late_and_not_wrong(void **state)
{
	CLEANUP(truth_close) struct truth truth;
	struct slow_clock times = { 100, 0.05 }, *pointer = &times;
	const struct truth_clock clock = { slow_now_s, &pointer };

	write_package(0, "package-0\n", "0\n");
	open_truth(TRUTH_RAPL_SYSFS, &truth);
	struct truth_zone *zone = &truth.zones[0];
	assert_int_equal(truth_read(&truth, &clock), 0); /* from 100.05 to 100.1 */
	assert_true(fabs(zone->time_error_s - 0.025) < 1e-9);
	write_package(0, "package-0\n", "4000000\n");
	times = (struct slow_clock){ 100.7, 0.4 };
	assert_int_equal(truth_read(&truth, &clock), 0);
	assert_int_equal(zone->series->count, 0);
	write_package(0, "package-0\n", "20000000\n");
	times = (struct slow_clock){ 102.025, 0.05 };
	assert_int_equal(truth_read(&truth, &clock), 0);
	assert_int_equal(zone->series->count, 1);
	assert_true(fabs(zone->series->windows[0].start_s - 100.075) < 1e-9);
	assert_true(fabs(zone->series->windows[0].end_s - 102.1) < 1e-9);
	assert_true(fabs(zone->series->windows[0].rate * 2.025 - 20) < 1e-9);
	assert_true(fabs(zone->time_error_s - 0.025) < 1e-9);
	/* Where all are slow, each fourth is one, with its error. */
	for (int i = 0; i < 4; i++) {
		assert_int_equal(zone->series->count, 1);
		times = (struct slow_clock){ 103 + i, 0.4 };
		assert_int_equal(truth_read(&truth, &clock), 0);
	}
	assert_int_equal(zone->series->count, 2);
	assert_true(fabs(zone->series->windows[1].end_s - 106.6) < 1e-9);
	assert_true(fabs(zone->time_error_s - 0.2) < 1e-9);
}

static void missing_meters_are_reported(void **state)
{
	CLEANUP(truth_close) struct truth none, missing;
	const struct truth_options options = {
		.source = TRUTH_RAPL_SYSFS, .sysfs = root, .procfs = root, .devices = root
	};
	struct diag diag = { "" };

	open_truth(TRUTH_AUTO, &none);
	assert_int_equal(none.source, TRUTH_NONE);
	assert_int_equal(truth_open(&options, &missing, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "rapl-sysfs has no meter"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(counters_are_summed, make_root, remove_root),
		cmocka_unit_test_setup_teardown(a_reset_is_not_a_wrap, make_root, remove_root),
		cmocka_unit_test_setup_teardown(numbers_in_names_are_instances, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(kinds_beyond_the_limit_are_counted, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(an_old_file_is_not_a_reading, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(a_power_that_was_not_read_is_a_gap, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(a_slow_reading_is_late_and_not_wrong, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(a_law_follows_cpu_time, make_root, remove_root),
		cmocka_unit_test_setup_teardown(powers_are_integrated, make_root, remove_root),
		cmocka_unit_test(a_board_that_is_off_does_not_stand_still),
		cmocka_unit_test_setup_teardown(missing_meters_are_reported, make_root,
						remove_root),
	};
	return unit_run(tests);
}

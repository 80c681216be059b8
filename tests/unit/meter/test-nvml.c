// SPDX-License-Identifier: Apache-2.0
/*
 * The source by itself, without the thread that polls it, on a library that stands in for the
 * driver's ($NVML_LAB): what it answers that is wrong, late, or not there.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/num.h"
#include "meter/meter.h"

static char state_file[] = "/tmp/kepler-nvml-XXXXXX";

/* From here on the library says this. */
static void say(const char *text)
{
	FILE *file = fopen(state_file, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static struct meter *open_meter(const char *text)
{
	const struct meter_options options = { .nvml_library = getenv("NVML_LAB") };
	struct meter *meter;

	say(text);
	assert_int_equal(nvml_meter.open(&options, &meter), 0);
	assert_int_equal(nvml_meter.rescan(meter), 0);
	return meter;
}

/* Busy time of @pid in the reading that is made now, and how many uses there are in all. */
static uint64_t read_use(struct meter *meter, uint32_t pid, size_t *ret_count)
{
	const struct device_use *uses;
	struct raw_reading raw;
	uint64_t busy_ns = 0;

	(void)usleep(2000); /* time in which it is used */
	assert_int_equal(nvml_meter.read_raw(meter, 0, &raw), 0);
	uses = nvml_meter.uses(meter, 0, ret_count);
	for (size_t i = 0; i < *ret_count; i++)
		busy_ns += uses[i].pid == pid ? uses[i].busy_ns : 0;
	return busy_ns;
}

static void the_first_reading_has_no_use(void **state)
{
	struct meter *meter = open_meter("gpu 0 100000\nproc 0 10 50 100\nproc 0 11 25 100\n");
	uint64_t first_ns, second_ns;
	size_t count;

	(void)state;
	assert_int_equal(nvml_meter.zone_count(meter), 1);
	(void)read_use(meter, 10, &count);
	assert_int_equal(count, 0);
	first_ns = read_use(meter, 10, &count);
	assert_int_equal(count, 2);
	assert_true(first_ns >= NSEC_PER_MSEC);
	second_ns = read_use(meter, 11, &count);
	assert_true(second_ns >= NSEC_PER_MSEC / 2);
	nvml_meter.close(meter);
}

/* Whatever it says that it has told: no more is there than what there was room for. */
static void more_than_there_is_room_for_is_not_read(void **state)
{
	struct meter *meter = open_meter("gpu 0 100000\nproc 0 10 50 100\nboast 0 1000000\n");
	size_t count;

	(void)state;
	(void)read_use(meter, 10, &count);
	assert_int_equal(read_use(meter, 10, &count), 0);
	assert_int_equal(count, 1); /* the board's time alone is known */
	say("gpu 0 100000\nproc 0 10 50 100\n");
	assert_true(read_use(meter, 10, &count) > 0);
	nvml_meter.close(meter);
}

/* One sample with a wrong time, or a clock that is set back, costs no later one. */
static void a_sample_of_the_future_is_none(void **state)
{
	struct meter *meter = open_meter("gpu 0 100000\nproc 0 10 50 100\n");
	size_t count;

	(void)state;
	(void)read_use(meter, 10, &count);
	say("gpu 0 100000\nproc 0 10 50 100\nahead 0 1000\n");
	assert_int_equal(read_use(meter, 10, &count), 0);
	say("gpu 0 100000\nproc 0 10 50 100\n");
	assert_true(read_use(meter, 10, &count) > 0);
	nvml_meter.close(meter);
}

/* What used it before it was lost, and while it was, is of energy that was not counted. */
static void a_board_that_is_back_begins_anew(void **state)
{
	static const char there[] = "gpu 0 100000\ngpu 1 100000\nproc 0 10 50 100\n";
	struct meter *meter = open_meter(there);
	struct raw_reading before, after;
	size_t count;

	(void)state;
	(void)read_use(meter, 10, &count);
	assert_true(read_use(meter, 10, &count) > 0);
	assert_int_equal(nvml_meter.read_raw(meter, 0, &before), 0);
	say("gpu 1 100000\n");
	assert_int_equal(nvml_meter.rescan(meter), 0);
	assert_int_equal(nvml_meter.zone_count(meter), 2);
	assert_int_equal(nvml_meter.read_raw(meter, 0, &after), -ENODEV);
	(void)nvml_meter.uses(meter, 0, &count);
	assert_int_equal(count, 0);
	say(there);
	assert_int_equal(nvml_meter.rescan(meter), 0);
	assert_int_equal(read_use(meter, 10, &count), 0);
	assert_int_equal(nvml_meter.read_raw(meter, 0, &after), 0);
	assert_int_not_equal(after.generation, before.generation);
	assert_true(read_use(meter, 10, &count) > 0);
	nvml_meter.close(meter);
}

/* The driver samples more seldom than it is asked: nothing of the time between is without use. */
static void energy_waits_for_the_next_sample(void **state)
{
	struct meter *meter = open_meter("gpu 0 100000\nproc 0 10 50 100\n");
	struct raw_reading raw;
	size_t count;

	(void)state;
	(void)read_use(meter, 10, &count);
	assert_true(read_use(meter, 10, &count) > 0);
	say("gpu 0 100000\nproc 0 10 50 100\nstale 0\n");
	for (unsigned i = 0; i < 2; i++) {
		(void)usleep(5000);
		assert_int_equal(nvml_meter.read_raw(meter, 0, &raw), -EAGAIN);
		(void)nvml_meter.uses(meter, 0, &count);
		assert_int_equal(count, 0);
	}
	say("gpu 0 100000\nproc 0 10 50 100\n");
	assert_true(read_use(meter, 10, &count) >= 6 * NSEC_PER_MSEC); /* half of 12 ms */
	nvml_meter.close(meter);
}

static void energy_of_an_idle_board_waits_for_nothing(void **state)
{
	struct meter *meter = open_meter("gpu 0 100000\nproc 0 10 50 100\nstale 0\n");
	size_t count;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(read_use(meter, 10, &count), 0);
		assert_int_equal(count, 0);
	}
	nvml_meter.close(meter);
}

/* 13: the library has the function, and the driver does not. */
static void what_the_driver_is_too_old_for_is_not_used(void **state)
{
	struct meter *meter = open_meter("gpu 0 100000\nerror 0 13\n");
	struct raw_reading raw;

	(void)state;
	assert_int_equal(nvml_meter.zone_count(meter), 1);
	say("gpu 0 100000\n");
	assert_int_equal(nvml_meter.read_raw(meter, 0, &raw), 0);
	assert_int_equal(raw.kind, SAMPLE_POWER);
	assert_int_equal(raw.value, 100000000);
	nvml_meter.close(meter);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_reading_has_no_use),
		cmocka_unit_test(more_than_there_is_room_for_is_not_read),
		cmocka_unit_test(a_sample_of_the_future_is_none),
		cmocka_unit_test(a_board_that_is_back_begins_anew),
		cmocka_unit_test(energy_waits_for_the_next_sample),
		cmocka_unit_test(energy_of_an_idle_board_waits_for_nothing),
		cmocka_unit_test(what_the_driver_is_too_old_for_is_not_used),
	};
	int fd = mkstemp(state_file), r;

	if (fd < 0 || close(fd) < 0 || setenv("NVML_LAB_STATE", state_file, 1) < 0)
		return 1;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	(void)unlink(state_file);
	return r;
}

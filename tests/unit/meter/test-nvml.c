// SPDX-License-Identifier: Apache-2.0
/*
 * The source by itself, without the thread that polls it, on a library that stands in for the
 * driver's ($NVML_LAB): what it answers that is wrong, late, or not there.
 */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/num.h"
#include "meter/meter.h"
#include "tests/rig/lab_state.h"
#include "tests/unit/unit.h"

static time_t clock_offset_s; /* of the time of day that the source reads */

/* In place of the C library's. */
int clock_gettime(clockid_t clock, struct timespec *ret)
{
	int r = (int)syscall(SYS_clock_gettime, clock, ret);

	if (r == 0 && clock == CLOCK_REALTIME)
		ret->tv_sec += clock_offset_s;
	return r;
}

static char state_file[] = "/tmp/kepler-nvml-XXXXXX";

static void say(const char *text)
{
	lab_say(state_file, text);
}

static struct meter *open_meter(const char *text)
{
	const struct meter_options options = { .nvml.library = getenv("NVML_LAB") };
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

/* Whatever number it announces: the list has no more than there was room for. */
static void more_than_there_is_room_for_is_not_read(void **state)
{
	struct meter *meter = open_meter("gpu 0 100000\nproc 0 10 50 100\nboast 0 1000000\n");
	size_t count;

	(void)read_use(meter, 10, &count);
	assert_int_equal(read_use(meter, 10, &count), 0);
	assert_int_equal(count, 1); /* the board's time alone is known */
	say("gpu 0 100000\nproc 0 10 50 100\n");
	assert_true(read_use(meter, 10, &count) > 0);
	nvml_meter.close(meter);
}

/* One sample with a wrong time costs no later one. */
static void a_sample_of_the_future_is_ignored(void **state)
{
	struct meter *meter = open_meter("gpu 0 100000\nproc 0 10 50 100\n");
	size_t count;

	(void)read_use(meter, 10, &count);
	say("gpu 0 100000\nproc 0 10 50 100\nahead 0 1000\n");
	assert_int_equal(read_use(meter, 10, &count), 0);
	say("gpu 0 100000\nproc 0 10 50 100\n");
	assert_true(read_use(meter, 10, &count) > 0);
	nvml_meter.close(meter);
}

/* The driver's times may follow the clock or not: samples of the time before are later ones. */
static void a_clock_that_is_set_back_costs_no_later_sample(void **state)
{
	struct raw_reading raw;
	struct meter *meter;
	size_t count;

	clock_offset_s = 3600;
	meter = open_meter("gpu 0 100000\nproc 0 10 50 100\n");
	(void)read_use(meter, 10, &count);
	say("gpu 0 100000\nproc 0 10 50 100\nahead 0 3600\n");
	(void)read_use(meter, 10, &count);
	clock_offset_s = 0;
	say("gpu 0 100000\nproc 0 10 50 100\n");
	(void)nvml_meter.read_raw(meter, 0, &raw); /* -EAGAIN where nothing was sampled since */
	assert_true(read_use(meter, 10, &count) > 0);
	nvml_meter.close(meter);
}

/* Use before and during the loss belongs to energy that was not counted. */
static void a_board_that_is_back_begins_again(void **state)
{
	static const char there[] = "gpu 0 100000\ngpu 1 100000\nproc 0 10 50 100\n";
	struct meter *meter = open_meter(there);
	struct raw_reading before, after;
	size_t count;

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

	assert_int_equal(nvml_meter.zone_count(meter), 1);
	say("gpu 0 100000\n");
	assert_int_equal(nvml_meter.read_raw(meter, 0, &raw), 0);
	assert_int_equal(raw.kind, SAMPLE_POWER);
	assert_int_equal(raw.value, 100000000);
	nvml_meter.close(meter);
}

#define MIG_BOARD "gpu 0 100000\nmig 0 1 60 3 75\nmig 0 2 60 3 25\n"

static void assert_ratio(uint64_t one_ns, uint64_t other_ns, double ratio)
{
	assert_true(other_ns > 0);
	assert_true(fabs((double)one_ns / (double)other_ns / ratio - 1) < 0.02);
}

/* Two pods on one board: each has what its own instance did, whatever memory it has. */
static void instances_have_their_own_activity(void **state)
{
	struct meter *meter = open_meter(MIG_BOARD "proc 0 10 0 1 1\nproc 0 11 0 900 2\n");
	uint64_t busy_ns[2];
	size_t count;

	(void)read_use(meter, 10, &count);
	assert_int_equal(count, 0);
	busy_ns[0] = read_use(meter, 10, &count);
	assert_int_equal(count, 2);
	for (size_t i = 0; i < count; i++) {
		const struct device_use *use = &nvml_meter.uses(meter, 0, &count)[i];

		busy_ns[use->pid - 10] = use->busy_ns;
	}
	assert_ratio(busy_ns[0], busy_ns[1], 3);
	assert_true(busy_ns[0] > 60 * 75 * 2 * NSEC_PER_MSEC / 132 / 100);
	nvml_meter.close(meter);
}

/* Processes in no instance of the list, and processes in one that does nothing. */
static void within_an_instance_memory_or_samples_decide(void **state)
{
	static const char processes[] = "proc 0 10 10 300 1\nproc 0 11 90 100 1\nproc 0 12 0 1 2\n";
	char text[256];
	struct meter *meter;
	uint64_t first_ns;
	size_t count;

	(void)snprintf(text, sizeof(text), "%s%s", MIG_BOARD, processes);
	meter = open_meter(text);
	for (unsigned is_private = 0; is_private < 2; is_private++) {
		(void)snprintf(text, sizeof(text), "%s%s%s", MIG_BOARD, processes,
			       is_private ? "private 0\n" : "");
		say(text);
		(void)read_use(meter, 10, &count);
		first_ns = read_use(meter, 10, &count);
		assert_int_equal(count, 3);
		assert_ratio(first_ns, nvml_meter.uses(meter, 0, &count)[1].busy_ns, 3);
	}
	nvml_meter.close(meter);
	(void)snprintf(text, sizeof(text), "%s%smigsamples 0\n", MIG_BOARD, processes);
	meter = open_meter(text);
	(void)read_use(meter, 10, &count);
	first_ns = read_use(meter, 10, &count);
	assert_ratio(nvml_meter.uses(meter, 0, &count)[1].busy_ns, first_ns, 9);
	nvml_meter.close(meter);
}

static void an_instance_without_activity_is_as_large_as_it_is(void **state)
{
	struct meter *meter = open_meter("gpu 0 100000\nmig 0 1 64 4 0\nmig 0 2 32 2 0\n"
					 "mig 0 3 16 1 0\ngpm 0 0\n"
					 "proc 0 10 0 10 1\nproc 0 11 0 10 2\n");
	struct meter_remark remark;
	uint64_t busy_ns;
	size_t count;

	(void)read_use(meter, 10, &count);
	busy_ns = read_use(meter, 10, &count);
	assert_int_equal(count, 2);
	assert_ratio(busy_ns, nvml_meter.uses(meter, 0, &count)[1].busy_ns, 2);
	assert_true(nvml_meter.remark(meter, 0, &remark));
	assert_false(remark.is_failure);
	assert_non_null(strstr(remark.what, "in use by size"));
	assert_false(nvml_meter.remark(meter, 1, &remark));
	say(MIG_BOARD);
	(void)read_use(meter, 10, &count); /* the board is the same: what it can do is known */
	assert_true(nvml_meter.remark(meter, 0, &remark));
	nvml_meter.close(meter);
}

/* Without a process it did its work all the same. */
static void activity_without_a_process_is_the_board_s(void **state)
{
	struct meter *meter = open_meter(MIG_BOARD "proc 0 11 0 900 2\n");
	struct meter_remark remark;
	uint64_t first_ns;
	size_t count;

	(void)read_use(meter, 0, &count);
	first_ns = read_use(meter, 0, &count);
	assert_ratio(first_ns, nvml_meter.uses(meter, 0, &count)[1].busy_ns, 3);
	assert_int_equal(count, 2);
	assert_false(nvml_meter.remark(meter, 0, &remark));
	nvml_meter.close(meter);
}

static void a_board_leaves_mig_mode(void **state)
{
	struct meter *meter = open_meter(MIG_BOARD "proc 0 10 50 100 1\n");
	struct device_part part;
	struct raw_reading raw;
	uint64_t first_ns;
	size_t count;

	(void)read_use(meter, 10, &count);
	assert_true(read_use(meter, 10, &count) > 0);
	assert_true(nvml_meter.find_part(meter, "MIG-00000000-0000-4000-8000-000000000002", &part));
	assert_int_equal(part.device, 0);
	assert_int_equal(part.held, DEVICE_WHOLE / 7 * 3);
	assert_false(
		nvml_meter.find_part(meter, "MIG-00000000-0000-4000-8000-000000000003", &part));
	say(MIG_BOARD "error 0 10\n"); /* the driver does not answer meanwhile */
	assert_int_equal(nvml_meter.read_raw(meter, 0, &raw), -ETIMEDOUT);
	say(MIG_BOARD);
	assert_int_equal(nvml_meter.read_raw(meter, 0, &raw), 0);
	say("gpu 0 100000\nproc 0 10 50 100\nproc 0 11 25 100\n");
	(void)read_use(meter, 10, &count);
	first_ns = read_use(meter, 10, &count);
	assert_ratio(first_ns, nvml_meter.uses(meter, 0, &count)[1].busy_ns, 2);
	assert_false(
		nvml_meter.find_part(meter, "MIG-00000000-0000-4000-8000-000000000002", &part));
	nvml_meter.close(meter);
}

/* Two hold one of three slices, one holds four. */
static void holders_have_their_slices(void **state)
{
	const struct meter_options options = { .nvml.library = getenv("NVML_LAB"),
					       .wants_holders = true };
	const struct device_use *uses;
	struct meter *meter;
	struct raw_reading raw;
	uint32_t held[3] = { 0 };
	size_t count;

	say("gpu 0 100000\nmig 0 1 60 3 0\nmig 0 2 64 4 0\n"
	    "proc 0 10 0 1 1\nproc 0 11 0 1 1\nproc 0 12 0 1 2\n");
	assert_int_equal(nvml_meter.open(&options, &meter), 0);
	assert_int_equal(nvml_meter.rescan(meter), 0);
	assert_int_equal(nvml_meter.read_raw(meter, 0, &raw), 0);
	uses = nvml_meter.uses(meter, 0, &count);
	for (size_t i = 0; i < count; i++)
		held[uses[i].pid - 10] += uses[i].held;
	assert_int_equal(held[0], DEVICE_WHOLE / 14 * 3);
	assert_int_equal(held[1], DEVICE_WHOLE / 14 * 3);
	assert_int_equal(held[2], DEVICE_WHOLE / 7 * 4);
	nvml_meter.close(meter);
}

/* Use and idle power belong to the machines, and not to the driver's own processes. */
static void vgpus_are_their_machines(void **state)
{
	const struct meter_options options = { .nvml.library = getenv("NVML_LAB"),
					       .wants_holders = true };
	const struct device_use *uses;
	struct meter *meter;
	size_t count;

	say("gpu 0 100000\nproc 0 10 90 100\n"
	    "vgpu 0 60 00000000-0000-0000-0000-000000000001\n"
	    "vgpu 0 20 00000000-0000-0000-0000-000000000002\n");
	assert_int_equal(nvml_meter.open(&options, &meter), 0);
	assert_int_equal(nvml_meter.rescan(meter), 0);
	(void)read_use(meter, 0, &count);
	assert_int_equal(read_use(meter, 10, &count), 0);
	uses = nvml_meter.uses(meter, 0, &count);
	assert_int_equal(count, 4);
	assert_ratio(uses[0].busy_ns, uses[1].busy_ns, 3);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(uses[i].pid, 0);
		assert_int_equal(uses[i].vm.low, 1 + i % 2);
		assert_int_equal(uses[i].held, i < 2 ? 0 : DEVICE_WHOLE / 2);
	}
	nvml_meter.close(meter);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_reading_has_no_use),
		cmocka_unit_test(more_than_there_is_room_for_is_not_read),
		cmocka_unit_test(a_sample_of_the_future_is_ignored),
		cmocka_unit_test(a_clock_that_is_set_back_costs_no_later_sample),
		cmocka_unit_test(a_board_that_is_back_begins_again),
		cmocka_unit_test(energy_waits_for_the_next_sample),
		cmocka_unit_test(energy_of_an_idle_board_waits_for_nothing),
		cmocka_unit_test(what_the_driver_is_too_old_for_is_not_used),
		cmocka_unit_test(instances_have_their_own_activity),
		cmocka_unit_test(within_an_instance_memory_or_samples_decide),
		cmocka_unit_test(an_instance_without_activity_is_as_large_as_it_is),
		cmocka_unit_test(activity_without_a_process_is_the_board_s),
		cmocka_unit_test(a_board_leaves_mig_mode),
		cmocka_unit_test(holders_have_their_slices),
		cmocka_unit_test(vgpus_are_their_machines),
	};
	int fd = mkstemp(state_file), r;

	if (fd < 0 || close(fd) < 0 || setenv("NVML_LAB_STATE", state_file, 1) < 0)
		return 1;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	(void)unlink(state_file);
	return r;
}

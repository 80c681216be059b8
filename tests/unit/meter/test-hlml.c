// SPDX-License-Identifier: Apache-2.0
/* The source by itself, on a library that stands in for the driver's ($HLML_LAB). */
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"
#include "meter/meter.h"
#include "tests/rig/lab_state.h"
#include "tests/rig/remove_tree.h"
#include "tests/unit/unit.h"

#define FIRST_DEVICE (DEVICES_NVML + DEVICES_DRM)

static char folder[] = "/tmp/kepler-hlml-XXXXXX";
static char state_file[64];

static void say(const char *text)
{
	lab_say(state_file, text);
}

static struct meter *open_meter(const char *text)
{
	const struct meter_options options = { .hlml.library = getenv("HLML_LAB") };
	struct meter *meter;

	say(text);
	assert_int_equal(hlml_meter.open(&options, &meter), 0);
	assert_int_equal(hlml_meter.rescan(meter), 0);
	return meter;
}

static void a_board_has_energy_and_no_process(void **state)
{
	struct meter *meter = open_meter("gaudi 0 400000 0\ngaudi 3 600000 50\nnouuid 3\n");
	const struct zone *zone = hlml_meter.zone_at(meter, 0);
	const struct device_use *use;
	struct raw_reading before, after;
	size_t count;

	assert_int_equal(hlml_meter.zone_count(meter), 2);
	assert_string_equal(zone->instance, "01P4-HL3090A0-18-U4V193-22-07-00");
	assert_string_equal(zone->path, "accel0");
	assert_int_equal(zone->kind, ZONE_GPU);
	assert_int_equal(zone->rank, RANK_BOARD_ENERGY);
	assert_int_equal(zone->domain.number, FIRST_DEVICE);
	zone = hlml_meter.zone_at(meter, 1);
	assert_string_equal(zone->instance, "AN45233003"); /* it has no UUID */
	assert_int_equal(zone->domain.number, FIRST_DEVICE + 1);
	assert_int_equal(hlml_meter.read_raw(meter, 1, &before), 0);
	assert_int_equal(before.kind, SAMPLE_TOTAL);
	(void)hlml_meter.uses(meter, 1, &count);
	assert_int_equal(count, 0); /* what was before is not of our time */
	(void)usleep(4000);
	assert_int_equal(hlml_meter.read_raw(meter, 1, &after), 0);
	assert_true(after.value >= before.value + 2000); /* µJ; 600 W of 4 ms */
	use = hlml_meter.uses(meter, 1, &count);
	assert_int_equal(count, 1);
	assert_int_equal(use->device, FIRST_DEVICE + 1);
	assert_int_equal(use->pid, 0);
	assert_true(use->busy_ns >= 2 * NSEC_PER_MSEC);
	hlml_meter.close(meter);
}

static void without_a_counter_power_is_read(void **state)
{
	struct meter *meter = open_meter("gaudi 0 400000 0\nnocounter 0\n");
	struct raw_reading raw;

	assert_int_equal(hlml_meter.read_raw(meter, 0, &raw), 0);
	assert_int_equal(raw.kind, SAMPLE_POWER);
	assert_int_equal(raw.value, 400000000);
	hlml_meter.close(meter);
}

static void a_board_that_is_back_counts_again(void **state)
{
	struct meter *meter = open_meter("gaudi 0 400000 50\ngaudi 1 400000 50\n");
	struct raw_reading before, after;
	size_t count;

	assert_int_equal(hlml_meter.read_raw(meter, 0, &before), 0);
	say("gaudi 0 400000 50\ngaudi 1 400000 50\nerror 0 15\n");
	assert_int_equal(hlml_meter.read_raw(meter, 0, &after), -ENODEV);
	assert_int_equal(hlml_meter.read_raw(meter, 0, &after), -ENODEV);
	assert_int_equal(hlml_meter.read_raw(meter, 1, &after), 0);
	say("gaudi 0 400000 50\ngaudi 1 400000 50\n");
	assert_int_equal(hlml_meter.rescan(meter), 0);
	assert_int_equal(hlml_meter.read_raw(meter, 0, &after), 0);
	assert_int_not_equal(after.generation, before.generation);
	(void)hlml_meter.uses(meter, 0, &count);
	assert_int_equal(count, 0);
	hlml_meter.close(meter);
}

static void a_driver_that_does_not_answer_is_remarked(void **state)
{
	const struct meter_options options = { .hlml.library = getenv("HLML_LAB") };
	struct meter_remark remark;
	struct meter *meter;

	say("init 9\n");
	assert_int_equal(hlml_meter.open(&options, &meter), 0);
	assert_int_equal(hlml_meter.rescan(meter), -ENODEV);
	assert_true(hlml_meter.remark(meter, 0, &remark));
	assert_string_equal(remark.what, "the Gaudi driver does not respond (HLML error 9)");
	assert_int_equal(hlml_meter.zone_count(meter), 0);
	say("gaudi 0 400000 50\n");
	assert_int_equal(hlml_meter.rescan(meter), 0);
	assert_false(hlml_meter.remark(meter, 0, &remark));
	assert_int_equal(hlml_meter.zone_count(meter), 1);
	hlml_meter.close(meter);
}

static void make(const char *path)
{
	char full[128];

	(void)snprintf(full, sizeof(full), "%s/%s", folder, path);
	assert_int_equal(mkdir(full, 0700), 0);
}

/* Another driver may have devices of that class. */
static void a_machine_without_a_board_loads_nothing(void **state)
{
	static char name[] = "libhlml.so", path[] = "/opt/libhlml.so", none[] = "";
	struct meter_options options = { .sysfs = folder, .hlml.library = name };
	char link[128];

	assert_false(hlml_meter.is_wanted(&options));
	make("class");
	make("class/accel");
	make("class/accel/accel0");
	make("class/accel/accel0/device");
	(void)snprintf(link, sizeof(link), "%s/class/accel/accel0/device/driver", folder);
	assert_int_equal(symlink("../../../bus/pci/drivers/intel_vpu", link), 0);
	assert_false(hlml_meter.is_wanted(&options));
	assert_int_equal(unlink(link), 0);
	assert_int_equal(symlink("../../../bus/pci/drivers/habanalabs", link), 0);
	assert_true(hlml_meter.is_wanted(&options));
	options.hlml.library = none;
	assert_false(hlml_meter.is_wanted(&options));
	options.hlml.library = name;
	assert_int_equal(unlink(link), 0);
	make("class/habanalabs");
	assert_false(hlml_meter.is_wanted(&options));
	make("class/habanalabs/hl0");
	assert_true(hlml_meter.is_wanted(&options));
	options.sysfs = "/nowhere";
	options.hlml.library = path;
	assert_true(hlml_meter.is_wanted(&options));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_board_has_energy_and_no_process),
		cmocka_unit_test(without_a_counter_power_is_read),
		cmocka_unit_test(a_board_that_is_back_counts_again),
		cmocka_unit_test(a_driver_that_does_not_answer_is_remarked),
		cmocka_unit_test(a_machine_without_a_board_loads_nothing),
	};
	int r;

	if (!mkdtemp(folder))
		return 1;
	(void)snprintf(state_file, sizeof(state_file), "%s/state", folder);
	if (setenv("HLML_LAB_STATE", state_file, 1) < 0)
		return 1;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	remove_tree(folder);
	return r;
}

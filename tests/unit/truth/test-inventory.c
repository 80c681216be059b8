// SPDX-License-Identifier: Apache-2.0
#include "truth/inventory.h"

#include "tests/unit/truth/truth_root.h"

static void kinds_with_a_meter(void **state)
{
	const struct truth_options options = { .sysfs = root, .procfs = root, .devices = root };
	struct truth_inventory inventory;

	write_text("class/powercap/intel-rapl:0/name", "package-0\n");
	write_text("class/powercap/intel-rapl:0:0/name", "core\n");
	write_text("class/hwmon/hwmon0/name", "amdgpu\n");
	write_text("class/hwmon/hwmon0/power1_average", "1000000\n");
	assert_int_equal(truth_inventory_make(&options, &inventory), 0);
	assert_true(truth_inventory_has(&inventory, "package"));
	assert_true(truth_inventory_has(&inventory, "core"));
	assert_false(truth_inventory_has(&inventory, "dram"));
	assert_false(inventory.has_other);
	write_text("bus/event_source/devices/power/events/energy-psys", "event=0x05\n");
	write_text("class/hwmon/hwmon1/name", "ina226\n");
	write_text("class/hwmon/hwmon1/power1_input", "1000000\n");
	assert_int_equal(truth_inventory_make(&options, &inventory), 0);
	assert_true(inventory.has_other);
	assert_true(truth_inventory_has(&inventory, "psys"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(kinds_with_a_meter, make_root, remove_root),
	};
	return unit_run(tests);
}

// SPDX-License-Identifier: Apache-2.0
/* Recorded layouts: files of drivers, where they are, and files that are not channels. */
#include "meter/hwmon/hwmon_scan.h"

#include "hwmon_tree.h"
#include "tests/unit/unit.h"

static int setup(void **state)
{
	static struct fake_tree tree;

	tree_make(&tree);
	*state = &tree;
	return 0;
}

static int teardown(void **state)
{
	tree_remove(*state);
	return 0;
}

struct expected {
	const char *key, *label, *dir; /* below class/hwmon */
};

static void check(const struct fake_tree *tree, const struct expected *expected, size_t count)
{
	struct hwmon_scan scan;

	assert_int_equal(hwmon_scan_read(tree->sysfs, &scan), 0);
	for (size_t i = 0; i < scan.count && i < count; i++) {
		char key[HWMON_KEY_MAX], dir[512];

		hwmon_channel_key(&scan.found[i].channel, key);
		assert_string_equal(key, expected[i].key);
		assert_string_equal(scan.found[i].channel.label, expected[i].label);
		(void)snprintf(dir, sizeof(dir), "%s/class/hwmon/%s", tree->sysfs, expected[i].dir);
		assert_string_equal(scan.found[i].dir_path, dir);
	}
	assert_int_equal(scan.count, count);
	hwmon_scan_release(&scan);
	assert_null(scan.found);
}

static void test_no_hwmon_is_no_error(void **state)
{
	check(*state, NULL, 0);
}

/* Chips that every machine has; of none of them energy is read. */
static void test_temperatures_and_voltages_alone_are_nothing(void **state)
{
	struct fake_tree *tree = *state;

	hwmon_chip(tree, "hwmon0", "coretemp\n", "platform/coretemp.0");
	hwmon_put(tree, "hwmon0/temp1_input", "40000\n");
	hwmon_put(tree, "hwmon0/power/control", "auto\n");
	hwmon_chip(tree, "hwmon1", "nct6775\n", "platform/nct6775.656");
	hwmon_put(tree, "hwmon1/in0_input", "1000\n");
	hwmon_put(tree, "hwmon2/temp1_input", "1\n"); /* no name */
	hwmon_put(tree, "README", "no directory");
	check(tree, NULL, 0);
}

static void test_files_of_the_chip_and_of_its_device(void **state)
{
	static const struct expected expected[] = {
		{ "power_meter@ACPI000D:00/power1", "", "hwmon3/device" },
		{ "power_meter@ACPI000D:01/power1", "Grace Power Socket 1", "hwmon1" },
		{ "apm_xgene@APMC0D29:00/power1", "CPU power", "hwmon0" },
		{ "apm_xgene@APMC0D29:00/power2", "IO power", "hwmon0" },
	};
	struct fake_tree *tree = *state;

	hwmon_chip(tree, "hwmon0", "apm_xgene\n", "platform/APMC0D29:00");
	hwmon_put(tree, "hwmon0/power2_input", "2000000\n");
	hwmon_put(tree, "hwmon0/power2_label", "IO power\n");
	hwmon_put(tree, "hwmon0/power1_input", "30000000\n");
	hwmon_put(tree, "hwmon0/power1_label", "CPU power\n");
	hwmon_old_chip(tree, "hwmon3", "power_meter\n", "LNXSYSTM:00/ACPI000D:00");
	hwmon_put(tree, "../../devices/LNXSYSTM:00/ACPI000D:00/power1_average", "1000\n");
	hwmon_put(tree, "../../devices/LNXSYSTM:00/ACPI000D:00/power1_oem_info", "\n");
	hwmon_put(tree, "../../devices/LNXSYSTM:00/ACPI000D:00/power1_cap", "1000\n");
	hwmon_chip(tree, "hwmon1", "power_meter\n", "LNXSYSTM:00/ACPI000D:01");
	hwmon_put(tree, "hwmon1/power1_average", "1000\n");
	hwmon_put(tree, "hwmon1/power1_oem_info", " Grace Power Socket 1 \n");
	check(tree, expected, ARRAY_SIZE(expected));
}

/* The firmware's statements about several meters of ACPI, in the order of how sure they are. */
static void test_what_acpi_meters_measure(void **state)
{
	static const struct expected expected[] = {
		{ "power_meter@ACPI000D:03/power1", "", "hwmon3" },
		{ "power_meter@ACPI000D:02/power1", "", "hwmon2" },
		{ "power_meter@ACPI000D:01/power1", "", "hwmon1" },
		{ "power_meter@ACPI000D:00/power1", "", "hwmon0" },
	};
	static const enum hwmon_extent extents[] = { HWMON_OF_MACHINE, HWMON_AT_ROOT, HWMON_UNSAID,
						     HWMON_OF_DEVICES };
	struct fake_tree *tree = *state;
	struct hwmon_scan scan;

	for (int i = 0; i < 4; i++) {
		char hwmon[16], device[32], file[32];

		(void)snprintf(hwmon, sizeof(hwmon), "hwmon%d", i);
		(void)snprintf(device, sizeof(device), "LNXSYSTM:00/ACPI000D:%02d", i);
		(void)snprintf(file, sizeof(file), "hwmon%d/power1_average", i);
		hwmon_chip(tree, hwmon, "power_meter\n", device);
		hwmon_put(tree, file, "1000\n");
	}
	hwmon_put(tree, "../../devices/LNXSYSTM:00/ACPI000D:00/measures/LNXCPU:00", "");
	hwmon_put(tree, "../../devices/LNXSYSTM:00/ACPI000D:01/path", "\\_SB_.SCK1.PM00\n");
	hwmon_put(tree, "../../devices/LNXSYSTM:00/ACPI000D:02/path", "\\_SB_.PMT0\n");
	/* A meter that lists itself says nothing. */
	hwmon_put(tree, "../../devices/LNXSYSTM:00/ACPI000D:02/measures/ACPI000D:02", "");
	hwmon_put(tree, "../../devices/LNXSYSTM:00/ACPI000D:03/measures/device:0a", "");
	hwmon_put(tree, "../../devices/LNXSYSTM:00/ACPI000D:03/measures/LNXSYBUS:00", "");
	check(tree, expected, ARRAY_SIZE(expected));
	assert_int_equal(hwmon_scan_read(tree->sysfs, &scan), 0);
	for (size_t i = 0; i < ARRAY_SIZE(extents); i++)
		assert_int_equal(scan.found[i].channel.extent, extents[i]);
	hwmon_scan_release(&scan);
}

/*
 * Energy takes precedence over power, whatever the number of the chip; rails are numbered by the
 * tree.
 */
static void test_order_and_kinds_of_channels(void **state)
{
	static const struct expected expected[] = {
		{ "amd_energy@amd_energy.0/energy2", "", "hwmon12" },
		{ "amd_energy@amd_energy.0/energy10", "", "hwmon12" },
		{ "ibmpowernv@ibm,opal:sensors/energy1", "Chip 0", "hwmon9" },
		{ "fam15h_power@0000:00:18.4/power1", "", "hwmon2" },
		{ "ibmpowernv@ibm,opal:sensors/power1", "Chip 0", "hwmon9" },
		{ "ina3221@1-0040/in1", "VDD_IN", "hwmon4" },
		{ "ina3221@1-0040/in2", "", "hwmon4" },
	};
	struct fake_tree *tree = *state;

	hwmon_chip(tree, "hwmon12", "amd_energy\n", "platform/amd_energy.0");
	hwmon_put(tree, "hwmon12/energy10_input", "1\n");
	hwmon_put(tree, "hwmon12/energy2_input", "1\n");
	hwmon_chip(tree, "hwmon2", "fam15h_power\n", "pci0000:00/0000:00:18.4");
	hwmon_put(tree, "hwmon2/power1_input", "1\n");
	hwmon_put(tree, "hwmon2/power1_average", "1\n");
	hwmon_chip(tree, "hwmon9", "ibmpowernv\n", "platform/ibm,opal:sensors");
	hwmon_put(tree, "hwmon9/energy1_input", "1\n");
	hwmon_put(tree, "hwmon9/energy1_label", "Chip 0 \n");
	hwmon_put(tree, "hwmon9/power1_input", "1\n");
	hwmon_put(tree, "hwmon9/power1_label", "Chip 0 \n");
	hwmon_put(tree, "hwmon9/in1_input", "1\n"); /* a rail of a chip that shows power */
	hwmon_put(tree, "hwmon9/curr1_input", "1\n");
	hwmon_chip(tree, "hwmon4", "ina3221\n", "i2c-1/1-0040");
	hwmon_put(tree, "hwmon4/in1_input", "5000\n");
	hwmon_put(tree, "hwmon4/in1_label", "VDD_IN\n");
	hwmon_put(tree, "hwmon4/curr1_input", "700\n");
	hwmon_put(tree, "hwmon4/curr2_input", "700\n");
	hwmon_put(tree, "hwmon4/in2_input", "5000\n");
	hwmon_put(tree, "hwmon4/in3_input", "5000\n"); /* without a current */
	check(tree, expected, ARRAY_SIZE(expected));
}

/* Whatever a driver says, it is one line that a terminal can show. */
static void test_texts_are_made_harmless(void **state)
{
	static const struct expected expected[] = {
		{ "evil??[31m/power1", "a?b", "hwmon0" },
	};
	struct fake_tree *tree = *state;

	hwmon_chip(tree, "hwmon0", " evil\x1b\xff[31m \n", "");
	hwmon_put(tree, "hwmon0/power1_input", "1\n");
	hwmon_put(tree, "hwmon0/power1_label", "a\nb\n");
	check(tree, expected, ARRAY_SIZE(expected));
}

static void test_chips_have_a_limit(void **state)
{
	struct fake_tree *tree = *state;
	struct hwmon_scan scan;

	for (unsigned i = 0; i < HWMON_CHIPS_MAX + 5; i++) {
		char name[64];

		(void)snprintf(name, sizeof(name), "hwmon%u/name", i);
		hwmon_put(tree, name, "many\n");
		(void)snprintf(name, sizeof(name), "hwmon%u/power1_input", i);
		hwmon_put(tree, name, "1\n");
	}
	assert_int_equal(hwmon_scan_read(tree->sysfs, &scan), 0);
	assert_int_equal(scan.count, HWMON_CHIPS_MAX);
	hwmon_scan_release(&scan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TREE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		TREE_TEST(test_no_hwmon_is_no_error),
		TREE_TEST(test_temperatures_and_voltages_alone_are_nothing),
		TREE_TEST(test_files_of_the_chip_and_of_its_device),
		TREE_TEST(test_what_acpi_meters_measure),
		TREE_TEST(test_order_and_kinds_of_channels),
		TREE_TEST(test_texts_are_made_harmless),
		TREE_TEST(test_chips_have_a_limit),
	};

	return unit_run(tests);
}

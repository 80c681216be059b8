// SPDX-License-Identifier: Apache-2.0
/* The source by itself, without the thread that polls it: each call is made here. */
#include "base/clock.h"
#include "base/num.h"
#include "hwmon_tree.h"
#include "meter_fixture.h"
#include "tests/unit/unit.h"

static void open_with(struct fixture *fixture, char *rule)
{
	open_with_options(fixture, &hwmon_meter,
			  (struct meter_options){ .hwmon = { { rule }, rule != NULL } });
}

static void check_zone(const struct fixture *fixture, size_t index, const char *id,
		       const char *path)
{
	const struct zone *zone = hwmon_meter.zone_at(fixture->meter, index);

	check_zone_id(fixture, index, id);
	assert_string_equal(zone->path, path);
	assert_string_equal(zone->source, "hwmon");
	assert_int_equal(zone->quality, QUALITY_MEASURED);
	assert_int_equal(zone->scope, SCOPE_NODE);
}

static struct raw_reading read_zone(const struct fixture *fixture, size_t index)
{
	struct raw_reading raw;

	assert_int_equal(hwmon_meter.read_raw(fixture->meter, index, &raw), 0);
	return raw;
}

static int fail_of(const struct fixture *fixture, size_t index)
{
	struct raw_reading raw;

	return hwmon_meter.read_raw(fixture->meter, index, &raw);
}

static void put_xgene_at(const struct fixture *fixture, const char *hwmon, const char *device,
			 const char *power)
{
	char name[64];

	hwmon_chip(&fixture->tree, hwmon, "apm_xgene\n", device);
	(void)snprintf(name, sizeof(name), "%s/power1_label", hwmon);
	hwmon_put(&fixture->tree, name, "CPU power\n");
	(void)snprintf(name, sizeof(name), "%s/power1_input", hwmon);
	hwmon_put(&fixture->tree, name, power);
	(void)snprintf(name, sizeof(name), "%s/power2_label", hwmon);
	hwmon_put(&fixture->tree, name, "IO power\n");
	(void)snprintf(name, sizeof(name), "%s/power2_input", hwmon);
	hwmon_put(&fixture->tree, name, "1000000\n");
}

static void put_xgene(const struct fixture *fixture, const char *hwmon, const char *power)
{
	put_xgene_at(fixture, hwmon, "platform/APMC0D29:00", power);
}

static void test_nothing_there(void **state)
{
	struct fixture *fixture = *state;
	struct meter_remark remark;

	open_with(fixture, NULL);
	assert_int_equal(hwmon_meter.zone_count(fixture->meter), 0);
	assert_int_equal(hwmon_meter.ignored(fixture->meter), 0);
	assert_false(hwmon_meter.remark(fixture->meter, 0, &remark));
}

static void test_each_socket_has_a_chip(void **state)
{
	struct fixture *fixture = *state;

	put_xgene_at(fixture, "hwmon0", "platform/APMC0D29:01", "50000000\n");
	put_xgene_at(fixture, "hwmon1", "platform/APMC0D29:00", "60000000\n");
	open_with(fixture, NULL);
	assert_int_equal(hwmon_meter.zone_count(fixture->meter), 2);
	check_zone(fixture, 0, "package-0", "apm_xgene@APMC0D29:00/power1");
	check_zone(fixture, 1, "package-1", "apm_xgene@APMC0D29:01/power1");
}

static void test_a_power_is_of_a_moment(void **state)
{
	struct fixture *fixture = *state;
	struct meter_remark remark;
	struct raw_reading raw;

	put_xgene(fixture, "hwmon0", "30000000\n");
	open_with(fixture, NULL);
	assert_int_equal(hwmon_meter.zone_count(fixture->meter), 1);
	check_zone(fixture, 0, "package-0", "apm_xgene@APMC0D29:00/power1");
	assert_int_equal(hwmon_meter.zone_at(fixture->meter, 0)->rank, RANK_SENSOR_POWER);
	assert_int_equal(hwmon_meter.zone_at(fixture->meter, 0)->domain.kind, DOMAIN_SOCKET);
	raw = read_zone(fixture, 0);
	assert_int_equal(raw.kind, SAMPLE_POWER);
	assert_int_equal(raw.value, 30000000);
	assert_int_equal(raw.from_ns + raw.to_ns, 0);
	/* A remaining sensor says so, and how it would be counted. */
	assert_true(hwmon_meter.remark(fixture->meter, 0, &remark));
	assert_string_equal(remark.what, "apm_xgene@APMC0D29:00/power2 (IO power) is not counted: "
					 "no rule states what it measures");
	assert_string_equal(remark.option, "--meter.hwmon=apm_xgene@APMC0D29:00/power2=ZONE");
	assert_false(hwmon_meter.remark(fixture->meter, 1, &remark));
	/* Searching again repeats nothing. */
	assert_int_equal(hwmon_meter.rescan(fixture->meter), 0);
	assert_int_equal(hwmon_meter.zone_count(fixture->meter), 1);
	assert_false(hwmon_meter.remark(fixture->meter, 1, &remark));
}

/* A second and more: the mean is all that is to be known of the time since the last reading. */
static void test_a_mean_stands_for_its_interval(void **state)
{
	struct fixture *fixture = *state;
	uint64_t now_ns;
	struct raw_reading raw;

	hwmon_old_chip(&fixture->tree, "hwmon2", "power_meter\n", "ACPI000D:00");
	hwmon_put(&fixture->tree, "../../devices/ACPI000D:00/power1_average", "250000000\n");
	hwmon_put(&fixture->tree, "../../devices/ACPI000D:00/power1_average_interval", "1000\n");
	hwmon_old_chip(&fixture->tree, "hwmon3", "power_meter\n", "ACPI000D:01");
	hwmon_put(&fixture->tree, "../../devices/ACPI000D:01/power1_average", "70000000\n");
	hwmon_put(&fixture->tree, "../../devices/ACPI000D:01/power1_average_interval", "50\n");
	hwmon_put(&fixture->tree, "../../devices/ACPI000D:01/power1_oem_info",
		  "Grace Power Socket 0\n");
	open_with(fixture, NULL);
	assert_int_equal(hwmon_meter.zone_count(fixture->meter), 2);
	check_zone(fixture, 0, "platform", "power_meter@ACPI000D:00/power1");
	check_zone(fixture, 1, "package-0", "power_meter@ACPI000D:01/power1");
	raw = read_zone(fixture, 0);
	now_ns = clock_ns(CLOCK_MONOTONIC);
	assert_int_equal(raw.value, 250000000);
	assert_true(raw.from_ns > 0 && raw.from_ns <= now_ns - NSEC_PER_SEC);
	assert_int_equal(read_zone(fixture, 1).from_ns, 0);
}

static void test_a_counter(void **state)
{
	struct fixture *fixture = *state;
	struct raw_reading raw;

	hwmon_chip(&fixture->tree, "hwmon5", "amd_energy\n", "platform/amd_energy.0");
	for (unsigned i = 1; i <= 3; i++) {
		char name[64], label[32];

		(void)snprintf(name, sizeof(name), "hwmon5/energy%u_input", i);
		hwmon_put(&fixture->tree, name, "18446744073709551615\n");
		(void)snprintf(name, sizeof(name), "hwmon5/energy%u_label", i);
		(void)snprintf(label, sizeof(label), i < 3 ? "Ecore00%u\n" : "Esocket%u\n", i - 1);
		hwmon_put(&fixture->tree, name, label);
	}
	open_with(fixture, NULL);
	assert_int_equal(hwmon_meter.zone_count(fixture->meter), 1);
	check_zone(fixture, 0, "package-2", "amd_energy@amd_energy.0/energy3");
	assert_int_equal(hwmon_meter.zone_at(fixture->meter, 0)->rank, RANK_SENSOR_ENERGY);
	raw = read_zone(fixture, 0);
	assert_int_equal(raw.kind, SAMPLE_TOTAL);
	assert_true(raw.value == UINT64_MAX);
}

/* mV × mA */
static void test_a_product(void **state)
{
	struct fixture *fixture = *state;

	hwmon_chip(&fixture->tree, "hwmon0", "ina3221\n", "i2c-1/1-0040");
	hwmon_put(&fixture->tree, "hwmon0/in1_label", "VDD_IN\n");
	hwmon_put(&fixture->tree, "hwmon0/in1_input", "19000\n");
	hwmon_put(&fixture->tree, "hwmon0/curr1_input", "1500\n");
	open_with(fixture, NULL);
	check_zone(fixture, 0, "platform", "ina3221@1-0040/in1");
	assert_int_equal(read_zone(fixture, 0).value, 28500000);
	hwmon_put(&fixture->tree, "hwmon0/curr1_input", "9999999999999999999\n");
	assert_int_equal(fail_of(fixture, 0), -ERANGE);
	hwmon_put(&fixture->tree, "hwmon0/curr1_input", "-5\n"); /* it flows back */
	assert_int_equal(fail_of(fixture, 0), -EINVAL);
	hwmon_put(&fixture->tree, "hwmon0/curr1_input", "0\n");
	assert_int_equal(read_zone(fixture, 0).value, 0);
}

/* R10, R3: the same chip under another number is the same zone, and another under its is not. */
static void test_numbers_change(void **state)
{
	struct fixture *fixture = *state;
	uint32_t generation;

	put_xgene(fixture, "hwmon0", "30000000\n");
	open_with(fixture, NULL);
	generation = read_zone(fixture, 0).generation;
	hwmon_drop(&fixture->tree, "hwmon0");
	hwmon_chip(&fixture->tree, "hwmon0", "ina226\n", "i2c-1/1-0040");
	hwmon_put(&fixture->tree, "hwmon0/power1_input", "99000000\n");
	assert_int_equal(fail_of(fixture, 0), -ENODEV);
	assert_int_equal(fail_of(fixture, 0), -ENODEV);
	assert_int_equal(hwmon_meter.rescan(fixture->meter), 0);
	assert_int_equal(fail_of(fixture, 0), -ENODEV);
	put_xgene(fixture, "hwmon7", "40000000\n");
	assert_int_equal(hwmon_meter.rescan(fixture->meter), 0);
	assert_int_equal(hwmon_meter.zone_count(fixture->meter), 1);
	assert_int_equal(read_zone(fixture, 0).value, 40000000);
	assert_true(read_zone(fixture, 0).generation != generation);
}

/* R4: down with its cause, and up with the next good text. */
static void test_garbage(void **state)
{
	static const struct {
		const char *text;
		int error;
	} faults[] = {
		{ "", -EBADMSG },
		{ "abc\n", -EINVAL },
		{ "12 34\n", -EINVAL },
		{ "1234", -EBADMSG },
		{ "99999999999999999999\n", -ERANGE },
		{ "0000000000000000000000000000000000000000\n", -EFBIG },
	};
	struct fixture *fixture = *state;

	put_xgene(fixture, "hwmon0", "30000000\n");
	open_with(fixture, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		hwmon_put(&fixture->tree, "hwmon0/power1_input", faults[i].text);
		assert_int_equal(fail_of(fixture, 0), faults[i].error);
		hwmon_put(&fixture->tree, "hwmon0/power1_input", "7\n");
		assert_int_equal(read_zone(fixture, 0).value, 7);
	}
}

static void test_a_rule_of_the_user(void **state)
{
	static char rule[] = "ina226@1-0041/power1=platform";
	struct fixture *fixture = *state;
	struct meter_remark remark;

	hwmon_chip(&fixture->tree, "hwmon0", "ina226\n", "i2c-1/1-0040");
	hwmon_put(&fixture->tree, "hwmon0/power1_input", "1\n");
	hwmon_chip(&fixture->tree, "hwmon1", "ina226\n", "i2c-1/1-0041");
	hwmon_put(&fixture->tree, "hwmon1/power1_input", "2\n");
	open_with(fixture, rule);
	assert_int_equal(hwmon_meter.zone_count(fixture->meter), 1);
	check_zone(fixture, 0, "platform", "ina226@1-0041/power1");
	assert_int_equal(read_zone(fixture, 0).value, 2);
	assert_true(hwmon_meter.remark(fixture->meter, 0, &remark));
	assert_string_equal(remark.what, "ina226@1-0040/power1 is not counted: its meaning "
					 "depends on the board");
	assert_false(hwmon_meter.remark(fixture->meter, 1, &remark));
}

/* A counter and a power of one chip, and a second meter of the machine. */
static void test_the_same_energy_is_one_zone(void **state)
{
	struct fixture *fixture = *state;
	struct meter_remark remark;

	hwmon_chip(&fixture->tree, "hwmon0", "ibmpowernv\n", "platform/ibm,opal:sensors");
	hwmon_put(&fixture->tree, "hwmon0/power1_label", "System\n");
	hwmon_put(&fixture->tree, "hwmon0/power1_input", "426000000\n");
	hwmon_put(&fixture->tree, "hwmon0/energy7_label", "System\n");
	hwmon_put(&fixture->tree, "hwmon0/energy7_input", "21290000000000\n");
	hwmon_chip(&fixture->tree, "hwmon1", "power_meter\n", "ACPI000D:00");
	hwmon_put(&fixture->tree, "hwmon1/power1_average", "1\n");
	open_with(fixture, NULL);
	assert_int_equal(hwmon_meter.zone_count(fixture->meter), 1);
	check_zone(fixture, 0, "platform", "ibmpowernv@ibm,opal:sensors/energy7");
	assert_true(hwmon_meter.remark(fixture->meter, 0, &remark));
	assert_string_equal(remark.what, "power_meter@ACPI000D:00/power1 is not counted: "
					 "ibmpowernv@ibm,opal:sensors/energy7 counts the same");
	assert_string_equal(remark.option, "");
	assert_true(hwmon_meter.remark(fixture->meter, 1, &remark));
	assert_false(hwmon_meter.remark(fixture->meter, 2, &remark));
}

static void put_acpi_meter(struct fixture *fixture, int number)
{
	char hwmon[16], device[32], file[32];

	(void)snprintf(hwmon, sizeof(hwmon), "hwmon%d", number);
	(void)snprintf(device, sizeof(device), "ACPI000D:%02d", number);
	(void)snprintf(file, sizeof(file), "hwmon%d/power1_average", number);
	hwmon_chip(&fixture->tree, hwmon, "power_meter\n", device);
	hwmon_put(&fixture->tree, file, "1000\n");
}

/* One of two unknown meters counts, and users are informed until a rule decides. */
static void test_a_second_acpi_meter_is_in_doubt(void **state)
{
	struct fixture *fixture = *state;
	struct meter_remark remark;

	put_acpi_meter(fixture, 0);
	put_acpi_meter(fixture, 1);
	open_with(fixture, NULL);
	assert_int_equal(hwmon_meter.zone_count(fixture->meter), 1);
	check_zone(fixture, 0, "platform", "power_meter@ACPI000D:00/power1");
	assert_true(hwmon_meter.remark(fixture->meter, 0, &remark));
	assert_string_equal(
		remark.what,
		"power_meter@ACPI000D:01/power1 is not counted: it is not known whether "
		"power_meter@ACPI000D:00/power1, which is counted, measures the same or "
		"another part of the machine");
	assert_string_equal(remark.option,
			    "--meter.hwmon=power_meter@ACPI000D:01/power1=none if both measure the "
			    "whole machine, =platform-1 if each measures a part");
	assert_true(remark.is_caveat);
	assert_int_equal(read_zone(fixture, 0).caveat, CAVEAT_AMBIGUOUS);
	/* As of the last search. */
	hwmon_put(&fixture->tree, "../../devices/ACPI000D:01/measures/LNXCPU:00", "");
	assert_int_equal(hwmon_meter.rescan(fixture->meter), 0);
	assert_int_equal(read_zone(fixture, 0).caveat, CAVEAT_NONE);
}

static void test_a_rule_ends_the_doubt(void **state)
{
	static char same[] = "power_meter@ACPI000D:01/power1=none";
	static char part[] = "power_meter@ACPI000D:01/power1=platform-1";
	struct fixture *fixture = *state;

	put_acpi_meter(fixture, 0);
	put_acpi_meter(fixture, 1);
	open_with(fixture, same);
	assert_int_equal(hwmon_meter.zone_count(fixture->meter), 1);
	assert_int_equal(read_zone(fixture, 0).caveat, CAVEAT_NONE);
	hwmon_meter.close(fixture->meter);
	open_with(fixture, part);
	assert_int_equal(hwmon_meter.zone_count(fixture->meter), 2);
	check_zone(fixture, 1, "platform-1", "power_meter@ACPI000D:01/power1");
	assert_int_equal(read_zone(fixture, 0).caveat, CAVEAT_NONE);
}

/* The firmware says which one is the machine's, whatever their order. */
static void test_the_acpi_meter_of_the_machine_counts(void **state)
{
	struct fixture *fixture = *state;
	struct meter_remark remark;

	put_acpi_meter(fixture, 0);
	put_acpi_meter(fixture, 1);
	put_acpi_meter(fixture, 2);
	hwmon_put(&fixture->tree, "../../devices/ACPI000D:00/measures/LNXCPU:00", "");
	hwmon_put(&fixture->tree, "../../devices/ACPI000D:02/measures/LNXSYBUS:00", "");
	open_with(fixture, NULL);
	assert_int_equal(hwmon_meter.zone_count(fixture->meter), 1);
	check_zone(fixture, 0, "platform", "power_meter@ACPI000D:02/power1");
	assert_true(hwmon_meter.remark(fixture->meter, 0, &remark));
	assert_string_equal(remark.what, "power_meter@ACPI000D:01/power1 is not counted: "
					 "power_meter@ACPI000D:02/power1 counts the same");
	assert_false(remark.is_caveat);
	assert_true(hwmon_meter.remark(fixture->meter, 1, &remark));
	assert_string_equal(remark.what, "power_meter@ACPI000D:00/power1 is not counted: it "
					 "measures devices of the machine, and not all of it");
}

/* In the order of their devices. */
static void test_zones_without_a_number_get_one(void **state)
{
	struct fixture *fixture = *state;

	hwmon_chip(&fixture->tree, "hwmon1", "fam15h_power\n", "pci0000:00/0000:00:18.4");
	hwmon_put(&fixture->tree, "hwmon1/power1_input", "1\n");
	hwmon_chip(&fixture->tree, "hwmon0", "fam15h_power\n", "pci0000:00/0000:00:19.4");
	hwmon_put(&fixture->tree, "hwmon0/power1_input", "2\n");
	open_with(fixture, NULL);
	assert_int_equal(hwmon_meter.zone_count(fixture->meter), 2);
	check_zone(fixture, 0, "package-0", "fam15h_power@0000:00:18.4/power1");
	check_zone(fixture, 1, "package-1", "fam15h_power@0000:00:19.4/power1");
}

/*
 * HSMP's chip of each socket: of a device each where ACPI describes them, else all of one device,
 * in the order in which they were made. The kernel has numbers for them as they come.
 */
static void test_sockets_of_hsmp(void **state)
{
	struct fixture *fixture = *state;

	for (unsigned socket = 0; socket < 2; socket++) {
		static const char *const chips[] = { "hwmon9", "hwmon10" };
		char path[64];

		hwmon_chip(&fixture->tree, chips[socket], "amd_hsmp_hwmon\n", "platform/amd_hsmp");
		(void)snprintf(path, sizeof(path), "%s/power1_input", chips[socket]);
		hwmon_put(&fixture->tree, path, socket ? "250000000\n" : "120000000\n");
		(void)snprintf(path, sizeof(path), "%s/power1_cap", chips[socket]);
		hwmon_put(&fixture->tree, path, "400000000\n");
	}
	open_with(fixture, NULL);
	assert_int_equal(hwmon_meter.zone_count(fixture->meter), 2);
	check_zone(fixture, 0, "package-0", "amd_hsmp_hwmon@amd_hsmp/power1");
	check_zone(fixture, 1, "package-1", "amd_hsmp_hwmon@amd_hsmp.1/power1");
	assert_int_equal(read_zone(fixture, 0).value, 120000000);
	assert_int_equal(read_zone(fixture, 1).value, 250000000);
}

static void test_sockets_of_hsmp_by_acpi(void **state)
{
	struct fixture *fixture = *state;

	hwmon_chip(&fixture->tree, "hwmon3", "amd_hsmp_hwmon\n", "platform/AMDI0097:01");
	hwmon_put(&fixture->tree, "hwmon3/power1_input", "250000000\n");
	hwmon_chip(&fixture->tree, "hwmon4", "amd_hsmp_hwmon\n", "platform/AMDI0097:00");
	hwmon_put(&fixture->tree, "hwmon4/power1_input", "120000000\n");
	open_with(fixture, NULL);
	assert_int_equal(hwmon_meter.zone_count(fixture->meter), 2);
	check_zone(fixture, 0, "package-0", "amd_hsmp_hwmon@AMDI0097:00/power1");
	check_zone(fixture, 1, "package-1", "amd_hsmp_hwmon@AMDI0097:01/power1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TREE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		TREE_TEST(test_nothing_there),
		TREE_TEST(test_each_socket_has_a_chip),
		TREE_TEST(test_a_power_is_of_a_moment),
		TREE_TEST(test_a_mean_stands_for_its_interval),
		TREE_TEST(test_a_counter),
		TREE_TEST(test_a_product),
		TREE_TEST(test_numbers_change),
		TREE_TEST(test_garbage),
		TREE_TEST(test_a_rule_of_the_user),
		TREE_TEST(test_the_same_energy_is_one_zone),
		TREE_TEST(test_a_second_acpi_meter_is_in_doubt),
		TREE_TEST(test_a_rule_ends_the_doubt),
		TREE_TEST(test_the_acpi_meter_of_the_machine_counts),
		TREE_TEST(test_zones_without_a_number_get_one),
		TREE_TEST(test_sockets_of_hsmp),
		TREE_TEST(test_sockets_of_hsmp_by_acpi),
	};

	return unit_run(tests);
}

// SPDX-License-Identifier: Apache-2.0
/* The source by itself, without the thread that polls it: each call is made here. */
#include "hwmon_tree.h"
#include "meter/cray/cray_pm.h"
#include "meter_fixture.h"
#include "tests/unit/unit.h"

#define PM "../../cray/pm_counters/"

static void open_meter(struct fixture *fixture)
{
	open_with_options(fixture, &cray_pm_meter, (struct meter_options){ 0 });
}

static void check_zones(const struct fixture *fixture, const char *const ids[], size_t count)
{
	assert_int_equal(cray_pm_meter.zone_count(fixture->meter), count);
	for (size_t i = 0; i < count; i++)
		check_zone_id(fixture, i, ids[i]);
}

static void put_node(const struct fixture *fixture)
{
	hwmon_put(&fixture->tree, PM "energy", "1000 J 5000000 us\n");
	hwmon_put(&fixture->tree, PM "power", "300 W 5000000 us\n");
	hwmon_put(&fixture->tree, PM "cpu_energy", "400 J 5000000 us\n");
	hwmon_put(&fixture->tree, PM "memory_energy", "50 J 5000000 us\n");
	hwmon_put(&fixture->tree, PM "startup", "1700000000000\n");
}

static void test_another_machine(void **state)
{
	struct fixture *fixture = *state;

	open_meter(fixture);
	assert_int_equal(cray_pm_meter.zone_count(fixture->meter), 0);
	put_node(fixture); /* its driver comes later */
	assert_int_equal(cray_pm_meter.rescan(fixture->meter), 0);
	assert_int_equal(cray_pm_meter.zone_count(fixture->meter), 3);
}

static void test_a_node(void **state)
{
	static const char *const ids[] = { "platform", "dram", "package" };
	struct fixture *fixture = *state;
	const struct zone *zone;
	struct raw_reading raw;

	put_node(fixture);
	open_meter(fixture);
	check_zones(fixture, ids, 3);
	assert_int_equal(cray_pm_meter.rescan(fixture->meter), 0);
	check_zones(fixture, ids, 3);
	zone = cray_pm_meter.zone_at(fixture->meter, 2);
	assert_string_equal(zone->path, "pm_counters/cpu_energy");
	assert_string_equal(zone->source, "cray-pm-counters");
	assert_int_equal(zone->rank, RANK_BOARD_ENERGY);
	assert_int_equal(zone->domain.kind, DOMAIN_NODE);
	assert_int_equal(cray_pm_meter.read_raw(fixture->meter, 0, &raw), 0);
	assert_int_equal(raw.kind, SAMPLE_TOTAL);
	assert_int_equal(raw.value, 1000000000);
}

/* If sockets have counters of their own, the counter of all is not read as well. */
static void test_sockets(void **state)
{
	static const char *const ids[] = { "platform", "dram", "package-0", "package-1" };
	struct fixture *fixture = *state;

	put_node(fixture);
	hwmon_put(&fixture->tree, PM "cpu1_energy", "1 J 5 us\n");
	hwmon_put(&fixture->tree, PM "cpu0_energy", "1 J 5 us\n");
	open_meter(fixture);
	check_zones(fixture, ids, 4);
}

/* A sample is taken once; a new one is new, whatever it says. */
/* One zone that is their sum, or nothing where one of them has no energy. */
static void test_accelerators(void **state)
{
	static const char *const ids[] = { "gpu" };
	struct fixture *fixture = *state;
	struct raw_reading raw;
	const struct zone *zone;

	hwmon_put(&fixture->tree, PM "accel0_energy", "1000 J 100 us\n");
	hwmon_put(&fixture->tree, PM "accel1_energy", "20 J 100 us\n");
	hwmon_put(&fixture->tree, PM "accel3_energy", "7 J 100 us\n"); /* not the next one */
	open_meter(fixture);
	check_zones(fixture, ids, 1);
	zone = cray_pm_meter.zone_at(fixture->meter, 0);
	assert_int_equal(zone->domain.kind, DOMAIN_DEVICE);
	assert_true(zone->rank > RANK_SENSOR_POWER); /* drivers of boards take precedence over it */
	assert_int_equal(cray_pm_meter.read_raw(fixture->meter, 0, &raw), 0);
	assert_int_equal(raw.value, 1020000000);
	assert_int_equal(cray_pm_meter.read_raw(fixture->meter, 0, &raw), -EAGAIN);
	hwmon_put(&fixture->tree, PM "accel0_energy", "nonsense\n");
	hwmon_put(&fixture->tree, PM "accel1_energy", "21 J 200 us\n");
	assert_true(cray_pm_meter.read_raw(fixture->meter, 0, &raw) < 0);
	hwmon_put(&fixture->tree, PM "accel0_energy", "1100 J 300 us\n");
	hwmon_put(&fixture->tree, PM "accel1_energy", "30 J 300 us\n");
	assert_int_equal(cray_pm_meter.rescan(fixture->meter), 0);
	check_zones(fixture, ids, 1);
	assert_int_equal(cray_pm_meter.read_raw(fixture->meter, 0, &raw), 0);
	assert_int_equal(raw.value, 1130000000);
}

static void test_samples_have_a_time(void **state)
{
	struct fixture *fixture = *state;
	struct raw_reading raw;

	put_node(fixture);
	open_meter(fixture);
	assert_int_equal(cray_pm_meter.read_raw(fixture->meter, 0, &raw), 0);
	assert_int_equal(cray_pm_meter.read_raw(fixture->meter, 0, &raw), -EAGAIN);
	assert_int_equal(cray_pm_meter.read_raw(fixture->meter, 1, &raw), 0);
	hwmon_put(&fixture->tree, PM "energy", "1000 J 5100000 us\n");
	assert_int_equal(cray_pm_meter.read_raw(fixture->meter, 0, &raw), 0);
	hwmon_put(&fixture->tree, PM "energy", "1001 J\n"); /* without times each is new */
	assert_int_equal(cray_pm_meter.read_raw(fixture->meter, 0, &raw), 0);
	assert_int_equal(cray_pm_meter.read_raw(fixture->meter, 0, &raw), 0);
	assert_int_equal(raw.value, 1001000000);
}

static void test_faults(void **state)
{
	struct fixture *fixture = *state;
	struct raw_reading raw;
	uint32_t generation;

	put_node(fixture);
	open_meter(fixture);
	assert_int_equal(cray_pm_meter.read_raw(fixture->meter, 0, &raw), 0);
	generation = raw.generation;
	hwmon_put(&fixture->tree, PM "energy", "oops\n");
	assert_int_equal(cray_pm_meter.read_raw(fixture->meter, 0, &raw), -EINVAL);
	hwmon_put(&fixture->tree, PM "energy", "7 J 6000000 us\n");
	hwmon_put(&fixture->tree, PM "startup", "1700000009999\n"); /* it counts from 0 again */
	assert_int_equal(cray_pm_meter.read_raw(fixture->meter, 0, &raw), 0);
	assert_true(raw.generation != generation);
	tree_drop(&fixture->tree, PM "energy");
	assert_int_equal(cray_pm_meter.read_raw(fixture->meter, 0, &raw), -ENOENT);
	assert_int_equal(cray_pm_meter.read_raw(fixture->meter, 1, &raw), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TREE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		TREE_TEST(test_another_machine),
		TREE_TEST(test_a_node),
		TREE_TEST(test_sockets),
		TREE_TEST(test_accelerators),
		TREE_TEST(test_samples_have_a_time),
		TREE_TEST(test_faults),
	};

	return unit_run(tests);
}

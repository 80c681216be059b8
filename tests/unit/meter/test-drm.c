// SPDX-License-Identifier: Apache-2.0
/* The source by itself, over trees as amdgpu, i915 and xe show them: each call is made here. */
#include "energy/work.h"
#include "fake_device_files.h"
#include "hwmon_tree.h"
#include "meter/drm/drm.h"
#include "meter_fixture.h"
#include "tests/unit/unit.h"

#define AMD   "0000:03:00.0"
#define INTEL "0000:4d:00.0"

/* A file of the device at @address. */
static void put(const struct fixture *fixture, const char *address, const char *name,
		const char *text)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "../../devices/pci0000:00/%s/%s", address, name);
	hwmon_put(&fixture->tree, path, text);
}

static void link_to(const struct fixture *fixture, const char *from, const char *target)
{
	char path[512];

	(void)snprintf(path, sizeof(path), "%s/%s", fixture->tree.sysfs, from);
	assert_int_equal(symlink(target, path), 0);
}

/* Its card, its driver, a connector and a render node, as the kernel makes them. */
static void put_card(const struct fixture *fixture, const char *card, const char *address,
		     const char *driver)
{
	char path[256], target[256];

	put(fixture, address, "vendor", "0x0000\n");
	put(fixture, address, "power/runtime_status", "active\n");
	(void)snprintf(path, sizeof(path), "../../bus/pci/drivers/%s/bind", driver);
	hwmon_put(&fixture->tree, path, "");
	(void)snprintf(path, sizeof(path), "../drm/%s-DP-1/status", card);
	hwmon_put(&fixture->tree, path, "connected\n");
	(void)snprintf(path, sizeof(path), "../drm/%s/dev", card);
	hwmon_put(&fixture->tree, path, "226:0\n");
	(void)snprintf(path, sizeof(path), "class/drm/%s/device", card);
	(void)snprintf(target, sizeof(target), "../../../devices/pci0000:00/%s", address);
	link_to(fixture, path, target);
	(void)snprintf(path, sizeof(path), "devices/pci0000:00/%s/driver", address);
	(void)snprintf(target, sizeof(target), "../../../bus/pci/drivers/%s", driver);
	link_to(fixture, path, target);
}

static struct meter_options options_of(const struct fixture *fixture)
{
	return (struct meter_options){ .sysfs = fixture->tree.sysfs };
}

static void open_meter(struct fixture *fixture)
{
	open_with_options(fixture, &drm_meter, (struct meter_options){ 0 });
}

static void check_reading(const struct fixture *fixture, size_t index, enum sample_kind kind,
			  uint64_t value)
{
	struct raw_reading raw;

	assert_int_equal(drm_meter.read_raw(fixture->meter, index, &raw), 0);
	assert_int_equal(raw.kind, kind);
	assert_int_equal(raw.value, value);
}

static void check_zone(const struct fixture *fixture, size_t index, const char *address)
{
	const struct zone *zone = drm_meter.zone_at(fixture->meter, index);

	assert_int_equal(zone->kind, ZONE_GPU);
	assert_string_equal(zone->instance, address);
	assert_int_equal(zone->domain.kind, DOMAIN_DEVICE);
	assert_int_equal(zone->domain.number, DEVICES_NVML + index); /* none of NVML's */
}

static void test_another_machine(void **state)
{
	struct fixture *fixture = *state;
	struct meter_options options = options_of(fixture);

	assert_false(drm_meter.is_wanted(&options));
	put_card(fixture, "card0", "0000:00:02.0", "virtio-pci");
	assert_false(drm_meter.is_wanted(&options));
	put_card(fixture, "card1", AMD, "amdgpu");
	assert_true(drm_meter.is_wanted(&options));
	assert_false(drm_meter.needs_apply(&options)); /* it may come with its sensor, later */
	put(fixture, AMD, "hwmon/hwmon5/power1_cap", "300000000\n");
	put(fixture, AMD, "hwmon/hwmon5/power1_input", "21000000\n");
	assert_true(drm_meter.needs_apply(&options));
}

static void test_amd(void **state)
{
	struct fixture *fixture = *state;

	put_card(fixture, "card0", AMD, "amdgpu");
	put(fixture, AMD, "hwmon/hwmon5/power1_cap", "300000000\n");
	put(fixture, AMD, "hwmon/hwmon5/power1_label", "PPT\n");
	put(fixture, AMD, "hwmon/hwmon5/power1_input", "21000000\n");
	open_meter(fixture);
	assert_int_equal(drm_meter.zone_count(fixture->meter), 1);
	check_zone(fixture, 0, AMD);
	assert_int_equal(drm_meter.zone_at(fixture->meter, 0)->rank, RANK_SENSOR_POWER);
	check_reading(fixture, 0, SAMPLE_POWER, 21000000);
	assert_int_equal(drm_meter.ignored(fixture->meter), 0);
}

static void test_an_apu_is_not_a_board(void **state)
{
	struct fixture *fixture = *state;

	put_card(fixture, "card0", "0000:05:00.0", "amdgpu"); /* no limit of power */
	put(fixture, "0000:05:00.0", "hwmon/hwmon2/power1_input", "9000000\n");
	put_card(fixture, "card1", "0000:06:00.0", "amdgpu"); /* Van Gogh */
	put(fixture, "0000:06:00.0", "hwmon/hwmon3/power1_cap", "15000000\n");
	put(fixture, "0000:06:00.0", "hwmon/hwmon3/power1_label", "slowPPT\n");
	put(fixture, "0000:06:00.0", "hwmon/hwmon3/power1_average", "9000000\n");
	put_card(fixture, "card2", "0000:00:02.0", "i915"); /* the processor's graphics */
	open_meter(fixture);
	assert_int_equal(drm_meter.zone_count(fixture->meter), 0);
}

static void test_intel(void **state)
{
	struct fixture *fixture = *state;

	put_card(fixture, "card0", INTEL, "i915");
	put(fixture, INTEL, "hwmon/hwmon1/energy1_input", "123456789\n");
	open_meter(fixture);
	put_card(fixture, "card1", "0000:50:00.0", "xe"); /* its driver comes later */
	put(fixture, "0000:50:00.0", "hwmon/hwmon2/energy1_input", "5000\n");
	put(fixture, "0000:50:00.0", "hwmon/hwmon2/energy2_input", "4000\n");
	assert_int_equal(drm_meter.rescan(fixture->meter), 0);
	put_card(fixture, "card2", "0000:60:00.0", "xe");
	put(fixture, "0000:60:00.0", "hwmon/hwmon3/energy2_input", "3000\n");
	assert_int_equal(drm_meter.rescan(fixture->meter), 0);
	assert_int_equal(drm_meter.zone_count(fixture->meter), 3);
	check_zone(fixture, 0, INTEL);
	check_zone(fixture, 1, "0000:50:00.0");
	assert_int_equal(drm_meter.zone_at(fixture->meter, 0)->rank, RANK_SENSOR_ENERGY);
	check_reading(fixture, 0, SAMPLE_TOTAL, 123456789);
	check_reading(fixture, 1, SAMPLE_TOTAL, 5000); /* the board, not its package */
	check_reading(fixture, 2, SAMPLE_TOTAL, 3000);
}

static void test_a_board_asleep_is_not_woken(void **state)
{
	struct fixture *fixture = *state;
	struct raw_reading raw;

	put_card(fixture, "card0", INTEL, "xe");
	put(fixture, INTEL, "hwmon/hwmon1/energy1_input", "10\n");
	open_meter(fixture);
	put(fixture, INTEL, "power/runtime_status", "suspended\n");
	assert_int_equal(drm_meter.read_raw(fixture->meter, 0, &raw), -EAGAIN);
	put(fixture, INTEL, "power/runtime_status", "active\n");
	check_reading(fixture, 0, SAMPLE_TOTAL, 10);
}

static void test_a_driver_that_is_loaded_again(void **state)
{
	struct fixture *fixture = *state;
	struct raw_reading before, after;

	put_card(fixture, "card0", INTEL, "xe");
	put(fixture, INTEL, "hwmon/hwmon1/energy1_input", "700\n");
	open_meter(fixture);
	assert_int_equal(drm_meter.read_raw(fixture->meter, 0, &before), 0);
	tree_drop(&fixture->tree, "../../devices/pci0000:00/" INTEL "/hwmon/hwmon1");
	assert_int_equal(drm_meter.read_raw(fixture->meter, 0, &after), -ENOENT);
	assert_int_equal(drm_meter.rescan(fixture->meter), 0);
	assert_int_equal(drm_meter.read_raw(fixture->meter, 0, &after), -ENODEV);
	put(fixture, INTEL, "hwmon/hwmon9/energy1_input", "900\n");
	assert_int_equal(drm_meter.rescan(fixture->meter), 0);
	assert_int_equal(drm_meter.zone_count(fixture->meter), 1);
	assert_int_equal(drm_meter.read_raw(fixture->meter, 0, &after), 0);
	assert_int_equal(after.value, 900);
	assert_int_not_equal(after.generation, before.generation);
	put(fixture, INTEL, "hwmon/hwmon9/energy1_input", "no number\n");
	assert_int_equal(drm_meter.read_raw(fixture->meter, 0, &after), -EINVAL);
}

static void test_more_boards_than_there_are_rows(void **state)
{
	struct fixture *fixture = *state;

	for (unsigned i = 0; i <= DEVICES_DRM; i++) {
		char card[16], address[16];

		(void)snprintf(card, sizeof(card), "card%u", i);
		(void)snprintf(address, sizeof(address), "0000:%02x:00.0", i);
		put_card(fixture, card, address, "xe");
		put(fixture, address, "hwmon/hwmon1/energy1_input", "10\n");
	}
	open_meter(fixture);
	assert_int_equal(drm_meter.zone_count(fixture->meter), DEVICES_DRM);
	assert_int_equal(drm_meter.ignored(fixture->meter), 1);
}

static void put_node(const struct fixture *fixture, const char *node, const char *address)
{
	char path[256], target[256];

	(void)snprintf(path, sizeof(path), "../drm/%s/dev", node);
	hwmon_put(&fixture->tree, path, "");
	(void)snprintf(path, sizeof(path), "class/drm/%s/device", node);
	(void)snprintf(target, sizeof(target), "../../../devices/pci0000:00/%s", address);
	link_to(fixture, path, target);
}

static uint64_t time_of(const struct fixture *fixture, uint32_t pid)
{
	size_t count;
	const struct device_use *uses = drm_meter.uses(fixture->meter, 0, &count);
	uint64_t busy_ns = 0;

	for (size_t i = 0; i < count; i++) {
		assert_int_equal(uses[i].device, DEVICES_NVML);
		busy_ns += uses[i].pid == pid ? uses[i].busy_ns : 0;
	}
	return busy_ns;
}

static void open_again(struct fixture *fixture, struct fake_device_files *fake)
{
	drm_meter.close(fixture->meter);
	open_with_options(fixture, &drm_meter,
			  (struct meter_options){ .device_files = &fake->files });
}

static void open_with_users(struct fixture *fixture, struct fake_device_files *fake)
{
	fake_files_init(fake);
	put_card(fixture, "card1", AMD, "amdgpu");
	put_node(fixture, "renderD129", AMD);
	put(fixture, AMD, "hwmon/hwmon5/power1_cap", "300000000\n");
	put(fixture, AMD, "hwmon/hwmon5/power1_input", "21000000\n");
	open_again(fixture, fake);
}

/* Also of one whose sensor fails, but of none that sleeps, which its driver would wake. */
static void test_what_used_a_board_comes_with_its_energy(void **state)
{
	struct fixture *fixture = *state;
	static struct fake_device_files fake; /* it outlives the test: the meter closes later */
	struct raw_reading raw;

	open_with_users(fixture, &fake);
	fake_client(&fake, 10, 5, 129, AMD, 1, 100);
	fake_client(&fake, 11, 5, 1, AMD, 2, 100);
	check_reading(fixture, 0, SAMPLE_POWER, 21000000);
	fake_client(&fake, 10, 5, 129, AMD, 1, 300);
	fake_client(&fake, 11, 5, 1, AMD, 2, 400);
	check_reading(fixture, 0, SAMPLE_POWER, 21000000);
	assert_int_equal(time_of(fixture, 10), 200 * NSEC_PER_MSEC);
	assert_int_equal(time_of(fixture, 11), 300 * NSEC_PER_MSEC);
	put(fixture, AMD, "hwmon/hwmon5/power1_input", "no number\n");
	fake_client(&fake, 10, 5, 129, AMD, 1, 350);
	assert_int_equal(drm_meter.read_raw(fixture->meter, 0, &raw), -EINVAL);
	assert_int_equal(time_of(fixture, 10), 50 * NSEC_PER_MSEC);
	put(fixture, AMD, "power/runtime_status", "suspended\n");
	fake_client(&fake, 10, 5, 129, AMD, 1, 450);
	assert_int_equal(drm_meter.read_raw(fixture->meter, 0, &raw), -EAGAIN);
	assert_int_equal(time_of(fixture, 10), 0);
	fake_files_release(&fake);
}

static void test_kfd_work_belongs_to_no_process(void **state)
{
	struct fixture *fixture = *state;
	static struct fake_device_files fake; /* it outlives the test: the meter closes later */

	open_with_users(fixture, &fake);
	put(fixture, AMD, "gpu_busy_percent", "100\n");
	check_reading(fixture, 0, SAMPLE_POWER, 21000000);
	check_reading(fixture, 0, SAMPLE_POWER, 21000000);
	assert_int_equal(time_of(fixture, 0), 0); /* without KFD it is what is in fdinfo */
	hwmon_put(&fixture->tree, "../kfd/kfd/proc/4711/pasid", "1\n");
	check_reading(fixture, 0, SAMPLE_POWER, 21000000);
	assert_int_not_equal(time_of(fixture, 0), 0);
	fake_files_release(&fake);
}

static void check_remark(const struct fixture *fixture, const char *what, const char *option)
{
	struct meter_remark remark;
	struct raw_reading raw;

	(void)drm_meter.read_raw(fixture->meter, 0, &raw);
	assert_int_equal(drm_meter.remark(fixture->meter, 0, &remark), what != NULL);
	assert_false(drm_meter.remark(fixture->meter, 1, &remark));
	if (!what)
		return;
	(void)drm_meter.remark(fixture->meter, 0, &remark);
	assert_non_null(strstr(remark.what, what));
	assert_non_null(strstr(remark.option, option));
}

static void test_unknown_users_are_reported(void **state)
{
	struct fixture *fixture = *state;
	static struct fake_device_files fake; /* it outlives the test: the meter closes later */

	open_with_users(fixture, &fake);
	check_remark(fixture, NULL, "");
	drm_meter.close(fixture->meter);
	open_meter(fixture);
	check_remark(fixture, "pid namespace of its own", "");
	fake_text(&fake, 11, 5, 129, "pos:\t0\n");
	fake_denied(&fake, 10, 5, 129);
	open_again(fixture, &fake);
	check_remark(fixture, "CAP_SYS_PTRACE", "unread: 1 device files");
	fake.count = 1;
	fake.also.beyond = 7;
	open_again(fixture, &fake);
	check_remark(fixture, "than are read", "more than 64 of them");
	fake.error = -EPIPE;
	open_again(fixture, &fake);
	check_remark(fixture, "Broken pipe", "");
	fake_files_release(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_another_machine, setup, teardown),
		cmocka_unit_test_setup_teardown(test_amd, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_apu_is_not_a_board, setup, teardown),
		cmocka_unit_test_setup_teardown(test_intel, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_board_asleep_is_not_woken, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_driver_that_is_loaded_again, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_more_boards_than_there_are_rows, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_what_used_a_board_comes_with_its_energy, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_kfd_work_belongs_to_no_process, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_unknown_users_are_reported, setup, teardown),
	};

	return unit_run(tests);
}

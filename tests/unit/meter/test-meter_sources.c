// SPDX-License-Identifier: Apache-2.0
/* Which sources are chosen, and what these need: only the chosen ones count. */
#include "meter/meter_sources.h"

#include "base/diag.h"
#include "service/needs.h"
#include "tests/unit/unit.h"

static bool never(const struct meter_options *options)
{
	(void)options;
	return false;
}

static bool always(const struct meter_options *options)
{
	(void)options;
	return true;
}

/* A name opens what is read only by name; without "auto" nothing else is opened. */
static void names_choose(void **state)
{
	static const struct {
		char list[24];
		bool wanted, by_name, plain; /* is it chosen? */
	} table[] = {
		{ "auto", true, false, true },         { "auto,by-name", true, true, true },
		{ "by-name", false, true, false },     { "by", false, false, false },
		{ "plain,wanted", true, false, true },
	};
	const struct meter_ops wanted = { .name = "wanted", .is_wanted = always };
	const struct meter_ops by_name = { .name = "by-name", .is_wanted = never };
	const struct meter_ops plain = { .name = "plain" };

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		char list[sizeof(table[i].list)];
		const struct meter_options options = { .sources = list };

		memcpy(list, table[i].list, sizeof(list));
		assert_int_equal(meter_is_chosen(&wanted, &options), table[i].wanted);
		assert_int_equal(meter_is_chosen(&by_name, &options), table[i].by_name);
		assert_int_equal(meter_is_chosen(&plain, &options), table[i].plain);
	}
	assert_true(meter_is_chosen(&wanted, &(struct meter_options){ .sources = NULL }));
}

static void unknown_names_are_refused(void **state)
{
	static const char *const bad[] = {
		"", "rapl", "auto,", ",auto", "auto,,hwmon", "auto hwmon"
	};
	struct diag diag;

	assert_int_equal(meter_check_sources("auto", &diag), 0);
	assert_int_equal(meter_check_sources("hwmon,auto,rapl-sysfs", &diag), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(meter_check_sources(bad[i], &diag), -EINVAL);
		assert_non_null(strstr(diag.text, "known meters: auto, rapl-sysfs,"));
	}
}

static void each_source_states_its_options_and_devices_in_full(void **state)
{
	size_t sources = 0, options = 0;

	for (; meter_sources[sources]; sources++) {
		const struct meter_ops *ops = meter_sources[sources];
		const struct option_section *section = meter_options_at(sources);

		assert_ptr_equal(section, &ops->options);
		for (size_t i = 0; i < section->count; i++)
			assert_memory_equal(section->options[i].name, "meter.", 6);
		assert_int_equal(section->count > 0, section->options != NULL);
		options += section->count;
		for (size_t d = 0; d < METER_DEVICES_MAX; d++)
			assert_true(ops->devices[d].unit || !ops->devices[d].written);
	}
	assert_null(meter_options_at(sources));
	assert_in_range(sources, 12, METERS_MAX);
	assert_true(options > sources);
}

static unsigned needs_of(const char *sources)
{
	char list[40];
	const struct meter_options options = { .sysfs = "/nowhere", .sources = list };

	(void)snprintf(list, sizeof(list), "%s", sources);
	return meter_needs(&options);
}

static void only_chosen_sources_have_needs(void **state)
{
	assert_int_equal(needs_of("rapl-sysfs"), NEED_READ_ENERGY);
	assert_int_equal(needs_of("auto"), NEED_READ_ENERGY);
	assert_int_equal(needs_of("rapl-msr,ipmi"), NEED_READ_ENERGY | NEED_MSR | NEED_IPMI);
	assert_int_equal(needs_of("redfish"), NEED_READ_ENERGY | NEED_CLIENTS);
	assert_int_equal(needs_of("drm"), NEED_READ_ENERGY); /* without a board */
}

static void expect_written(const char *sources, const char *first, const char *second)
{
	char list[40];
	const struct meter_options options = { .sysfs = "/nowhere", .sources = list };
	const char *const expected[] = { first, second };
	const struct meter_device *device;
	size_t count = 0;

	(void)snprintf(list, sizeof(list), "%s", sources);
	for (size_t i = 0; (device = meter_device_at(&options, i)); i++) {
		if (!device->written)
			continue;
		assert_in_range(count, 0, ARRAY_SIZE(expected) - 1);
		assert_string_equal(device->written, expected[count++]);
	}
	assert_int_equal(count, (first != NULL) + (second != NULL));
}

/* Another vendor's accelerator is not Kepler's to write to. */
static void only_devices_of_chosen_sources_are_written(void **state)
{
	expect_written("auto", NULL, NULL);
	expect_written("rapl-sysfs,ipmi", NULL, NULL);
	expect_written("nvml", "/dev/nvidia", NULL);
	expect_written("hlml", "/dev/accel/", "/dev/hl");
}

struct seen {
	const char *paths[4];
	size_t count;
};

static void see(void *userdata, const char *path)
{
	struct seen *seen = userdata;

	if (path && path[0])
		seen->paths[seen->count++] = path;
}

static void only_chosen_sources_open_files(void **state)
{
	char external[] = "/root/plug", credentials[] = "/root/bmc", by_name[] = "external";
	struct meter_options options = { .sysfs = "/nowhere",
					 .external = { { external }, 1 },
					 .redfish.credentials = credentials };
	struct seen all = { 0 }, one = { 0 };

	meter_files(&options, see, &all);
	assert_int_equal(all.count, 2);
	assert_ptr_equal(all.paths[0], external);
	assert_ptr_equal(all.paths[1], credentials);
	options.sources = by_name;
	meter_files(&options, see, &one);
	assert_int_equal(one.count, 1);
	assert_ptr_equal(one.paths[0], external);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_choose),
		cmocka_unit_test(unknown_names_are_refused),
		cmocka_unit_test(each_source_states_its_options_and_devices_in_full),
		cmocka_unit_test(only_chosen_sources_have_needs),
		cmocka_unit_test(only_devices_of_chosen_sources_are_written),
		cmocka_unit_test(only_chosen_sources_open_files),
	};

	return unit_run(tests);
}

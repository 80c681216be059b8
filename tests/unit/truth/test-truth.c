// SPDX-License-Identifier: Apache-2.0
#include "truth/truth.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/rig/remove_tree.h"
#include "tests/unit/unit.h"

static char root[] = "/tmp/kepler-truth-XXXXXX";

static void write_text(const char *path, const char *text)
{
	char full[256];

	(void)snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *slash = full + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		(void)mkdir(full, 0755);
		*slash = '/';
	}
	FILE *file = fopen(full, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int make_root(void **state)
{
	(void)snprintf(root, sizeof(root), "/tmp/kepler-truth-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	remove_tree(root);
	return 0;
}

static void write_package(unsigned index, const char *name, const char *energy_uj)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "class/powercap/intel-rapl:%u/name", index);
	write_text(path, name);
	(void)snprintf(path, sizeof(path), "class/powercap/intel-rapl:%u/energy_uj", index);
	write_text(path, energy_uj);
	(void)snprintf(path, sizeof(path), "class/powercap/intel-rapl:%u/max_energy_range_uj",
		       index);
	write_text(path, "9999999\n");
}

static void open_truth(enum truth_source source, struct truth *ret)
{
	char file[256];
	(void)snprintf(file, sizeof(file), "%s/pdu", root);
	const struct truth_options options = { source, root, file };
	struct diag diag = { "" };

	assert_int_equal(truth_open(&options, ret, &diag), 0);
}

/* Two sockets are one zone; a counter wraps; a meter that fails for a while loses nothing. */
static void counters_are_summed(void **state)
{
	CLEANUP(truth_close) struct truth truth;

	write_package(0, "package-0\n", "9000000\n");
	write_package(1, "package-1\n", "1000000\n");
	write_text("class/powercap/intel-rapl-mmio:0/name", "package-0\n");
	write_text("class/powercap/intel-rapl-mmio:0/energy_uj", "5\n");
	open_truth(TRUTH_AUTO, &truth);
	assert_int_equal(truth.source, TRUTH_RAPL_SYSFS);
	assert_int_equal(truth.meter_count, 2);
	assert_int_equal(truth.zone_count, 1);
	assert_int_equal(truth_read(&truth, 100), 0);
	write_package(0, "package-0\n", "1000000\n"); /* +2 J: it has wrapped */
	write_package(1, "package-1\n", "4000000\n");
	assert_int_equal(truth_read(&truth, 101), 0);
	write_package(1, "package-1\n", "");
	assert_int_equal(truth_read(&truth, 102), 0);
	write_package(1, "package-1\n", "6000000\n");
	assert_int_equal(truth_read(&truth, 103), 0);
	series_finish(truth.zones[0].series);
	assert_true(fabs(series_amount(truth.zones[0].series, 100, 101).amount - 5) < 1e-6);
	assert_true(fabs(series_amount(truth.zones[0].series, 101, 103).amount - 2) < 1e-6);
	assert_int_equal(truth.skipped, 1);
	assert_non_null(strstr(truth.failure, "intel-rapl:1/energy_uj"));
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
		assert_int_equal(truth_read(all[i], 10), 0);
	write_text("class/hwmon/hwmon0/power1_average", "40000000\n");
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		assert_int_equal(truth_read(all[i], 12), 0);
		series_finish(all[i]->zones[0].series);
		assert_string_equal(all[i]->zones[0].kind, "platform");
		assert_true(fabs(series_amount(all[i]->zones[0].series, 10, 12).amount -
				 joules[i]) < 1e-6);
	}
}

static void none_is_said(void **state)
{
	CLEANUP(truth_close) struct truth none, missing;
	const struct truth_options options = { TRUTH_RAPL_SYSFS, root, "" };
	struct diag diag = { "" };

	open_truth(TRUTH_AUTO, &none);
	assert_int_equal(none.source, TRUTH_NONE);
	assert_int_equal(truth_open(&options, &missing, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "no meter of rapl-sysfs"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(counters_are_summed, make_root, remove_root),
		cmocka_unit_test_setup_teardown(powers_are_integrated, make_root, remove_root),
		cmocka_unit_test_setup_teardown(none_is_said, make_root, remove_root),
	};
	return unit_run(tests);
}

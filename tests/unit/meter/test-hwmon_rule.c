// SPDX-License-Identifier: Apache-2.0
#include "meter/hwmon/hwmon_rule.h"

#include "tests/unit/unit.h"

static struct hwmon_channel channel_of(const char *chip, const char *device, const char *label,
				       enum hwmon_reading reading, unsigned number)
{
	struct hwmon_channel channel = { .number = number };

	(void)snprintf(channel.chip, sizeof(channel.chip), "%s", chip);
	(void)snprintf(channel.device, sizeof(channel.device), "%s", device);
	(void)snprintf(channel.label, sizeof(channel.label), "%s", label);
	channel.has[reading] = true;
	return channel;
}

/* "package-1", "package-*" where it is numbered in order, "part", "board", … */
static void describe(const struct hwmon_meaning *meaning, char *buf, size_t size)
{
	static const char *const uses[] = { [HWMON_PART] = "part",
					    [HWMON_BOARD] = "board",
					    [HWMON_DEVICES] = "devices",
					    [HWMON_UNKNOWN] = "unknown",
					    [HWMON_UNUSED] = "unused" };

	if (meaning->use != HWMON_COUNTED)
		(void)snprintf(buf, size, "%s", uses[meaning->use]);
	else
		(void)snprintf(buf, size, "%s%s%s", zone_kind_name(meaning->kind),
			       meaning->by_order || meaning->instance[0] ? "-" : "",
			       meaning->by_order ? "*" : meaning->instance);
}

static void check(const struct hwmon_channel *channel, char *const *rules, size_t count,
		  const char *expected)
{
	struct hwmon_meaning meaning = hwmon_meaning_of(channel, rules, count);
	char text[64];

	describe(&meaning, text, sizeof(text));
	if (strcmp(text, expected) != 0)
		fail_msg("%s \"%s\": %s instead of %s", channel->chip, channel->label, text,
			 expected);
	if (meaning.use == HWMON_COUNTED)
		assert_true(channel->has[meaning.reading]);
}

/* The firmware's statement is believed if the text of the meter says nothing more. */
static void test_acpi_meters_of_devices(void **state)
{
	static char rule[] = "power_meter@ACPI000D:01/power1=dram-0";
	char *const rules[] = { rule };
	struct hwmon_channel channel =
		channel_of("power_meter", "ACPI000D:01", "", HWMON_AVERAGE, 1);
	struct hwmon_channel grace =
		channel_of("power_meter", "ACPI000D:02", "Grace Power Socket 1", HWMON_AVERAGE, 1);

	channel.extent = HWMON_OF_MACHINE;
	check(&channel, NULL, 0, "platform");
	channel.extent = grace.extent = HWMON_OF_DEVICES;
	check(&channel, NULL, 0, "devices");
	check(&channel, rules, 1, "dram-0");
	check(&grace, NULL, 0, "package-1");
}

static void test_what_drivers_say(void **state)
{
	static const struct {
		const char *chip, *label;
		enum hwmon_reading reading;
		const char *meaning;
	} known[] = {
		{ "power_meter", "", HWMON_AVERAGE, "platform" },
		{ "power_meter", "Intel(R) Node Manager", HWMON_AVERAGE, "platform" },
		{ "power_meter", "Module Power Socket 0", HWMON_AVERAGE, "psys-0" },
		{ "power_meter", "Grace Power Socket 1", HWMON_AVERAGE, "package-1" },
		{ "power_meter", "CPU Power Socket 1", HWMON_AVERAGE, "core-1" },
		{ "power_meter", "SysIO Power Socket 12", HWMON_AVERAGE, "uncore-12" },
		{ "power_meter", "Vera Power Socket 0", HWMON_AVERAGE, "unknown" },
		{ "power_meter", "Total Power socket 0", HWMON_AVERAGE, "unknown" },
		{ "power_meter", "Grace Power Socket ", HWMON_AVERAGE, "platform" },
		{ "power_meter", "", HWMON_POWER, "unknown" }, /* no driver has it */
		{ "apm_xgene", "CPU power", HWMON_POWER, "package-*" },
		{ "apm_xgene", "IO power", HWMON_POWER, "unknown" },
		{ "amd_energy", "Esocket0", HWMON_ENERGY, "package-0" },
		{ "amd_energy", "Esocket1", HWMON_ENERGY, "package-1" },
		{ "amd_energy", "Ecore063", HWMON_ENERGY, "part" },
		{ "zenergy", "Esocket0", HWMON_ENERGY, "package-0" },
		{ "zenergy", "Ecore005", HWMON_ENERGY, "part" },
		{ "fam15h_power", "", HWMON_POWER, "package-*" },
		{ "amd_hsmp_hwmon", "", HWMON_POWER, "package-*" },
		{ "ibmpowernv", "System", HWMON_POWER, "platform" },
		{ "ibmpowernv", "System", HWMON_ENERGY, "platform" },
		{ "ibmpowernv", "Chip 8", HWMON_ENERGY, "package-8" },
		{ "ibmpowernv", "Chip 8", HWMON_POWER, "package-8" },
		{ "ibmpowernv", "Chip 8 Vdd", HWMON_POWER, "part" },
		{ "ibmpowernv", "Chip 0 Memory", HWMON_POWER, "dram-0" },
		{ "ibmpowernv", "APSS 15", HWMON_ENERGY, "part" },
		{ "occ", "17_system", HWMON_POWER, "platform" },
		{ "occ", "17_proc", HWMON_POWER, "package-*" },
		{ "occ", "17_vdd", HWMON_POWER, "part" },
		{ "ina3221", "VDD_IN", HWMON_PRODUCT, "platform" },
		{ "ina3221", "VDD_CPU_CV", HWMON_PRODUCT, "package-0" },
		{ "ina3221", "VDD_GPU_SOC", HWMON_PRODUCT, "board" },
		{ "ina226", "", HWMON_POWER, "board" },
		{ "ltc4151", "", HWMON_PRODUCT, "board" },
		{ "adm1278", "pin", HWMON_POWER, "board" },
		{ "pmbus", "pout1", HWMON_POWER, "board" },
		{ "nouveau", "", HWMON_POWER, "unknown" },
		/* A number that no zone can have. */
		{ "amd_energy", "Esocket11111111111111111111", HWMON_ENERGY, "unknown" },
		{ "amd_energy", "Esocket00000000000000000001", HWMON_ENERGY, "package-1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		struct hwmon_channel channel =
			channel_of(known[i].chip, "dev", known[i].label, known[i].reading, 1);

		check(&channel, NULL, 0, known[i].meaning);
	}
}

/* Where a channel has both, the mean over some time is read. */
static void test_an_average_takes_precedence_over_a_moment(void **state)
{
	struct hwmon_channel channel = channel_of("fam15h_power", "", "", HWMON_POWER, 1);

	assert_int_equal(hwmon_meaning_of(&channel, NULL, 0).reading, HWMON_POWER);
	channel.has[HWMON_AVERAGE] = true;
	assert_int_equal(hwmon_meaning_of(&channel, NULL, 0).reading, HWMON_AVERAGE);
}

static void test_rules_of_the_user_come_first(void **state)
{
	static char board[] = "ina226@1-0040/power1=platform", other[] = "ina226/power1=dram",
		    label[] = "adm1278/pin=psys-0", off[] = "apm_xgene/CPU power=none",
		    product[] = "ltc4151/in1=package-0001", wrong[] = "ina226";
	char *const rules[] = { wrong, board, other, label, off, product };
	const struct hwmon_channel first = channel_of("ina226", "1-0040", "", HWMON_POWER, 1);
	const struct hwmon_channel second = channel_of("ina226", "1-0041", "", HWMON_POWER, 1);
	const struct hwmon_channel third = channel_of("ina226", "1-0041", "", HWMON_POWER, 2);
	const struct hwmon_channel labelled = channel_of("adm1278", "", "pin", HWMON_AVERAGE, 3);
	const struct hwmon_channel known = channel_of("apm_xgene", "", "CPU power", HWMON_POWER, 1);
	const struct hwmon_channel pair = channel_of("ltc4151", "x", "", HWMON_PRODUCT, 1);

	check(&first, rules, ARRAY_SIZE(rules), "platform");
	check(&second, rules, ARRAY_SIZE(rules), "dram-*");
	check(&third, rules, ARRAY_SIZE(rules), "board");
	check(&labelled, rules, ARRAY_SIZE(rules), "psys-0");
	check(&known, rules, ARRAY_SIZE(rules), "unused");
	check(&pair, rules, ARRAY_SIZE(rules), "package-1");
}

static void test_rules_are_checked(void **state)
{
	static const char *const good[] = { "a/b=none", "a@b/c d=package-0", "a/b=c=dram" };
	static const char *const bad[] = { "",
					   "a",
					   "a=b",
					   "/b=dram",
					   "a/=dram",
					   "a@/b=dram",
					   "@d/b=dram",
					   "a/b=",
					   "a/b=fan",
					   "a/b=gpu-0",
					   "a/b=dram-",
					   "a/b=dram-x",
					   "a/b=dram-1x",
					   "a/b=dram-12345678901234567890" };
	struct diag diag;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_int_equal(hwmon_rule_check(good[i], &diag), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		diag.text[0] = '\0';
		assert_int_equal(hwmon_rule_check(bad[i], &diag), -EINVAL);
		assert_true(diag.text[0]);
	}
}

static void test_files(void **state)
{
	static const struct {
		const char *name;
		int reading; /* -1: none */
		bool is_current;
		unsigned number;
	} files[] = {
		{ "energy1_input", HWMON_ENERGY, false, 1 },
		{ "power12_average", HWMON_AVERAGE, false, 12 },
		{ "power1_input", HWMON_POWER, false, 1 },
		{ "in0_input", HWMON_PRODUCT, false, 0 },
		{ "curr3_input", HWMON_PRODUCT, true, 3 },
		{ "power1_average_interval", -1, false, 0 },
		{ "power_input", -1, false, 0 },
		{ "temp1_input", -1, false, 0 },
		{ "power99999_input", -1, false, 0 },
		{ "", -1, false, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		enum hwmon_reading reading;
		bool is_current;
		unsigned number;

		if (!hwmon_file_parse(files[i].name, &reading, &is_current, &number)) {
			assert_int_equal(files[i].reading, -1);
			continue;
		}
		assert_int_equal((int)reading, files[i].reading);
		assert_int_equal(is_current, files[i].is_current);
		assert_int_equal(number, files[i].number);
	}
}

static void test_keys(void **state)
{
	const struct hwmon_channel with =
		channel_of("power_meter", "ACPI000D:00", "x", HWMON_AVERAGE, 1);
	const struct hwmon_channel without = channel_of("ltc4151", "", "", HWMON_PRODUCT, 2);
	char key[HWMON_KEY_MAX];

	hwmon_channel_key(&with, key);
	assert_string_equal(key, "power_meter@ACPI000D:00/power1");
	hwmon_channel_key(&without, key);
	assert_string_equal(key, "ltc4151/in2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_acpi_meters_of_devices),
		cmocka_unit_test(test_what_drivers_say),
		cmocka_unit_test(test_an_average_takes_precedence_over_a_moment),
		cmocka_unit_test(test_rules_of_the_user_come_first),
		cmocka_unit_test(test_rules_are_checked),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_keys),
	};

	return unit_run(tests);
}

// SPDX-License-Identifier: Apache-2.0
#include "host/host.h"
#include "tests/unit/unit.h"

static void test_known_families(void **state)
{
	static const struct {
		const char *vendor;
		unsigned family, model, stepping;
		const char *name;
		unsigned year;
	} cases[] = {
		{ "GenuineIntel", 6, 85, 4, "Skylake", 2017 },
		{ "GenuineIntel", 6, 85, 7, "Cascade Lake", 2019 },
		{ "GenuineIntel", 6, 85, 11, "Cooper Lake", 2020 },
		{ "GenuineIntel", 6, 143, 8, "Sapphire Rapids", 2023 },
		{ "GenuineIntel", 6, 158, 9, "Kaby Lake", 2017 },
		{ "GenuineIntel", 6, 158, 10, "Coffee Lake", 2018 },
		{ "AuthenticAMD", 23, 1, 2, "Zen", 2017 },
		{ "AuthenticAMD", 23, 49, 0, "Zen 2", 2019 },
		{ "AuthenticAMD", 25, 1, 1, "Zen 3", 2021 },
		{ "AuthenticAMD", 25, 17, 1, "Zen 4", 2022 },
		{ "AuthenticAMD", 25, 160, 2, "Zen 4c", 2023 },
		{ "AuthenticAMD", 26, 2, 1, "Zen 5", 2024 },
		{ "HygonGenuine", 24, 1, 1, "Zen", 2018 },
		{ "ARM", 0x41, 0xd0c, 3, "Neoverse N1", 2020 },
		{ "Ampere", 0xc0, 0xac3, 0, "AmpereOne", 2023 },
		{ "Microsoft", 0x6d, 0xd49, 0, "Neoverse N2", 2022 },
		{ "HiSilicon", 0x48, 0xd01, 0, "TaiShan v110", 2019 },
		{ "GenuineIntel", 6, 0xc6, 2, "Arrow Lake", 2024 },
		{ "GenuineIntel", 6, 0xbd, 1, "Lunar Lake", 2024 },
		{ "GenuineIntel", 6, 0xcc, 1, "Panther Lake", 2025 },
		{ "GenuineIntel", 6, 0xdd, 0, "Clearwater Forest", 2026 },
		{ "GenuineIntel", 0x13, 1, 0, "Diamond Rapids", 2026 },
		{ "AuthenticAMD", 26, 0x50, 0, "Zen 5", 2024 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *name = NULL;
		unsigned year = 0;

		assert_true(host_microarchitecture(cases[i].vendor, cases[i].family, cases[i].model,
						   cases[i].stepping, &name, &year));
		assert_string_equal(name, cases[i].name);
		assert_int_equal(year, cases[i].year);
	}
}

/* An unknown new server is treated as a new one, not as one of 2013. */
static void test_newer_than_the_table_is_as_its_newest(void **state)
{
	static const struct {
		const char *vendor;
		unsigned family, model, year;
	} cases[] = {
		{ "GenuineIntel", 6, 0xe0, 2026 },  { "GenuineIntel", 0x13, 0x20, 2026 },
		{ "GenuineIntel", 0x14, 0, 2026 },  { "AuthenticAMD", 27, 0x10, 2024 },
		{ "HygonGenuine", 24, 0x20, 2024 }, { "ARM", 0x41, 0xd90, 2024 },
		{ "Ampere", 0xc0, 0xac9, 2024 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *name = NULL;
		unsigned year = 0;

		assert_true(host_microarchitecture(cases[i].vendor, cases[i].family, cases[i].model,
						   0, &name, &year));
		assert_string_equal(name, "unknown");
		assert_int_equal(year, cases[i].year);
	}
}

static void test_unknown_leaves_results_alone(void **state)
{
	const char *name = "before";
	unsigned year = 7;

	assert_false(host_microarchitecture("GenuineIntel", 6, 1, 0, &name, &year));
	assert_false(host_microarchitecture("AuthenticAMD", 22, 0, 0, &name, &year));
	assert_false(host_microarchitecture("", 0, 0, 0, &name, &year));
	assert_false(host_microarchitecture("Apple", 0x61, 0x022, 0, &name, &year));
	assert_false(host_microarchitecture("ARM", 0x41, 0xd04, 0, &name, &year));
	assert_string_equal(name, "before");
	assert_int_equal(year, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_families),
		cmocka_unit_test(test_newer_than_the_table_is_as_its_newest),
		cmocka_unit_test(test_unknown_leaves_results_alone),
	};

	return unit_run(tests);
}

// SPDX-License-Identifier: Apache-2.0
/* Rules that the table of design powers keeps, so that a slip of the pen in it is noticed. */
#include "model/processor/cpu_tdp.h"

#include "model/processor/cpu_name.h"
#include "tests/unit/unit.h"

static const char *const series[] = { "xeon", "core", "opteron", "epyc", "altra", "atom" };

static const char *model_of(const char *key, const char **ret_series)
{
	for (size_t i = 0; i < ARRAY_SIZE(series); i++) {
		if (strncmp(key, series[i], strlen(series[i])) == 0) {
			*ret_series = series[i];
			return key + strlen(series[i]);
		}
	}
	fail_msg("%s is of no series", key);
	return key;
}

static void test_keys_are_in_order_and_once(void **state)
{
	for (size_t i = 1; i < cpu_tdp_count; i++) {
		if (strcmp(cpu_tdps[i - 1].key, cpu_tdps[i].key) >= 0)
			fail_msg("%s is not before %s", cpu_tdps[i - 1].key, cpu_tdps[i].key);
	}
}

/* A name gives its key, the power of the table, and for servers a year. */
static void test_each_key_is_found_by_a_name(void **state)
{
	for (size_t i = 0; i < cpu_tdp_count; i++) {
		const char *line = "", *model = model_of(cpu_tdps[i].key, &line);
		struct cpu_name name;
		char text[64];

		(void)snprintf(text, sizeof(text), "%s %s %s",
			       strcmp(line, "core") == 0 ? "intel" : "", line, model);
		cpu_name_read(text, &name);
		assert_string_equal(name.key, cpu_tdps[i].key);
		assert_int_equal(name.tdp_w, cpu_tdps[i].watts);
		if (!name.desktop && name.year == 0)
			fail_msg("%s has no year", name.key);
	}
}

/* Least and most watts of series, among the sold processors. */
static void test_powers_come_from_their_series(void **state)
{
	static const struct {
		const char *prefix;
		unsigned least, most;
	} ranges[] = {
		{ "altra", 45, 250 },   { "atom", 5, 35 },     { "core", 25, 95 },
		{ "epyc7", 120, 280 },  { "epyc8", 70, 225 },  { "epyc9", 155, 500 },
		{ "opteron", 35, 140 }, { "xeone2", 65, 95 },  { "xeone3", 13, 95 },
		{ "xeone5", 50, 160 },  { "xeone7", 80, 165 }, { "xeond", 20, 130 },
		{ "xeonl", 30, 105 },   { "xeonw", 130, 130 }, { "xeonx", 80, 150 },
		{ "xeon", 40, 400 },
	};

	for (size_t i = 0; i < cpu_tdp_count; i++) {
		size_t k = 0;

		while (k < ARRAY_SIZE(ranges) &&
		       strncmp(cpu_tdps[i].key, ranges[k].prefix, strlen(ranges[k].prefix)) != 0)
			k++;
		assert_true(k < ARRAY_SIZE(ranges));
		if (cpu_tdps[i].watts < ranges[k].least || cpu_tdps[i].watts > ranges[k].most)
			fail_msg("%s has %u W", cpu_tdps[i].key, cpu_tdps[i].watts);
	}
}

/* 0: the table has no such model. */
static unsigned watts_of(const char *stem, const char *variant)
{
	char key[CPU_KEY_MAX];

	(void)snprintf(key, sizeof(key), "%s%s", stem, variant);
	for (size_t i = 0; i < cpu_tdp_count; i++) {
		if (strcmp(cpu_tdps[i].key, key) == 0)
			return cpu_tdps[i].watts;
	}
	return 0;
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text);

	return len > strlen(end) && strcmp(text + len - strlen(end), end) == 0;
}

/* Variants that are sold for their low power draw no more; those of one socket the same. */
static void test_variants_are_in_order(void **state)
{
	for (size_t i = 0; i < cpu_tdp_count; i++) {
		const char *key = cpu_tdps[i].key;
		unsigned he = watts_of(key, "he"), ee = watts_of(key, "ee");
		unsigned se = watts_of(key, "se"), low = watts_of(key, "l");
		unsigned single = watts_of(key, "p"), watts = cpu_tdps[i].watts;

		if (strncmp(key, "opteron", 7) == 0) {
			assert_true(he < watts && ee < watts && (!se || se > watts));
			assert_true(!ends_with(key, "ee") || watts <= 60);
		} else if (strncmp(key, "xeone", 5) == 0) {
			assert_true(low < watts);
		} else if (strncmp(key, "epyc7", 5) == 0 || strncmp(key, "epyc9", 5) == 0) {
			assert_true(!single || single == watts);
		}
	}
}

/* AMD has each of Barcelona's and Shanghai's bands at one power. */
static void test_bands_of_the_first_quad_cores(void **state)
{
	for (size_t i = 0; i < cpu_tdp_count; i++) {
		const char *key = cpu_tdps[i].key;
		unsigned band = ends_with(key, "ee")   ? 60
				: ends_with(key, "he") ? 79
				: ends_with(key, "se") ? 137
						       : 115;

		if (strncmp(key, "opteron23", 9) == 0 || strncmp(key, "opteron83", 9) == 0)
			assert_int_equal(cpu_tdps[i].watts, band);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_are_in_order_and_once),
		cmocka_unit_test(test_each_key_is_found_by_a_name),
		cmocka_unit_test(test_powers_come_from_their_series),
		cmocka_unit_test(test_variants_are_in_order),
		cmocka_unit_test(test_bands_of_the_first_quad_cores),
	};

	return unit_run(tests);
}

// SPDX-License-Identifier: Apache-2.0
#include "model/processor/cpu_name.h"

#include "model/processor/cpu_tdp.h"
#include "tests/unit/unit.h"

static void test_key_segment_and_power_of_names(void **state)
{
	static const struct {
		const char *name, *key;
		enum cpu_segment segment;
		unsigned tdp_w;
		bool low_power;
	} cases[] = {
		{ "Intel(R) Xeon(R) CPU E5-2660 v2 @ 2.20GHz", "xeone52660v2", CPU_SEGMENT_OTHER,
		  95, false },
		{ "intel_xeon_e5_2660v2", "xeone52660v2", CPU_SEGMENT_OTHER, 95, false },
		{ "Intel(R) Xeon(R) Platinum 8490H", "xeon8490h", CPU_SEGMENT_OTHER, 350, false },
		{ "intel_xeon_8592+", "xeon8592+", CPU_SEGMENT_OTHER, 350, false },
		{ "Intel(R) Xeon(R) Platinum 8380HL CPU @ 2.90GHz", "xeon8380hl",
		  CPU_SEGMENT_EXPANDED, 250, false },
		{ "Intel(R) Xeon(R) CPU           X7560  @ 2.27GHz", "xeonx7560",
		  CPU_SEGMENT_EXPANDED, 130, false },
		{ "Intel(R) Xeon(R) CPU E7- 8870  @ 2.40GHz", "xeone78870", CPU_SEGMENT_EXPANDED,
		  130, false },
		{ "Intel(R) Xeon(R) CPU E3-1260L v5 @ 2.90GHz", "xeone31260lv5", CPU_SEGMENT_SMALL,
		  45, true },
		{ "Intel(R) Xeon(R) E-2176G CPU @ 3.70GHz", "xeone2176g", CPU_SEGMENT_SMALL, 80,
		  false },
		{ "Intel(R) Core(TM) i3 CPU         540  @ 3.07GHz", "corei3540", CPU_SEGMENT_SMALL,
		  73, false },
		{ "Intel(R) Xeon(R) CPU           E5420  @ 2.50GHz", "xeone5420", CPU_SEGMENT_BUS,
		  80, false },
		{ "Intel(R) Xeon(R) CPU E5-2420 0 @ 1.90GHz", "xeone52420", CPU_SEGMENT_ENTRY, 95,
		  false },
		{ "Intel(R) Atom(TM) CPU  C2758  @ 2.40GHz", "atomc2758", CPU_SEGMENT_OTHER, 20,
		  false },
		{ "AMD EPYC 7763 64-Core Processor", "epyc7763", CPU_SEGMENT_OTHER, 280, false },
		{ "AMD EPYC 8324P 32-Core Processor", "epyc8324p", CPU_SEGMENT_EDGE, 180, false },
		{ "AMD Opteron(tm) Processor 6276", "opteron6276", CPU_SEGMENT_QUAD, 115, false },
		{ "Intel(R) Xeon(R) Gold 6136 CPU @ 3.00GHz", "xeon6136", CPU_SEGMENT_OTHER, 150,
		  false },
		{ "Quad-Core AMD Opteron(tm) Processor 2376 HE", "opteron2376he", CPU_SEGMENT_OTHER,
		  79, true },
		{ "six_core_amd_opteron_8425_he", "opteron8425he", CPU_SEGMENT_EXPANDED, 79, true },
		{ "ampere_altra_max_m128_30", "altram12830", CPU_SEGMENT_OTHER, 250, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cpu_name cpu;

		cpu_name_read(cases[i].name, &cpu);
		assert_string_equal(cpu.key, cases[i].key);
		assert_int_equal(cpu.segment, cases[i].segment);
		assert_int_equal(cpu.tdp_w, cases[i].tdp_w);
		assert_int_equal(cpu.low_power, cases[i].low_power);
		assert_int_equal(cpu.desktop, strncmp(cases[i].key, "xeon", 4) != 0 &&
						      (strncmp(cases[i].key, "core", 4) == 0 ||
						       strncmp(cases[i].key, "atom", 4) == 0));
	}
}

static void test_years_of_families(void **state)
{
	static const struct {
		const char *name;
		unsigned year;
	} cases[] = {
		{ "Intel(R) Xeon(R) CPU E5-2660 v2 @ 2.20GHz", 2013 },
		{ "Intel(R) Xeon(R) CPU E5-2660 0 @ 2.20GHz", 2012 },
		{ "Intel(R) Xeon(R) CPU E3-1260L v5 @ 2.90GHz", 2015 },
		{ "Intel(R) Xeon(R) CPU E7- 8870  @ 2.40GHz", 2010 },
		{ "Intel(R) Xeon(R) CPU E5420 @ 2.50GHz", 2007 },
		{ "Intel(R) Xeon(R) Platinum 8380HL CPU @ 2.90GHz", 2020 },
		{ "Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz", 2021 },
		{ "Intel(R) Xeon(R) Gold 5118 CPU @ 2.30GHz", 2017 },
		{ "Intel(R) Xeon(R) CPU 5130 @ 2.00GHz", 2006 },
		{ "AMD EPYC 9654 96-Core Processor", 2022 },
		{ "AMD EPYC 75F3 32-Core Processor", 2021 },
		{ "AMD Opteron(tm) Processor 6276", 2011 },
		{ "Intel(R) Atom(TM) CPU  C2758  @ 2.40GHz", 0 },
		{ "Intel(R) Xeon(R) Processor @ 2.30GHz", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cpu_name cpu;

		cpu_name_read(cases[i].name, &cpu);
		assert_int_equal(cpu.year, cases[i].year);
	}
}

static void test_cores_of_names(void **state)
{
	static const struct {
		const char *name;
		unsigned cores;
	} cases[] = {
		{ "AMD EPYC 7763 64-Core Processor", 64 },
		{ "AMD EPYC 7B13 64-Core Processor", 64 },
		{ "AMD EPYC 7601 32-Core Processor", 32 },
		{ "Quad-Core AMD Opteron(tm) Processor 2376 HE", 4 },
		{ "six_core_amd_opteron_8425_he", 6 },
		{ "Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz", 24 },
		{ "intel_xeon_8592+", 64 },
		{ "Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz", 18 },
		{ "ampere_altra_q80_30", 80 },
		{ "ampere_altra_max_m128_30", 128 },
		{ "ampere_altra_max_m96_30", 96 },
		{ "AMD EPYC 7R13 Processor", 0 },
		{ "AMD EPYC-Rome Processor", 0 },
		{ "Intel(R) Xeon(R) Processor", 0 },
		{ "Intel(R) Core(TM) i7-8700 CPU @ 3.20GHz", 0 },
		{ "Core 8-Cores", 0 },
		{ "AMD EPYC 7763 1025-Core Processor", 0 },
		{ "AMD EPYC 7763 99999999999999999999-Core", 0 },
		{ "64", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cpu_name cpu;

		cpu_name_read(cases[i].name, &cpu);
		if (cpu.cores != cases[i].cores)
			fail_msg("%s: %u cores", cases[i].name, cpu.cores);
	}
}

static void test_names_without_a_model_say_nothing(void **state)
{
	static const char *const names[] = { "", "Intel(R) Xeon(R) Processor @ 2.30GHz", "((((",
					     "AMD EPYC Processor", "intel_xeon" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct cpu_name cpu;

		cpu_name_read(names[i], &cpu);
		assert_string_equal(cpu.key, "");
		assert_int_equal(cpu.segment, CPU_SEGMENT_OTHER);
		assert_int_equal(cpu.tdp_w, 0);
		assert_false(cpu.low_power);
	}
}

static void test_any_text_is_bounded(void **state)
{
	char name[1000];
	struct cpu_name cpu;

	memset(name, '7', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	cpu_name_read(name, &cpu);
	assert_true(strlen(cpu.key) < sizeof(cpu.key));
	for (size_t i = 0; i + 1 < sizeof(name); i++)
		name[i] = (char)(i % 5 ? (int)(i * 31 % 255) + 1 : ' ');
	cpu_name_read(name, &cpu);
	assert_true(strlen(cpu.key) < sizeof(cpu.key));
}

static void test_each_model_is_in_the_table_once(void **state)
{
	for (size_t i = 0; i < cpu_tdp_count; i++) {
		assert_true(strlen(cpu_tdps[i].key) < CPU_KEY_MAX);
		assert_in_range(cpu_tdps[i].watts, 5, 500);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(cpu_tdps[i].key, cpu_tdps[j].key);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_key_segment_and_power_of_names),
		cmocka_unit_test(test_years_of_families),
		cmocka_unit_test(test_cores_of_names),
		cmocka_unit_test(test_names_without_a_model_say_nothing),
		cmocka_unit_test(test_any_text_is_bounded),
		cmocka_unit_test(test_each_model_is_in_the_table_once),
	};

	return unit_run(tests);
}

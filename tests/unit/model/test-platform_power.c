// SPDX-License-Identifier: Apache-2.0
#include "model/platform_power.h"

#include "platform_power_expected.h"
#include "tests/unit/unit.h"

static const struct power_model *const model = &platform_power_model;

static struct machine_facts server(void)
{
	return (struct machine_facts){
		.vendor = "intel",
		.cores = 56,
		.threads = 112,
		.sockets = 2,
		.year = 2019,
		.frequency_ghz = 2.7,
		.memory_gib = 192,
		.cpu = { .key = "xeon8280", .tdp_w = 205 },
	};
}

static double total_w(const struct machine_facts *facts, double utilisation)
{
	struct power_estimate power;

	power_model_estimate(model, facts, utilisation, &power);
	assert_true(isfinite(power.idle_w) && power.idle_w >= 0);
	assert_true(isfinite(power.dynamic_w) && power.dynamic_w >= 0);
	assert_true(isfinite(power.bound_w) && power.bound_w > 0);
	return power.idle_w + power.dynamic_w;
}

static void test_idle_is_all_at_zero_and_constant(void **state)
{
	struct machine_facts facts = server();
	struct power_estimate at_0, at_1;

	power_model_estimate(model, &facts, 0, &at_0);
	power_model_estimate(model, &facts, 1, &at_1);
	assert_true(at_0.dynamic_w <= 0);
	assert_true(fabs(at_0.idle_w - at_1.idle_w) < 1e-9);
	assert_true(at_1.dynamic_w > at_1.idle_w); /* of a 2019 server */
}

static void test_known_size_of_a_known_class(void **state)
{
	struct machine_facts facts = server();

	(void)state; /* two sockets of 2019: some 50 W idle, 350–500 W full */
	assert_in_range((uintmax_t)total_w(&facts, 0), 35, 90);
	assert_in_range((uintmax_t)total_w(&facts, 1), 300, 550);
}

/* The program applies the weights as the tool that fitted them does. */
static void test_gives_what_the_tool_expects(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(expected_power); i++) {
		struct machine_facts facts = {
			.cores = expected_power[i].cores,
			.sockets = expected_power[i].sockets,
			.year = expected_power[i].year,
			.frequency_ghz = expected_power[i].frequency_ghz,
			.memory_gib = expected_power[i].memory_gib,
		};

		(void)snprintf(facts.vendor, sizeof(facts.vendor), "%s", expected_power[i].vendor);
		cpu_name_read(expected_power[i].cpu, &facts.cpu);
		assert_true(fabs(total_w(&facts, 0) / expected_power[i].idle_w - 1) < 0.005);
		assert_true(fabs(total_w(&facts, 1.0 / 3) / expected_power[i].third_w - 1) < 0.005);
		assert_true(fabs(total_w(&facts, 1) / expected_power[i].full_w - 1) < 0.005);
	}
}

static struct power_estimate full_load(const struct machine_facts *facts)
{
	struct power_estimate power;

	power_model_estimate(model, facts, 1, &power);
	return power;
}

static double full_bound_ratio(const struct machine_facts *facts)
{
	struct power_estimate power = full_load(facts);

	return power.bound_w / (power.idle_w + power.dynamic_w);
}

static void test_bound_grows_with_unknown_facts(void **state)
{
	struct machine_facts known = server(), new_cpu = server(), new_generation = server(),
			     unnamed = server(), of_any_frequency = server();

	(void)snprintf(new_cpu.cpu.key, sizeof(new_cpu.cpu.key), "xeon9999");
	(void)snprintf(new_generation.vendor, sizeof(new_generation.vendor), "amd");
	(void)snprintf(new_generation.cpu.key, sizeof(new_generation.cpu.key), "epyc9999");
	new_generation.year = 2020; /* without a generation of AMD's */
	assert_false(full_load(&known).outside);
	assert_false(full_load(&new_cpu).outside);
	assert_false(full_load(&new_generation).outside);
	assert_true(full_bound_ratio(&known) < full_bound_ratio(&new_cpu));
	assert_true(full_bound_ratio(&new_cpu) < full_bound_ratio(&new_generation));
	unnamed.cpu = (struct cpu_name){ 0 };
	assert_true(full_bound_ratio(&new_generation) < full_bound_ratio(&unnamed));
	assert_true(full_bound_ratio(&unnamed) < 0.5);
	of_any_frequency.frequency_ghz = 0;
	assert_true(full_bound_ratio(&of_any_frequency) >= full_bound_ratio(&unnamed) - 1e-9);
}

static void test_facts_beyond_the_population_are_outside(void **state)
{
	struct machine_facts facts[9], inside = server();

	for (size_t i = 0; i < ARRAY_SIZE(facts); i++)
		facts[i] = server();
	facts[0].sockets = 24; /* a chassis of small nodes, counted as one machine */
	facts[0].cores = 24;
	facts[1].year = 2026;
	facts[2].memory_gib = 1;
	facts[3].frequency_ghz = 6;
	facts[4].cpu.tdp_w = 1000;
	facts[5].vendor[0] = 'x';
	facts[6].cores = 2000;
	facts[7].year = 2007; /* each fact is known, but not of one machine */
	facts[8].cpu.desktop = true;
	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		assert_true(full_load(&facts[i]).outside);
		assert_true(full_bound_ratio(&facts[i]) > 2 * full_bound_ratio(&inside));
	}
}

/* A chassis of two dozen nodes of 5 W a socket is not taken for a server of eight sockets. */
static void test_power_is_limited_by_the_design_power(void **state)
{
	struct machine_facts facts = server();

	facts.sockets = 8;
	facts.cores = 480;
	facts.memory_gib = 2048;
	facts.cpu = (struct cpu_name){ .tdp_w = 5 };
	assert_true(total_w(&facts, 1) <=
		    model->weights->limits[POWER_LIMIT_CLASSES - 1].full.most * 5 * 8 * 1.0001);
	assert_true(full_load(&facts).outside);
}

/* Two dozen nodes of one Atom each, counted as one machine: limited, outside, and hardly known. */
static void test_a_chassis_of_small_nodes_is_outside(void **state)
{
	struct machine_facts facts = { .vendor = "intel",
				       .cores = 48,
				       .threads = 96,
				       .sockets = 24,
				       .frequency_ghz = 2.0,
				       .memory_gib = 192 };
	struct power_estimate power;

	cpu_name_read("Intel(R) Atom(TM) CPU S1260 @ 2.00GHz", &facts.cpu);
	power_model_estimate(model, &facts, 1, &power);
	assert_true(power.outside);
	assert_true(power.idle_w + power.dynamic_w < 200);
	assert_true(full_bound_ratio(&facts) > 0.6);
	power_model_estimate(model, &facts, 0, &power);
	assert_true(power.bound_w > 0.9 * power.idle_w);
}

static void test_unknown_design_power_is_guessed(void **state)
{
	struct machine_facts facts = server();

	facts.cpu = (struct cpu_name){ 0 };
	power_model_complete_facts(model, &facts, &facts);
	assert_in_range(facts.cpu.tdp_w, 150, 260); /* 205 W */
}

static void test_never_falls_with_utilisation(void **state)
{
	static const char *const vendors[] = { "intel", "amd", "arm", "", "other" };

	for (size_t v = 0; v < ARRAY_SIZE(vendors); v++) {
		for (unsigned year = 2000; year <= 2040; year += 1) {
			struct machine_facts facts = server();
			double before = 0;

			facts.year = year;
			(void)snprintf(facts.vendor, sizeof(facts.vendor), "%s", vendors[v]);
			/* Between levels, which are a tenth apart, it is a line. */
			for (unsigned step = 0; step <= 100; step++) {
				double now = total_w(&facts, step / 100.0);

				assert_true(now >= before);
				before = now;
			}
		}
	}
}

static void test_sane_from_1_to_512_cores(void **state)
{
	double before = 0;

	for (unsigned cores = 1; cores <= 512; cores++) {
		struct machine_facts facts = { .vendor = "amd", .cores = cores, .year = 2022 };
		double full = total_w(&facts, 1);

		assert_true(full >= 15 && full <= 5000);
		assert_true(full >= before); /* more cores never draw less */
		before = full;
	}
}

/* Arm's machines of the population have 64 cores and more: an extrapolation to few was flat. */
static void test_work_is_never_free(void **state)
{
	static const char *const vendors[] = { "intel", "amd", "arm", "other" };

	for (size_t v = 0; v < ARRAY_SIZE(vendors); v++) {
		for (unsigned at = 0; at < 20 * 13; at++) {
			struct machine_facts facts = { .cores = 1U << at % 13,
						       .year = 2006 + at / 13 };
			struct power_estimate power;

			(void)snprintf(facts.vendor, sizeof(facts.vendor), "%s", vendors[v]);
			power_model_estimate(model, &facts, 1, &power);
			assert_true(power.dynamic_w > 0.2 * power.idle_w);
			assert_true(power.dynamic_bound_w > 0);
			power_model_estimate(model, &facts, 0.5, &power);
			assert_true(power.dynamic_w > 0.05 * power.idle_w);
		}
	}
}

static void test_absurd_facts_and_utilisations_are_bounded(void **state)
{
	static const double utilisations[] = {
		-1, 2, (double)NAN, (double)INFINITY, -(double)INFINITY, 1e300
	};
	struct machine_facts facts = { "x",        UINT32_MAX, UINT32_MAX, UINT32_MAX,
				       UINT32_MAX, 1e9,        1e18 };
	struct machine_facts broken = { .frequency_ghz = (double)NAN,
					.memory_gib = -(double)INFINITY };

	for (size_t i = 0; i < ARRAY_SIZE(utilisations); i++) {
		assert_true(total_w(&facts, utilisations[i]) < 20000);
		assert_true(total_w(&broken, utilisations[i]) < 20000);
	}
	assert_true(fabs(total_w(&broken, (double)NAN) - total_w(&broken, 0)) < 1e-9);
	assert_true(fabs(total_w(&broken, 7) - total_w(&broken, 1)) < 1e-9);
}

static void test_unknown_facts_become_typical(void **state)
{
	struct machine_facts facts = { 0 }, full;

	power_model_complete_facts(model, &facts, &full);
	assert_in_range(full.year, 2009, 2017); /* the population's middle */
	assert_true(full.cores > 0 && full.sockets > 0 && full.threads == 2 * full.cores);
	assert_true(full.memory_gib > 0 && full.frequency_ghz > 1);
}

static void test_unknown_year_comes_from_the_name(void **state)
{
	struct machine_facts facts = { .vendor = "amd", .cores = 64 };

	cpu_name_read("AMD EPYC 7763 64-Core Processor", &facts.cpu);
	power_model_complete_facts(model, &facts, &facts);
	assert_int_equal(facts.year, 2021);
}

static void test_known_facts_are_kept(void **state)
{
	struct machine_facts facts = server(), full;

	power_model_complete_facts(model, &facts, &full);
	assert_memory_equal(&facts, &full, sizeof(facts));
}

static void test_threads_alone_give_cores_and_sockets(void **state)
{
	struct machine_facts x86 = { .vendor = "amd", .threads = 384, .year = 2023 };
	struct machine_facts arm = { .vendor = "arm", .threads = 80, .year = 2020 };

	power_model_complete_facts(model, &x86, &x86);
	assert_int_equal(x86.cores, 192);
	assert_true(x86.sockets >= 2);
	power_model_complete_facts(model, &arm, &arm);
	assert_int_equal(arm.cores, 80);
}

/* A host of one socket with many cores is not taken for two. */
static void test_cores_of_the_name_give_sockets(void **state)
{
	static const struct {
		const char *name;
		unsigned threads, cores, sockets;
	} cases[] = {
		{ "AMD EPYC 7763 64-Core Processor", 128, 64, 1 },
		{ "AMD EPYC 7763 64-Core Processor", 256, 128, 2 },
		{ "Intel(R) Xeon(R) Platinum 8490H", 120, 60, 1 },
		{ "Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz", 96, 48, 2 },
		{ "Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz", 8, 4, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct machine_facts facts = { .threads = cases[i].threads }, typical = { 0 };

		cpu_name_read(cases[i].name, &facts.cpu);
		typical.cpu = facts.cpu;
		power_model_complete_facts(model, &facts, &facts);
		assert_int_equal(facts.cores, cases[i].cores);
		assert_int_equal(facts.sockets, cases[i].sockets);
		power_model_complete_facts(model, &typical, &typical);
		assert_int_equal(typical.cores, typical.sockets * facts.cpu.cores);
	}
}

static void test_model_says_how_good_it_is(void **state)
{
	assert_non_null(strstr(model->trained_on, "SPECpower"));
	assert_true(model->loo_mape_percent > 0 && model->loo_mape_percent < 25);
	assert_true(model->loo_mae_w > 0 && model->loo_mae_w < 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle_is_all_at_zero_and_constant),
		cmocka_unit_test(test_known_size_of_a_known_class),
		cmocka_unit_test(test_gives_what_the_tool_expects),
		cmocka_unit_test(test_bound_grows_with_unknown_facts),
		cmocka_unit_test(test_facts_beyond_the_population_are_outside),
		cmocka_unit_test(test_power_is_limited_by_the_design_power),
		cmocka_unit_test(test_a_chassis_of_small_nodes_is_outside),
		cmocka_unit_test(test_unknown_design_power_is_guessed),
		cmocka_unit_test(test_never_falls_with_utilisation),
		cmocka_unit_test(test_sane_from_1_to_512_cores),
		cmocka_unit_test(test_work_is_never_free),
		cmocka_unit_test(test_absurd_facts_and_utilisations_are_bounded),
		cmocka_unit_test(test_unknown_facts_become_typical),
		cmocka_unit_test(test_unknown_year_comes_from_the_name),
		cmocka_unit_test(test_known_facts_are_kept),
		cmocka_unit_test(test_threads_alone_give_cores_and_sockets),
		cmocka_unit_test(test_cores_of_the_name_give_sockets),
		cmocka_unit_test(test_model_says_how_good_it_is),
	};

	return unit_run(tests);
}

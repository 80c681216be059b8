// SPDX-License-Identifier: Apache-2.0
#include "model/component_power.h"

#include "tests/unit/unit.h"

#define MACHINES 400

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

static void estimate(const struct machine_facts *facts, double utilisation,
		     struct power_estimate ret[static COMPONENT_COUNT])
{
	component_power_estimate(builtin_component_model.weights, &platform_power_model, facts,
				 utilisation, ret);
}

static double total_w(const struct power_estimate *power)
{
	return power->idle_w + power->dynamic_w;
}

/* Two packages of 205 W: a seventh when idle, and most of it under load; 192 GiB: some 20 W. */
static void test_known_size_of_a_known_server(void **state)
{
	struct machine_facts facts = server();
	struct power_estimate idle[COMPONENT_COUNT], full[COMPONENT_COUNT];

	estimate(&facts, 0, idle);
	estimate(&facts, 1, full);
	assert_in_range((uintmax_t)total_w(&idle[COMPONENT_PACKAGE]), 25, 80);
	assert_in_range((uintmax_t)total_w(&full[COMPONENT_PACKAGE]), 270, 410);
	assert_in_range((uintmax_t)total_w(&idle[COMPONENT_DRAM]), 10, 30);
	assert_in_range((uintmax_t)total_w(&full[COMPONENT_DRAM]), 20, 50);
	assert_false(full[COMPONENT_PACKAGE].outside || full[COMPONENT_DRAM].outside);
	assert_true(idle[COMPONENT_PACKAGE].dynamic_w <= 0);
}

/* Where the platform leaves room, the package is the share of its design power. */
static void test_package_is_a_share_of_the_design_power(void **state)
{
	struct machine_facts facts = server();
	struct power_estimate power[COMPONENT_COUNT], smaller[COMPONENT_COUNT];
	double share = builtin_component_model.weights->share[COMPONENT_PACKAGE][0];

	facts.memory_gib = 768;
	estimate(&facts, 0, power);
	facts.cpu.tdp_w = 150;
	estimate(&facts, 0, smaller);
	assert_true(fabs(power[COMPONENT_PACKAGE].idle_w - share * 2 * 205) < 1e-9);
	assert_true(fabs(smaller[COMPONENT_PACKAGE].idle_w - share * 2 * 150) < 1e-9);
}

static uint64_t seed = 1;

static double draw(void)
{
	seed = seed * 6364136223846793005U + 1442695040888963407U;
	return (double)(seed >> 11) / 9007199254740992.0;
}

static double draw_log(double least, double most)
{
	return least * pow(most / least, draw());
}

/* A machine that exists, or might, or could not; a tenth of all facts is unknown. */
static struct machine_facts draw_machine(void)
{
	static const char *const vendors[] = { "intel", "amd", "arm", "", "ibm" };
	struct machine_facts facts = {
		.cores = (unsigned)draw_log(1, 1024),
		.sockets = (unsigned)draw_log(1, 16),
		.year = 2000 + (unsigned)(draw() * 30),
		.frequency_ghz = draw_log(0.5, 6),
		.memory_gib = draw_log(0.1, 30000),
		.cpu = { .tdp_w = (unsigned)draw_log(2, 1000),
			 .segment = (enum cpu_segment)(draw() * CPU_SEGMENT_COUNT),
			 .desktop = draw() < 0.1 },
	};

	(void)snprintf(facts.vendor, sizeof(facts.vendor), "%s",
		       vendors[(size_t)(draw() * ARRAY_SIZE(vendors))]);
	facts.threads = facts.cores * (draw() < 0.5 ? 1 : 2);
	if (draw() < 0.1)
		facts.cores = 0;
	if (draw() < 0.1)
		facts.sockets = 0;
	if (draw() < 0.1)
		facts.memory_gib = 0;
	if (draw() < 0.3)
		facts.cpu.tdp_w = 0;
	return facts;
}

/*
 * The sums that a user makes: parts are no more than the machine, in total, idle, and above idle.
 */
static void check_sum(const struct machine_facts *facts, double u,
		      const struct power_estimate power[static COMPONENT_COUNT])
{
	const struct power_estimate *package = &power[COMPONENT_PACKAGE];
	const struct power_estimate *dram = &power[COMPONENT_DRAM];
	struct power_estimate platform;

	power_model_estimate(&platform_power_model, facts, u, &platform);
	assert_true(package->idle_w + dram->idle_w <=
		    COMPONENT_PLATFORM_SHARE * platform.idle_w + 1e-9);
	assert_true(package->dynamic_w + dram->dynamic_w <=
		    COMPONENT_PLATFORM_SHARE * platform.dynamic_w + 1e-9);
}

static void check_machine(const struct machine_facts *facts)
{
	struct power_estimate power[COMPONENT_COUNT], before[COMPONENT_COUNT] = { 0 };
	struct machine_facts known;

	power_model_complete_facts(&platform_power_model, facts, &known);
	for (int step = 0; step <= 8; step++) {
		double u = step / 8.0;

		estimate(facts, u, power);
		check_sum(facts, u, power);
		for (size_t c = 0; c < COMPONENT_COUNT; c++) {
			assert_true(power[c].idle_w >= 0 && isfinite(power[c].idle_w));
			assert_true(power[c].dynamic_w >= before[c].dynamic_w - 1e-9);
			assert_true(isfinite(power[c].bound_w) && power[c].bound_w >= 0);
			assert_true(power[c].bound_w > 0 || total_w(&power[c]) <= 0);
		}
		memcpy(before, power, sizeof(before));
		assert_true(total_w(&power[COMPONENT_PACKAGE]) <=
			    1.2 * known.cpu.tdp_w * known.sockets + 1e-9);
		assert_true(total_w(&power[COMPONENT_DRAM]) <= 0.6 * known.memory_gib + 1e-9);
	}
}

static void test_all_machines(void **state)
{
	for (size_t i = 0; i < MACHINES; i++) {
		struct machine_facts facts = draw_machine();

		check_machine(&facts);
	}
}

static void assert_same(const struct power_estimate *a, const struct power_estimate *b)
{
	for (size_t c = 0; c < COMPONENT_COUNT; c++) {
		assert_true(fabs(total_w(&a[c]) - total_w(&b[c])) < 1e-9);
		assert_true(fabs(a[c].bound_w - b[c].bound_w) < 1e-9);
	}
}

static void test_utilisation_is_clamped(void **state)
{
	static const double below[] = { -1, NAN, -INFINITY }, above[] = { 1.5, 1e300, INFINITY };
	struct machine_facts facts = server();
	struct power_estimate idle[COMPONENT_COUNT], full[COMPONENT_COUNT], odd[COMPONENT_COUNT];

	estimate(&facts, 0, idle);
	estimate(&facts, 1, full);
	for (size_t i = 0; i < ARRAY_SIZE(below); i++) {
		estimate(&facts, below[i], odd);
		assert_same(odd, idle);
		estimate(&facts, above[i], odd);
		assert_same(odd, full);
	}
}

/* A GiB of memory draws no more than the smallest modules do. */
static void test_little_memory_draws_little(void **state)
{
	struct machine_facts facts = server();
	struct power_estimate power[COMPONENT_COUNT];

	facts.memory_gib = 8;
	estimate(&facts, 1, power);
	assert_true(total_w(&power[COMPONENT_DRAM]) <= 4.8 + 1e-9);
}

static void test_bound_without_a_design_power_is_wider(void **state)
{
	struct machine_facts facts = server(), likely;
	struct power_estimate known[COMPONENT_COUNT], unknown[COMPONENT_COUNT];

	facts.memory_gib = 768;
	facts.cpu = (struct cpu_name){ 0 };
	power_model_complete_facts(&platform_power_model, &facts, &likely);
	estimate(&facts, 0.3, unknown);
	estimate(&likely, 0.3, known);
	assert_true(fabs(total_w(&unknown[COMPONENT_PACKAGE]) -
			 total_w(&known[COMPONENT_PACKAGE])) < 1e-9);
	assert_true(unknown[COMPONENT_PACKAGE].bound_w > 1.05 * known[COMPONENT_PACKAGE].bound_w);
}

/* At full load no package draws far more than its design power: the bound does not say so. */
static void test_bound_ends_at_what_a_package_can_draw(void **state)
{
	struct machine_facts facts = server();
	struct power_estimate power[COMPONENT_COUNT];
	double watts;

	estimate(&facts, 1, power);
	watts = total_w(&power[COMPONENT_PACKAGE]);
	assert_true(power[COMPONENT_PACKAGE].bound_w < watts);
	assert_true(power[COMPONENT_PACKAGE].bound_w > 0.3 * watts);
}

static void test_machines_unlike_the_data_are_outside(void **state)
{
	struct machine_facts facts[8];
	struct power_estimate inside[COMPONENT_COUNT], outside[COMPONENT_COUNT];
	struct machine_facts plain = server();

	estimate(&plain, 0, inside);
	for (size_t i = 0; i < ARRAY_SIZE(facts); i++)
		facts[i] = server();
	(void)snprintf(facts[0].vendor, sizeof(facts[0].vendor), "amd");
	facts[1].year = 2013;
	facts[2].year = 2024;
	facts[3].sockets = 4;
	facts[4].memory_gib = 32;
	facts[5].memory_gib = 4096;
	facts[6].cpu.desktop = true;
	facts[7].cpu.segment = CPU_SEGMENT_SMALL;
	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		estimate(&facts[i], 0, outside);
		for (size_t c = 0; c < COMPONENT_COUNT; c++) {
			assert_true(outside[c].outside);
			assert_true(outside[c].bound_w > 0);
		}
	}
	estimate(&facts[6], 0, outside);
	assert_true(outside[COMPONENT_DRAM].bound_w > 1.2 * inside[COMPONENT_DRAM].bound_w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_size_of_a_known_server),
		cmocka_unit_test(test_package_is_a_share_of_the_design_power),
		cmocka_unit_test(test_all_machines),
		cmocka_unit_test(test_utilisation_is_clamped),
		cmocka_unit_test(test_little_memory_draws_little),
		cmocka_unit_test(test_bound_without_a_design_power_is_wider),
		cmocka_unit_test(test_bound_ends_at_what_a_package_can_draw),
		cmocka_unit_test(test_machines_unlike_the_data_are_outside),
	};

	return unit_run(tests);
}

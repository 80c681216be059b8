// SPDX-License-Identifier: Apache-2.0
/* Made-up machines with power by a law that the fit does not know. */
#include "tools/builtin-models/platform_fit.h"

#include "tests/unit/unit.h"
#include "tools/builtin-models/platform_judge.h"
#include "tools/builtin-models/platform_weights.h"
#include "training/random.h"

#define TYPES 60U

static struct platform_types types;
static const struct platform_type *list[TYPES];

static const char *const processors[] = { "intel_xeon_e5_2660v3",     "intel_xeon_e5_2699v4",
					  "intel_xeon_platinum_8280", "amd_epyc_7763",
					  "intel_xeon_e3_1230v3",     "amd_epyc_9654" };

static double power_w(const struct platform_measurement *machine, double load)
{
	return 20 + 12 * machine->sockets + 0.2 * machine->memory_gib +
	       machine->cores * machine->frequency_mhz / 1000 * (1 + 2 * load);
}

static void add_type(unsigned number, struct random *random)
{
	struct platform_measurement row = {
		.type = number,
		.processor = processors[number % ARRAY_SIZE(processors)],
		.sockets = 1 + number % 2,
		.memory_gib = 16 << number % 4,
		.frequency_mhz = 2000 + 100 * (number % 7),
	};
	struct diag diag = { "" };

	row.cores = row.sockets * (4 + 2 * (number % 9));
	for (unsigned level = 0; level < POWER_LEVELS; level++) {
		row.cpu_time_ms = 50 * level;
		row.watts = power_w(&row, level / 10.0) * (1 + 0.02 * random_part(random));
		assert_int_equal(platform_types_add(&types, &row, &diag), 0);
	}
}

static int make_types(void **state)
{
	struct random random = { 1 };
	struct diag diag = { "" };

	for (unsigned i = 0; i < TYPES; i++)
		add_type(i, &random);
	assert_int_equal(platform_types_finish(&types, &diag), 0);
	assert_int_equal(types.count, TYPES);
	for (size_t i = 0; i < TYPES; i++)
		list[i] = &types.types[i];
	return 0;
}

static int release_types(void **state)
{
	platform_types_release(&types);
	return 0;
}

static double watts_at(const struct power_model *model, const struct machine_facts *facts,
		       double load)
{
	struct power_estimate power;

	power_model_estimate(model, facts, load, &power);
	return power.idle_w + power.dynamic_w;
}

/*
 * The weights, as the program applies them, say of a machine of the fit what the regression does:
 * y − noise × dual. Without CPU models, whose offset is simplified.
 */
static void test_weights_are_the_regression(void **state)
{
	CLEANUP(platform_fit_release) struct platform_fit fit = { .parts = 0 };
	CLEANUP(platform_model_release) struct platform_model model = { .cpus = NULL };
	struct diag diag = { "" };

	assert_int_equal(platform_fit(list, TYPES, PLATFORM_PARTS & ~PLATFORM_CPUS, &fit, &diag),
			 0);
	assert_int_equal(platform_model_make(&fit, &model, &diag), 0);
	for (size_t i = 0; i < TYPES; i++) {
		double share = 0.5 + 1 / (1 + list[i]->results);
		double idle = list[i]->ln_w[0] - platform_variances[PLATFORM_IDLE].noise * share *
							 fit.surface[PLATFORM_IDLE].fit.dual[i];
		const double *dual = fit.surface[PLATFORM_LOAD].fit.dual + i * (POWER_LEVELS - 1);
		double full =
			list[i]->ln_w[POWER_LEVELS - 1] -
			platform_variances[PLATFORM_LOAD].noise * share * dual[POWER_LEVELS - 2];

		/* The centres' jitter is the difference. */
		assert_true(fabs(log(watts_at(&model.model, &list[i]->facts, 0)) - idle) < 1e-4);
		assert_true(fabs(log(watts_at(&model.model, &list[i]->facts, 1)) - full) < 1e-4);
	}
}

static void judge(unsigned parts, bool unnamed, struct platform_errors *ret)
{
	CLEANUP(platform_fit_release) struct platform_fit fit = { .parts = 0 };
	static double ln_w[TYPES * POWER_LEVELS], watts[TYPES * POWER_LEVELS];
	uint32_t group[TYPES];
	struct diag diag = { "" };

	assert_int_equal(platform_groups(list, TYPES, PLATFORM_TYPE, group), TYPES);
	assert_int_equal(platform_fit(list, TYPES, parts, &fit, &diag), 0);
	assert_int_equal(platform_fit_hold_out(&fit, group, unnamed, ln_w, &diag), 0);
	platform_row_watts(list, TYPES, ln_w, watts);
	assert_int_equal(platform_judge(list, TYPES, watts, ret), 0);
}

static void test_machines_that_were_held_out_are_near(void **state)
{
	struct platform_errors linear, all, unnamed;

	judge(0, false, &linear);
	judge(PLATFORM_PARTS, false, &all);
	judge(PLATFORM_PARTS, true, &unnamed);
	assert_true(all.mean_percent < 6);
	assert_true(all.mean_percent < 0.9 * linear.mean_percent);
	assert_true(unnamed.mean_percent > all.mean_percent);
	assert_true(all.mean_w > 0 && all.median_w < 1.5 * all.mean_w);
}

/*
 * Machines of equal size, with CPUs of six kinds: those with 4 GiB a core draw more than those with
 * less and those with more, which only the bumps of memory can know.
 */
static void test_memory_depends_on_the_make(void **state)
{
	CLEANUP(platform_fit_release) struct platform_fit fit = { .parts = 0 };
	CLEANUP(platform_fit_release) struct platform_fit without = { .parts = 0 };
	struct platform_type changed[TYPES];
	const struct platform_type *machines[TYPES];
	double with_memory = 0, without_memory = 0;
	double ln_w[TYPES * POWER_LEVELS], before[TYPES * POWER_LEVELS];
	struct random random = { 3 };
	uint32_t group[TYPES];
	struct diag diag = { "" };

	for (size_t i = 0; i < TYPES; i++) {
		size_t row = i / ARRAY_SIZE(processors) % 3; /* each has all processors */

		changed[i] = *list[i];
		changed[i].facts.cores = 16;
		changed[i].facts.sockets = 2;
		changed[i].facts.frequency_ghz = 2.5;
		changed[i].facts.memory_gib = 32U << row;
		for (size_t level = 0; level < POWER_LEVELS; level++)
			changed[i].ln_w[level] =
				5 + 0.1 * random_part(&random) + (row == 1 ? 0.3 : 0);
		machines[i] = &changed[i];
	}
	(void)platform_groups(machines, TYPES, PLATFORM_TYPE, group);
	assert_int_equal(platform_fit(machines, TYPES, PLATFORM_PARTS, &fit, &diag), 0);
	assert_int_equal(
		platform_fit(machines, TYPES, PLATFORM_PARTS & ~PLATFORM_MEMORY, &without, &diag),
		0);
	assert_int_equal(platform_fit_hold_out(&fit, group, false, ln_w, &diag), 0);
	assert_int_equal(platform_fit_hold_out(&without, group, false, before, &diag), 0);
	for (size_t i = 0; i < TYPES * POWER_LEVELS; i++) {
		double truth = changed[i / POWER_LEVELS].ln_w[i % POWER_LEVELS];

		with_memory += fabs(ln_w[i] - truth);
		without_memory += fabs(before[i] - truth);
	}
	assert_true(with_memory < 0.8 * without_memory);
}

static void test_ranges_come_from_the_machines(void **state)
{
	CLEANUP(platform_fit_release) struct platform_fit fit = { .parts = 0 };
	CLEANUP(platform_model_release) struct platform_model model = { .cpus = NULL };
	struct machine_facts facts = list[1]->facts;
	struct power_estimate power;
	struct diag diag = { "" };

	assert_int_equal(platform_fit(list, TYPES, PLATFORM_PARTS, &fit, &diag), 0);
	assert_int_equal(platform_model_make(&fit, &model, &diag), 0);
	assert_true(fabs(model.weights.year.least - 2014) < 1e-9);
	assert_true(fabs(model.weights.year.most - 2022) < 1e-9);
	assert_true(fabs(model.weights.sockets.most - 2) < 1e-9);
	assert_true(fabs(model.weights.cores.most - 40) < 1e-9);
	assert_int_equal(model.weights.cpu_count, ARRAY_SIZE(processors));
	power_model_estimate(&model.model, &facts, 1, &power);
	assert_false(power.outside);
	facts.sockets = 24;
	power_model_estimate(&model.model, &facts, 1, &power);
	assert_true(power.outside);
}

/* Nine of ten, of types that the bounds were not found on. */
static void test_bounds_cover_other_machines(void **state)
{
	static double watts[TYPES * POWER_LEVELS], covered[TYPES];
	struct random random = { 5 };
	double bound[POWER_LEVELS], mean = 0;
	uint32_t group[TYPES];

	for (size_t i = 0; i < TYPES; i++) {
		double off = 1 + 0.4 * (random_part(&random) - 0.5);

		for (size_t row = 0; row < POWER_LEVELS; row++)
			watts[i * POWER_LEVELS + row] = list[i]->rows[row].watts * off;
	}
	assert_int_equal(platform_bounds(list, TYPES, watts, bound), 0);
	for (size_t level = 0; level < POWER_LEVELS; level++)
		assert_true(bound[level] > 0.15 && bound[level] < 0.25);
	assert_int_equal(platform_groups(list, TYPES, PLATFORM_TYPE, group), TYPES);
	assert_int_equal(platform_coverage(list, TYPES, watts, group, TYPES, covered), 0);
	for (size_t i = 0; i < TYPES; i++)
		mean += covered[i] / TYPES;
	assert_true(mean > 0.87 && mean < 0.97);
}

static void test_kin_are_in_one_group(void **state)
{
	uint32_t group[TYPES], fold[TYPES], groups;

	groups = platform_groups(list, TYPES, PLATFORM_CPU, group);
	assert_int_equal(groups, ARRAY_SIZE(processors));
	memcpy(fold, group, sizeof(fold));
	assert_int_equal(platform_deal(fold, TYPES, groups, 1), 0);
	for (size_t i = 0; i < TYPES; i++) {
		assert_int_equal(group[i], group[i % ARRAY_SIZE(processors)]);
		assert_int_equal(fold[i], fold[i % ARRAY_SIZE(processors)]);
		assert_in_range(fold[i], 0, PLATFORM_FOLDS - 1);
	}
	/* v3 of the E5 and of the E3 are of one year, but of two sizes. */
	assert_int_equal(platform_groups(list, TYPES, PLATFORM_GENERATION, group), 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_weights_are_the_regression),
		cmocka_unit_test(test_machines_that_were_held_out_are_near),
		cmocka_unit_test(test_memory_depends_on_the_make),
		cmocka_unit_test(test_ranges_come_from_the_machines),
		cmocka_unit_test(test_bounds_cover_other_machines),
		cmocka_unit_test(test_kin_are_in_one_group),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make_types, release_types);
}

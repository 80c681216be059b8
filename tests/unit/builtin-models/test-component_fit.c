// SPDX-License-Identifier: Apache-2.0
#include "tools/builtin-models/component_fit.h"

#include "tests/unit/unit.h"

#define ROWS 11

static const struct power_model *const platform = &platform_power_model;

static void assert_near(double a, double b)
{
	assert_true(fabs(a - b) < 1e-9 * fmax(1, fabs(b)));
}

static void test_curve_is_the_mean_at_each_level(void **state)
{
	static const struct component_row rows[] = {
		{ 0, 10 }, { 0.02, 12 }, { 0.48, 50 }, { 0.52, 54 }, { 0.97, 100 }
	};
	double levels[COMPONENT_LEVELS];

	assert_true(component_curve(rows, ARRAY_SIZE(rows), levels));
	assert_near(levels[0], 11);
	assert_near(levels[5], 52);
	assert_near(levels[10], 100);
	assert_near(levels[1], 11 + 41.0 / 5); /* lines over levels without rows */
	assert_near(levels[9], 52 + 48.0 * 4 / 5);
}

/* Levels at which power fell are taken together. */
static void test_curve_never_falls(void **state)
{
	static const struct component_row rows[] = { { 0, 10 },   { 0.3, 60 }, { 0.4, 40 },
						     { 0.4, 40 }, { 0.5, 45 }, { 0.8, 90 } };
	double levels[COMPONENT_LEVELS];

	assert_true(component_curve(rows, ARRAY_SIZE(rows), levels));
	for (size_t l = 3; l <= 5; l++)
		assert_near(levels[l], (60.0 + 40 + 40 + 45) / 4);
	assert_near(levels[10], 90); /* no row is at more load */
	for (size_t l = 1; l < COMPONENT_LEVELS; l++)
		assert_true(levels[l] >= levels[l - 1]);
}

static void test_one_level_makes_no_curve(void **state)
{
	static const struct component_row rows[] = { { 0.5, 10 }, { 0.52, 11 } };
	double levels[COMPONENT_LEVELS];

	assert_false(component_curve(rows, ARRAY_SIZE(rows), levels));
	assert_false(component_curve(NULL, 0, levels));
}

/* Machines whose packages draw 10 % + 80 % × load, times @factor, of 100 W; memory 16 W. */
static void make_machine(struct component_machine *machine, const char *key, double factor,
			 struct component_row rows[static COMPONENT_COUNT * ROWS])
{
	*machine = (struct component_machine){
		.name = key,
		.facts = { .vendor = "intel",
			   .cores = 20,
			   .threads = 40,
			   .sockets = 1,
			   .year = 2019,
			   .frequency_ghz = 2.5,
			   .memory_gib = 256,
			   .cpu = { .tdp_w = 100 } },
		.rows = { rows, rows + ROWS },
		.row_count = { ROWS, ROWS },
	};
	(void)snprintf(machine->facts.cpu.key, sizeof(machine->facts.cpu.key), "%s", key);
	for (size_t i = 0; i < ROWS; i++) {
		double load = (double)i / (ROWS - 1);

		rows[i] = (struct component_row){ load, factor * (10 + 30 * load) };
		rows[ROWS + i] = (struct component_row){ load, 4 };
	}
}

/* Two machines with the same CPU count half each; errors are relative to the others' mean. */
static void test_fit_of_machines_that_differ_by_a_factor(void **state)
{
	static struct component_row rows[4][COMPONENT_COUNT * ROWS];
	struct component_machine machines[4];
	struct component_fit fit;
	struct diag diag;

	make_machine(&machines[0], "xeon1", 1.2, rows[0]);
	make_machine(&machines[1], "xeon1", 1.2, rows[1]);
	make_machine(&machines[2], "xeon2", 1, rows[2]);
	make_machine(&machines[3], "xeon3", 1 / 1.2, rows[3]);
	assert_int_equal(component_fit(machines, 4, platform, &fit, &diag), 0);
	assert_near(fit.weights.share[COMPONENT_PACKAGE][0], 0.1);
	assert_near(fit.weights.share[COMPONENT_PACKAGE][10], 0.4);
	assert_near(fit.weights.share[COMPONENT_DRAM][5], 1); /* fourth root of 256: 4 */
	assert_near(fit.held_out[2][COMPONENT_PACKAGE].idle_percent, 0);
	assert_near(fit.held_out[0][COMPONENT_PACKAGE].idle_percent, (pow(1.2, -1.5) - 1) * 100);
	assert_near(fit.held_out[0][COMPONENT_PACKAGE].idle_percent,
		    fit.held_out[1][COMPONENT_PACKAGE].idle_percent);
	/* t with 2 degrees of freedom; the CPU models are 1.5, 0 and 1.5 times ln 1.2 off. */
	assert_near(fit.weights.spread[COMPONENT_PACKAGE][0],
		    2.920 * 1.5 * log(1.2) * sqrt(2.0 / 3));
	assert_near(fit.held_out[3][COMPONENT_DRAM].covered, 1);
	assert_near(fit.mean[COMPONENT_DRAM].mape_percent, 0);
}

static void test_too_few_cpu_models(void **state)
{
	static struct component_row rows[3][COMPONENT_COUNT * ROWS];
	struct component_machine machines[3];
	struct component_fit fit;
	struct diag diag;

	make_machine(&machines[0], "xeon1", 1, rows[0]);
	make_machine(&machines[1], "xeon1", 1, rows[1]);
	make_machine(&machines[2], "xeon2", 1, rows[2]);
	assert_int_equal(component_fit(machines, 3, platform, &fit, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "3 CPU models"));
	machines[1].row_count[COMPONENT_DRAM] = 0;
	assert_int_equal(component_fit(machines, 3, platform, &fit, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "levels of load"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_curve_is_the_mean_at_each_level),
		cmocka_unit_test(test_curve_never_falls),
		cmocka_unit_test(test_one_level_makes_no_curve),
		cmocka_unit_test(test_fit_of_machines_that_differ_by_a_factor),
		cmocka_unit_test(test_too_few_cpu_models),
	};

	return unit_run(tests);
}

// SPDX-License-Identifier: Apache-2.0
/* The idle learner against machines whose truth is known. Random numbers have fixed seeds. */
#include "attribution/learning/idle.h"

#include "tests/unit/unit.h"

#define SECOND_NS 1000000000ULL

static uint64_t random_state;

static double random_unit(void) /* 0..1 */
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(random_state >> 11) / 9007199254740992.0;
}

static double random_noise(void) /* evenly -1..1 */
{
	return 2 * random_unit() - 1;
}

/* Utilisation as machines have it: plateaus of some 20 s at levels from @low to @high. */
static double random_load(double *level, double low, double high)
{
	if (random_unit() < 0.05)
		*level = low + (high - low) * random_unit();
	return fmin(1, fmax(0, *level + 0.02 * random_noise()));
}

static double estimate_w(const struct idle_learner *learner)
{
	uint64_t power_uw;

	assert_true(idle_learner_get(learner, &power_uw));
	return (double)power_uw / 1e6;
}

static bool knows(const struct idle_learner *learner)
{
	uint64_t power_uw;

	return idle_learner_get(learner, &power_uw);
}

static void test_linear_machine(void **state)
{
	const double idle_w[] = { 5, 40, 120, 300 }, range_w[] = { 15, 160, 200, 900 };

	for (size_t i = 0; i < 4; i++) {
		struct idle_learner learner;
		double level = 0.3;

		random_state = 42 + i;
		idle_learner_init(&learner);
		for (int s = 0; s < 3600; s++) {
			double x = random_load(&level, 0, 0.9);
			double y = (idle_w[i] + range_w[i] * x) * (1 + 0.05 * random_noise());

			idle_learner_add(&learner, y, x, SECOND_NS);
		}
		assert_true(fabs(estimate_w(&learner) - idle_w[i]) <= 0.02 * idle_w[i]);
	}
}

static void test_says_nothing_before_a_minute(void **state)
{
	struct idle_learner learner;

	idle_learner_init(&learner);
	for (int s = 0; s < 59; s++)
		idle_learner_add(&learner, 50 + 100 * (s % 10) / 20.0, s % 10 / 20.0, SECOND_NS);
	assert_false(knows(&learner));
	idle_learner_add(&learner, 50, 0, SECOND_NS);
	assert_true(fabs(estimate_w(&learner) - 50) < 0.1);
}

static void test_needs_a_span(void **state)
{
	struct idle_learner learner;

	idle_learner_init(&learner);
	for (int s = 0; s < 3600; s++)
		idle_learner_add(&learner, 50 + 100 * (0.3 + s % 10 / 100.0), 0.3 + s % 10 / 100.0,
				 SECOND_NS);
	assert_false(knows(&learner));
}

static void test_constant_load_never_learns(void **state)
{
	struct idle_learner learner;

	random_state = 7;
	idle_learner_init(&learner);
	for (int s = 0; s < 24 * 3600; s++)
		idle_learner_add(&learner, 80 + 4 * random_noise(), 0.5, SECOND_NS);
	assert_false(knows(&learner));
}

/* Nor is it flat: it was never seen quiet for long. */
static void test_pure_noise_never_learns(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct idle_learner learner;

		random_state = seed;
		idle_learner_init(&learner);
		for (int s = 0; s < 12 * 3600; s++)
			idle_learner_add(&learner, 80 + 30 * random_noise(), random_unit(),
					 SECOND_NS);
		assert_false(knows(&learner));
	}
}

/* Half as much idle power at 0.5 as at 0, and so on along the line. */
static const double halved[IDLE_SHARE_LEVELS] = { 1.0,  0.9, 0.8, 0.7, 0.6, 0.5,
						  0.45, 0.4, 0.4, 0.4, 0.4 };

static double bound_w(const struct idle_learner *learner)
{
	uint64_t power_uw;

	assert_true(idle_learner_bound(learner, halved, &power_uw));
	return (double)power_uw / 1e6;
}

static void assert_near(double a, double b)
{
	assert_true(fabs(a - b) < 1e-6);
}

static void hold(struct idle_learner *learner, double power_w, double x, int seconds)
{
	for (int s = 0; s < seconds; s++)
		idle_learner_add(learner, power_w, x, SECOND_NS);
}

/* From the first reading on; only what was sustained lowers it, and nothing raises it. */
static void test_the_lowest_power_bounds_it_by_the_share_of_its_load(void **state)
{
	struct idle_learner learner;

	idle_learner_init(&learner);
	assert_false(idle_learner_bound(&learner, halved, &(uint64_t){ 0 }));
	hold(&learner, 80, 0.25, 1);
	assert_near(bound_w(&learner), 80 * 0.75);
	hold(&learner, 80, 0.25, 29);
	hold(&learner, 10, 0.1, 29);
	assert_near(bound_w(&learner), 80 * 0.75);
	hold(&learner, 10, 0.1, 1);
	assert_near(bound_w(&learner), 9);
	hold(&learner, 200, 0.25, 3600);
	assert_near(bound_w(&learner), 9);
	hold(&learner, 8, 0.25, 30); /* whatever the load is */
	assert_near(bound_w(&learner), 8);
	assert_false(knows(&learner));
}

/* The saved value bounds it before the first reading. */
static void test_a_bound_is_saved(void **state)
{
	struct idle_learner learner, again;
	char text[IDLE_LINE_MAX];

	idle_learner_init(&learner);
	hold(&learner, 40, 0.5, 60);
	assert_true(idle_learner_format(&learner, text, sizeof(text)) > 0);
	assert_int_equal(idle_learner_parse(text, &again), 0);
	assert_near(bound_w(&again), 20);
}

/* A machine that never rests draws its power for its work, as far as anything shows. */
static void test_a_constant_full_load_is_bounded_by_its_share(void **state)
{
	struct idle_learner learner;

	idle_learner_init(&learner);
	hold(&learner, 200, 1, 24 * 3600);
	assert_false(knows(&learner));
	assert_near(bound_w(&learner), 80);
}

/* Dram that nothing uses, and a second socket whose load is not seen. */
static void test_power_that_does_not_follow_load_is_idle(void **state)
{
	struct idle_learner learner;
	double level = 0.3;
	int learned_s = 0;

	random_state = 5;
	idle_learner_init(&learner);
	for (int s = 1; s <= 3600; s++) {
		double x = s % 200 < 60 ? 0.05 : random_load(&level, 0, 1);

		idle_learner_add(&learner, 14 * (1 + 0.02 * random_noise()), x, SECOND_NS);
		if (!learned_s && knows(&learner))
			learned_s = s;
	}
	assert_in_range(learned_s, 600, 900);
	assert_true(fabs(estimate_w(&learner) - 14) <= 0.02 * 14);
}

/* Under a power limit it is flat from a third of the load on: it was never seen below that. */
static void test_flat_at_high_loads_is_not_idle(void **state)
{
	struct idle_learner learner;
	double level = 0.6;

	random_state = 6;
	idle_learner_init(&learner);
	for (int s = 0; s < 12 * 3600; s++) {
		double x = fmax(random_load(&level, 0.3, 1), 0.3);

		idle_learner_add(&learner, 95 + 0.5 * random_noise(), x, SECOND_NS);
		assert_false(knows(&learner));
	}
	assert_true(bound_w(&learner) < 0.75 * 95);
}

/* A socket on which next to nothing runs shows its idle power. */
static void test_a_zone_at_rest_shows_its_idle_power(void **state)
{
	struct idle_learner learner;

	idle_learner_init(&learner);
	hold(&learner, 14, 0.004, 599);
	assert_false(knows(&learner));
	hold(&learner, 14, 0.004, 1);
	assert_near(estimate_w(&learner), 14);
}

/* Work that was not seen flattens the line: it is not evidence of idle power then. */
static void test_full_machine_seen_badly_never_learns(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct idle_learner learner;

		random_state = seed;
		idle_learner_init(&learner);
		for (int s = 0; s < 7200; s++) {
			double x = random_unit() < 0.05 ? 0.6 + 0.4 * random_unit() : 1;
			double seen = x - 0.3 * random_unit() * random_unit();

			idle_learner_add(&learner, 10 + 30 * x, seen, SECOND_NS);
			assert_false(knows(&learner));
		}
	}
}

/* The same machine, once it is quiet now and then. */
static void test_quiet_times_make_up_for_bad_sight(void **state)
{
	struct idle_learner learner;
	double level = 0.3;

	random_state = 7;
	idle_learner_init(&learner);
	for (int s = 0; s < 7200; s++) {
		double x = random_load(&level, 0, 1);

		idle_learner_add(&learner, 10 + 30 * x,
				 x * (1 - 0.3 * random_unit() * random_unit()), SECOND_NS);
	}
	assert_true(fabs(estimate_w(&learner) - 10) <= 1);
}

/* Power that falls with load (a fan that stops, say) is not evidence of idle power. */
/* Share of the dynamic power at each tenth of load, of our own model of the platform: 2014. */
static double model_curve(double x)
{
	static const double level[] = { 0,       0.15880, 0.23932, 0.31736, 0.39563, 0.47022,
					0.56019, 0.66043, 0.77433, 0.89058, 1 };
	int below = (int)fmin(x * 10, 9);

	return level[below] + (level[below + 1] - level[below]) * (x * 10 - below);
}

/*
 * Idle at 60 W, 200 W when full, and never below 60 or 70 % busy: the line through the seen points
 * meets 0 at 38 or 33 W. There is no result until it was quiet once; then it is the truth.
 */
static void test_never_quiet_never_learns(void **state)
{
	const double lowest[] = { 0.6, 0.7 };

	for (size_t i = 0; i < 2; i++) {
		struct idle_learner learner;
		double level = 0.8;

		random_state = 5 + i;
		idle_learner_init(&learner);
		for (int s = 0; s < 4 * 3600; s++) {
			double x = fmax(random_load(&level, lowest[i], 1), lowest[i]);

			idle_learner_add(&learner, 60 + 140 * model_curve(x), x, SECOND_NS);
			assert_false(knows(&learner));
		}
		for (int s = 0; s < 90; s++) {
			double x = 0.02 * random_unit();

			idle_learner_add(&learner, 60 + 140 * model_curve(x), x, SECOND_NS);
		}
		assert_true(fabs(estimate_w(&learner) - 60) <= 0.05 * 60);
		for (int s = 0; s < 4 * 3600; s++) { /* and it stands */
			double x = fmax(random_load(&level, lowest[i], 1), lowest[i]);

			idle_learner_add(&learner, 60 + 140 * model_curve(x), x, SECOND_NS);
			assert_true(fabs(estimate_w(&learner) - 60) <= 0.05 * 60);
		}
	}
}

static void test_falling_power_never_learns(void **state)
{
	struct idle_learner learner;

	random_state = 3;
	idle_learner_init(&learner);
	for (int s = 0; s < 3600; s++) {
		double x = random_unit();

		idle_learner_add(&learner, 100 - 50 * x + random_noise(), x, SECOND_NS);
	}
	assert_false(knows(&learner));
}

/* A curve's intercept misses the truth; the floor bounds it from above, 0 from below. */
static void test_curved_machines_stay_below_the_floor(void **state)
{
	const double exponents[] = { 0.4, 0.6, 1.6, 2.5 };

	for (size_t i = 0; i < 4; i++) {
		struct idle_learner learner;
		double level = 0.5;

		random_state = 99 + i;
		idle_learner_init(&learner);
		for (int s = 0; s < 4 * 3600; s++) {
			double x = s % 1800 < 60 ? 0 : random_load(&level, 0.2, 1);
			double y = 30 + 170 * pow(x, exponents[i]);

			idle_learner_add(&learner, y * (1 + 0.01 * random_noise()), x, SECOND_NS);
		}
		assert_true(knows(&learner));
		assert_true(estimate_w(&learner) <= 30 * 1.01);
		assert_true(estimate_w(&learner) >= 0);
	}
}

static void test_outliers_hardly_count(void **state)
{
	struct idle_learner learner;
	double level = 0.3;

	random_state = 11;
	idle_learner_init(&learner);
	for (int s = 0; s < 3600; s++) {
		double x = random_load(&level, 0, 0.9);
		double y = (60 + 140 * x) * (1 + 0.02 * random_noise());

		if (s > 60 && random_unit() < 0.02)
			y = random_unit() < 0.5 ? 0 : 1500;
		idle_learner_add(&learner, y, x, SECOND_NS);
	}
	assert_true(fabs(estimate_w(&learner) - 60) <= 0.05 * 60);
}

static void test_drift_is_followed(void **state)
{
	const double end_w[] = { 40, 56 }; /* down, and up, within 8 h */

	for (size_t i = 0; i < 2; i++) {
		struct idle_learner learner;
		double level = 0.3, truth_w = 50;

		random_state = 5 + i;
		idle_learner_init(&learner);
		for (int s = 0; s < 34 * 3600; s++) { /* the floor remembers a day */
			double x = random_load(&level, 0, 0.9);

			truth_w = 50 + (end_w[i] - 50) * fmin(1, s / (8 * 3600.0));
			idle_learner_add(&learner, truth_w + 150 * x + random_noise(), x,
					 SECOND_NS);
		}
		assert_true(fabs(estimate_w(&learner) - end_w[i]) <= 0.04 * end_w[i]);
	}
}

static void test_estimate_stands_while_load_is_constant(void **state)
{
	struct idle_learner learner;

	random_state = 8;
	idle_learner_init(&learner);
	for (int s = 0; s < 600; s++) {
		double x = random_unit();

		idle_learner_add(&learner, 50 + 100 * x + random_noise(), x, SECOND_NS);
	}
	for (int s = 0; s < 24 * 3600; s++)
		idle_learner_add(&learner, 130 + random_noise(), 0.8, SECOND_NS);
	assert_true(fabs(estimate_w(&learner) - 50) <= 1);
}

static void test_sustained_low_power_bounds_it_at_once(void **state)
{
	struct idle_learner learner;

	random_state = 9;
	idle_learner_init(&learner);
	for (int s = 0; s < 600; s++) {
		double x = random_unit();

		idle_learner_add(&learner, 50 + 100 * x, x, SECOND_NS);
	}
	for (int s = 0; s < 90; s++)
		idle_learner_add(&learner, 20, 0, SECOND_NS);
	assert_true(estimate_w(&learner) <= 20.001);
}

static void test_impossible_input_is_ignored(void **state)
{
	struct idle_learner learner, before;
	char text[IDLE_LINE_MAX], text_before[IDLE_LINE_MAX];

	idle_learner_init(&learner);
	idle_learner_add(&learner, 50, 0.5, SECOND_NS);
	before = learner;
	idle_learner_add(&learner, (double)NAN, 0.5, SECOND_NS);
	idle_learner_add(&learner, (double)INFINITY, 0.5, SECOND_NS);
	idle_learner_add(&learner, -1, 0.5, SECOND_NS);
	idle_learner_add(&learner, 50, (double)NAN, SECOND_NS);
	idle_learner_add(&learner, 50, 1.01, SECOND_NS);
	idle_learner_add(&learner, 50, -0.01, SECOND_NS);
	idle_learner_add(&learner, 50, 0.5, 0);
	idle_learner_add(&learner, 50, 0.5, UINT64_MAX);
	assert_true(idle_learner_format(&learner, text, sizeof(text)) > 0);
	assert_true(idle_learner_format(&before, text_before, sizeof(text_before)) > 0);
	assert_string_equal(text, text_before);
}

static void test_names(void **state)
{
	assert_string_equal(idle_state_name(IDLE_PROVISIONAL), "provisional");
	assert_string_equal(idle_state_name(IDLE_MODEL), "model");
	assert_string_equal(idle_state_name(IDLE_ABSENT), "absent");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_linear_machine),
		cmocka_unit_test(test_says_nothing_before_a_minute),
		cmocka_unit_test(test_needs_a_span),
		cmocka_unit_test(test_constant_load_never_learns),
		cmocka_unit_test(test_pure_noise_never_learns),
		cmocka_unit_test(test_the_lowest_power_bounds_it_by_the_share_of_its_load),
		cmocka_unit_test(test_a_bound_is_saved),
		cmocka_unit_test(test_a_constant_full_load_is_bounded_by_its_share),
		cmocka_unit_test(test_power_that_does_not_follow_load_is_idle),
		cmocka_unit_test(test_flat_at_high_loads_is_not_idle),
		cmocka_unit_test(test_a_zone_at_rest_shows_its_idle_power),
		cmocka_unit_test(test_full_machine_seen_badly_never_learns),
		cmocka_unit_test(test_quiet_times_make_up_for_bad_sight),
		cmocka_unit_test(test_never_quiet_never_learns),
		cmocka_unit_test(test_falling_power_never_learns),
		cmocka_unit_test(test_curved_machines_stay_below_the_floor),
		cmocka_unit_test(test_outliers_hardly_count),
		cmocka_unit_test(test_drift_is_followed),
		cmocka_unit_test(test_estimate_stands_while_load_is_constant),
		cmocka_unit_test(test_sustained_low_power_bounds_it_at_once),
		cmocka_unit_test(test_impossible_input_is_ignored),
		cmocka_unit_test(test_names),
	};

	return unit_run(tests);
}

// SPDX-License-Identifier: Apache-2.0
#include "judging/judge.h"

#include "tests/unit/unit.h"

#define SAMPLES 600

/* A load ladder with noise, from a seed: W at each second. */
struct machine {
	uint64_t state;
	double watts[SAMPLES];
};

static double uniform(struct machine *machine)
{
	machine->state = machine->state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(machine->state >> 11) / (double)(1ULL << 53);
}

static void run_machine(struct machine *machine, uint64_t seed)
{
	machine->state = seed * 2 + 1;
	for (int i = 0; i < 10; i++)
		(void)uniform(machine);
	double idle = 5 + 60 * uniform(machine), most = 20 + 200 * uniform(machine), load = 0;
	int left = 0;
	for (int i = 0; i < SAMPLES; i++) {
		if (left-- == 0) {
			load = uniform(machine);
			left = 5 + (int)(50 * uniform(machine));
		}
		machine->watts[i] = idle + most * load + 0.02 * most * (uniform(machine) - 0.5);
	}
}

static struct series *series_of(const double *watts, size_t count, double start_s)
{
	struct series *series = series_new("package", "W");

	for (size_t i = 0; i < count; i++)
		assert_int_equal(series_add_gauge(series, start_s + (double)i, watts[i]), 0);
	series_finish(series);
	return series;
}

static struct result *judged(struct series *actual, struct series *predicted, double max_error)
{
	struct result *result = result_new("node/package", RESULT_ACCURACY);

	result->actual = actual;
	result->predicted = predicted;
	result->threshold = (struct threshold){ .max_error = max_error, .max_lag_s = 10 };
	assert_int_equal(judge_series(result, NULL, 0), 0);
	return result;
}

static void expect(struct result *result, enum verdict verdict, enum cause cause, const char *word)
{
	if (result->verdict != verdict || result->cause != cause || !strstr(result->reason, word))
		fail_msg("%s, %s: %s", verdict_name(result->verdict), cause_name(result->cause),
			 result->reason);
	result_free(result);
}

/* The predicted series is a function of the actual one. */
static struct result *bad(double (*law)(double watts, int i))
{
	struct machine machine;
	double predicted[SAMPLES];

	run_machine(&machine, 7);
	for (int i = 0; i < SAMPLES; i++)
		predicted[i] = law(machine.watts[i], i);
	return judged(series_of(machine.watts, SAMPLES, 1000), series_of(predicted, SAMPLES, 1000),
		      0.05);
}

static double half(double watts, int i)
{
	return watts / 2;
}

static double a_fifth(double watts, int i)
{
	return watts / 5;
}

static double thirty_more(double watts, int i)
{
	return watts + 30;
}

static double never_low(double watts, int i)
{
	return fmax(watts, 130);
}

static double never_high(double watts, int i)
{
	return fmin(watts, 130);
}

static double constant(double watts, int i)
{
	return 120;
}

static double jumpy(double watts, int i)
{
	return watts + (i % 2 ? 40 : -40);
}

static void each_bad_series_has_its_cause(void **state)
{
	expect(bad(half), VERDICT_FAIL, CAUSE_SCALE, "0.5 times");
	expect(bad(a_fifth), VERDICT_FAIL, CAUSE_SCALE, "microwatts of 5 s");
	expect(bad(thirty_more), VERDICT_FAIL, CAUSE_OFFSET, "+30 W");
	expect(bad(never_low), VERDICT_FAIL, CAUSE_OFFSET, "130 W (a floor)");
	expect(bad(never_high), VERDICT_FAIL, CAUSE_SATURATION, "exceeds 130 W");
	expect(bad(constant), VERDICT_FAIL, CAUSE_SHAPE, "constant");
	expect(bad(jumpy), VERDICT_FAIL, CAUSE_SHAPE, "range remain");
}

static void another_nodes_series_does_not_follow(void **state)
{
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct machine a, b;
		run_machine(&a, seed);
		run_machine(&b, seed + 1000);
		struct result *result = judged(series_of(a.watts, SAMPLES, 0),
					       series_of(b.watts, SAMPLES, 0), 0.05);
		assert_int_equal(result->verdict, VERDICT_FAIL);
		assert_int_equal(result->cause, CAUSE_SHAPE);
		result_free(result);
	}
}

static void a_lag_has_a_bound(void **state)
{
	struct machine machine;

	run_machine(&machine, 3);
	struct result *result = judged(series_of(machine.watts, SAMPLES, 0),
				       series_of(machine.watts, SAMPLES, 20), 0.05);
	assert_true(fabs(result->errors.lag_s - 20) < 0.5);
	expect(result, VERDICT_FAIL, CAUSE_LAG, "20.0 s late");
	result = judged(series_of(machine.watts, SAMPLES, 0), series_of(machine.watts, SAMPLES, -6),
			0.05);
	assert_true(fabs(result->errors.lag_s + 6) < 0.5);
	expect(result, VERDICT_PASS, CAUSE_NONE, "");
}

/* It fits at 18 s as well, and there with its noise. */
static void a_load_that_repeats_itself_is_not_a_period_late(void **state)
{
	struct machine machine;

	run_machine(&machine, 3);
	for (int i = 0; i < SAMPLES; i++)
		machine.watts[i] = (i % 16 < 8 ? 60 : 20) + 0.5 * uniform(&machine);
	struct result *result = judged(series_of(machine.watts, SAMPLES, 0),
				       series_of(machine.watts, SAMPLES, 18), 0.05);
	assert_true(fabs(result->errors.lag_s - 2) < 0.5);
	expect(result, VERDICT_PASS, CAUSE_NONE, "");
}

/* The mean of a square wave from @from_s to @to_s: 60 W and 20 W in turn. */
static double square_wave(double period_s, double from_s, double to_s)
{
	double sum = 0;

	for (int i = 0; i < 50; i++) {
		double at =
			fmod(from_s + (to_s - from_s) * (i + 0.5) / 50 + 1000 * period_s, period_s);

		sum += at < period_s / 2 ? 60 : 20;
	}
	return sum / 50;
}

/* A lag between two steps fits less well than the same lag and a period that are whole steps. */
static void a_period_is_rarely_a_whole_number_of_steps(void **state)
{
	for (int half_s = 13; half_s < 40; half_s += 2) {
		for (int k = 1; k < 10; k++) {
			struct machine machine = { .state = (uint64_t)(100 * half_s + k) };
			double period_s = half_s / 2.0, predicted[SAMPLES];
			double lag_s = period_s * (k - 5) / 12;

			for (int i = 0; i < SAMPLES; i++) {
				machine.watts[i] = square_wave(period_s, i, i + 1);
				predicted[i] = square_wave(period_s, i - lag_s, i + 1 - lag_s) +
					       0.5 * uniform(&machine);
			}
			struct result *result = judged(series_of(machine.watts, SAMPLES, 0),
						       series_of(predicted, SAMPLES, 0), 0.05);
			if (fabs(result->errors.lag_s - lag_s) > 1)
				fail_msg("period %.1f s: %.2f s instead of %.2f s", period_s,
					 result->errors.lag_s, lag_s);
			result_free(result);
		}
	}
}

static void a_verdict_needs_pairs_and_a_threshold(void **state)
{
	struct machine machine;

	run_machine(&machine, 3);
	expect(judged(series_of(machine.watts, SAMPLES, 0), series_of(machine.watts, SAMPLES, 0),
		      NAN),
	       VERDICT_NOT_APPLICABLE, CAUSE_NONE, "no threshold");
	expect(judged(series_of(machine.watts, SAMPLES, 0), series_of(machine.watts, 300, 0), 0.05),
	       VERDICT_INCONCLUSIVE, CAUSE_NONE, "50 % of the actual series' time");
	expect(judged(series_of(machine.watts, SAMPLES, 0), series_of(machine.watts, SAMPLES, 5000),
		      0.05),
	       VERDICT_INCONCLUSIVE, CAUSE_NONE, "Only 0 windows");
	expect(judged(series_of(machine.watts, 1, 0), series_of(machine.watts, SAMPLES, 0), 0.05),
	       VERDICT_INCONCLUSIVE, CAUSE_NONE, "Only 0 windows");
}

static void a_meter_that_shows_0_is_not_a_truth(void **state)
{
	static const double none[SAMPLES];
	struct machine machine;

	run_machine(&machine, 3);
	expect(judged(series_of(none, SAMPLES, 0), series_of(machine.watts, SAMPLES, 0), 0.05),
	       VERDICT_NOT_APPLICABLE, CAUSE_NONE, "0 throughout");
}

static void a_zone_of_less_than_a_watt_is_judged(void **state)
{
	struct machine machine;

	run_machine(&machine, 3);
	for (int i = 0; i < SAMPLES; i++)
		machine.watts[i] /= 1000;
	expect(judged(series_of(machine.watts, SAMPLES, 0), series_of(machine.watts, SAMPLES, 0),
		      0.05),
	       VERDICT_PASS, CAUSE_NONE, "");
}

static void phases_decide(void **state)
{
	struct machine machine;
	double predicted[SAMPLES];
	static const struct phase phases[] = { { "first", 0, 300 }, { "second", 300, 599 } };

	run_machine(&machine, 3);
	for (int i = 0; i < SAMPLES; i++)
		predicted[i] = machine.watts[i] * (i < 301 ? 1.04 : 0.9);
	struct result *result = result_new("node/package", RESULT_ACCURACY);
	result->actual = series_of(machine.watts, SAMPLES, 0);
	result->predicted = series_of(predicted, SAMPLES, 0);
	result->threshold.max_error = 0.06;
	assert_int_equal(judge_series(result, phases, ARRAY_SIZE(phases)), 0);
	assert_int_equal(result->phase_count, 2);
	assert_int_equal(result->phases[0].verdict, VERDICT_PASS);
	assert_true(fabs(result->phases[0].error - 0.04) < 1e-6);
	assert_true(fabs(result->phases[0].ratio_high - 1.04) < 1e-6);
	assert_int_equal(result->phases[1].verdict, VERDICT_FAIL);
	assert_true(fabs(result->phases[1].error + 0.1) < 1e-6);
	assert_true(fabs(result->error - 0.1) < 1e-6);
	assert_int_equal(result->verdict, VERDICT_FAIL);
	result_free(result);
}

/* Only what the truth's own error does not explain is a failure. */
static void the_truths_own_error_is_part_of_the_verdict(void **state)
{
	static const struct {
		double factor, truth_error;
		enum verdict verdict;
		const char *word;
	} rows[] = {
		{ 1.04, 0.03, VERDICT_PASS, "(±5 %, own error of the truth ±3 %)" },
		{ 1.07, 0.03, VERDICT_INCONCLUSIVE, "not by more than the truth's own error" },
		{ 1.07, 0, VERDICT_FAIL, "(bound ±5 %)" },
		{ 1.10, 0.03, VERDICT_FAIL, "(bound ±5 %, own error of the truth ±3 %)" },
		{ 1.00, 0.06, VERDICT_INCONCLUSIVE, "is larger than the bound" },
		{ 0.85, 0.06, VERDICT_FAIL, "0.85 times" },
	};
	struct machine machine;
	double predicted[SAMPLES];

	run_machine(&machine, 3);
	for (size_t k = 0; k < ARRAY_SIZE(rows); k++) {
		for (int i = 0; i < SAMPLES; i++)
			predicted[i] = machine.watts[i] * rows[k].factor;
		struct result *result = result_new("node/package", RESULT_ACCURACY);
		result->actual = series_of(machine.watts, SAMPLES, 0);
		result->predicted = series_of(predicted, SAMPLES, 0);
		result->threshold = (struct threshold){ .max_error = 0.05,
							.max_lag_s = 10,
							.truth_error = rows[k].truth_error };
		assert_int_equal(judge_series(result, NULL, 0), 0);
		expect(result, rows[k].verdict,
		       rows[k].verdict == VERDICT_FAIL ? CAUSE_SCALE : CAUSE_NONE, rows[k].word);
	}
}

static double falling_joules(double time_s, double too_much_w)
{
	return 100 * fmin(time_s, 41) + (10 + too_much_w) * fmax(0, time_s - 41);
}

/* The power falls half way between two actual readings, and just when the other series is read. */
static void what_readings_do_not_resolve_is_not_judged(void **state)
{
	static const struct phase phases[] = { { "load", 0, 41 }, { "idle", 41, 77 } };

	for (int is_wrong = 0; is_wrong < 2; is_wrong++) {
		struct result *result = result_new("node/package", RESULT_ACCURACY);

		result->actual = series_new("actual", "W");
		result->predicted = series_new("predicted", "W");
		for (int i = 0; i <= 80; i++) {
			assert_int_equal(series_add_counter(result->actual, i + 0.5,
							    falling_joules(i + 0.5, 0)),
					 0);
			if (i % 4 == 1)
				assert_int_equal(
					series_add_counter(result->predicted, i,
							   falling_joules(i, 5 * is_wrong)),
					0);
		}
		series_finish(result->actual);
		series_finish(result->predicted);
		result->threshold = (struct threshold){ .max_error = 0.05, .max_lag_s = 0 };
		assert_int_equal(judge_series(result, phases, ARRAY_SIZE(phases)), 0);
		assert_int_equal(result->phases[1].verdict,
				 is_wrong ? VERDICT_FAIL : VERDICT_NOT_APPLICABLE);
		assert_true(fabs(result->phases[1].error) > 0.05);
		assert_int_equal(result->verdict, is_wrong ? VERDICT_FAIL : VERDICT_PASS);
		result_free(result);
	}
}

/* The verdict on @factor times the actual values, with an offset so that the energy is right. */
static struct result *judge_cancelling(struct machine *machine, double factor, double truth_error)
{
	static const struct phase one = { "all", 0, 599 };
	struct result *result = result_new("node/package", RESULT_ACCURACY);
	double predicted[SAMPLES], mean = 0;

	for (int i = 0; i < SAMPLES; i++)
		mean += machine->watts[i] / SAMPLES;
	for (int i = 0; i < SAMPLES; i++)
		predicted[i] = factor * machine->watts[i] + (1 - factor) * mean +
			       0.02 * mean * (uniform(machine) - 0.5);
	result->actual = series_of(machine->watts, SAMPLES, 0);
	result->predicted = series_of(predicted, SAMPLES, 0);
	result->threshold = (struct threshold){ .max_error = 0.05,
						.max_lag_s = 10,
						.truth_error = truth_error };
	assert_int_equal(judge_series(result, &one, 1), 0);
	assert_true(fabs(result->errors.energy_ratio - 1) < 0.01);
	return result;
}

static void a_scale_and_an_offset_do_not_cancel(void **state)
{
	struct machine machine, steady = { .state = 5 };

	for (uint64_t seed = 1; seed <= 50; seed++) {
		run_machine(&machine, seed);
		expect(judge_cancelling(&machine, 0.5, 0), VERDICT_FAIL, CAUSE_SCALE,
		       "Energies agree only as a whole");
		expect(judge_cancelling(&machine, 1.6, 0), VERDICT_FAIL, CAUSE_SCALE,
		       "Energies agree only as a whole");
		expect(judge_cancelling(&machine, 1.07, 0.04), VERDICT_PASS, CAUSE_NONE, "");
	}
	for (int i = 0; i < SAMPLES; i++)
		steady.watts[i] = 100 + uniform(&steady);
	expect(judge_cancelling(&steady, 0.5, 0), VERDICT_PASS, CAUSE_NONE,
	       "The power hardly varies");
}

/* 5 s apart, as an exporter shows it that takes microwatts for microjoules. */
static struct result *judge_as_counter(const double *watts, bool is_power)
{
	struct series *actual = series_new("actual", "W"), *counter = series_new("counter", "W");
	double joules = 0;

	for (int i = 0; i < SAMPLES; i++) {
		assert_int_equal(series_add_gauge(actual, i, watts[i]), 0);
		joules += watts[i];
		if (i == SAMPLES / 2)
			joules = 0; /* the exporter restarts */
		if (i % 5 == 0)
			assert_int_equal(
				series_add_counter(counter, i, is_power ? watts[i] : joules), 0);
	}
	series_finish(actual);
	series_finish(counter);
	return judged(actual, counter, 0.05);
}

static void a_power_is_not_a_counter(void **state)
{
	struct machine machine;

	for (uint64_t seed = 1; seed <= 100; seed++) {
		run_machine(&machine, seed);
		expect(judge_as_counter(machine.watts, true), VERDICT_FAIL, CAUSE_SCALE,
		       "as if microwatts were taken for microjoules");
	}
	expect(judge_as_counter(machine.watts, false), VERDICT_PASS, CAUSE_NONE, "");
}

static void only_a_phase_is_wrong(void **state)
{
	static const struct phase phases[] = { { "most", 0, 550 }, { "rest", 550, 599 } };
	struct machine machine;
	double predicted[SAMPLES];
	struct result *result = result_new("node/package", RESULT_ACCURACY);

	run_machine(&machine, 3);
	for (int i = 0; i < SAMPLES; i++)
		predicted[i] = machine.watts[i] * (i < 551 ? 1 : 1.2);
	result->actual = series_of(machine.watts, SAMPLES, 0);
	result->predicted = series_of(predicted, SAMPLES, 0);
	result->threshold = (struct threshold){ .max_error = 0.05, .max_lag_s = 10 };
	assert_int_equal(judge_series(result, phases, ARRAY_SIZE(phases)), 0);
	assert_int_equal(result->verdict, VERDICT_FAIL);
	assert_non_null(strstr(result->reason, "The worst phase is \"rest\", with +20.00 %."));
	result_free(result);
}

static void a_phase_without_values_says_so(void **state)
{
	static const struct phase phases[] = { { "first", 0, 300 }, { "gone", 10000, 10300 } };
	struct machine machine;
	struct result *result = result_new("node/package", RESULT_ACCURACY);

	run_machine(&machine, 3);
	result->actual = series_of(machine.watts, SAMPLES, 0);
	result->predicted = series_of(machine.watts, SAMPLES, 0);
	result->threshold = (struct threshold){ .max_error = 0.05, .max_lag_s = 10 };
	assert_int_equal(judge_series(result, phases, ARRAY_SIZE(phases)), 0);
	expect(result, VERDICT_INCONCLUSIVE, CAUSE_NONE,
	       "Less than 90 % of \"gone\" has both actual and predicted values.");
}

static void a_bound_within_the_interval_decides_nothing(void **state)
{
	struct machine machine, noise;
	double predicted[SAMPLES];

	run_machine(&machine, 3);
	run_machine(&noise, 4);
	for (int i = 0; i < SAMPLES; i++)
		predicted[i] = machine.watts[i] * (1.03 + 0.3 * (uniform(&noise) - 0.5));
	expect(judged(series_of(machine.watts, SAMPLES, 0), series_of(predicted, SAMPLES, 0), 0.1),
	       VERDICT_PASS, CAUSE_NONE, "");
	expect(judged(series_of(machine.watts, SAMPLES, 0), series_of(predicted, SAMPLES, 0), 0.03),
	       VERDICT_FAIL, CAUSE_SHAPE, "");
	for (int i = 0; i < SAMPLES; i++)
		predicted[i] = machine.watts[i] * (1.05 + 0.1 * (uniform(&noise) - 0.5));
	expect(judged(series_of(machine.watts, SAMPLES, 0), series_of(predicted, SAMPLES, 0), 0.05),
	       VERDICT_INCONCLUSIVE, CAUSE_NONE, "includes the bound");
}

/* Idle: the two meters' own noise is not a shape. */
static void a_steady_load_is_judged_by_its_energy(void **state)
{
	struct machine noise = { .state = 5 };
	double actual[SAMPLES], predicted[SAMPLES], high[SAMPLES];

	for (int i = 0; i < SAMPLES; i++) {
		actual[i] = 100 + uniform(&noise);
		predicted[i] = 100 + uniform(&noise);
		high[i] = 110 + uniform(&noise);
	}
	expect(judged(series_of(actual, SAMPLES, 0), series_of(predicted, SAMPLES, 0), 0.05),
	       VERDICT_PASS, CAUSE_NONE, "");
	struct result *result =
		judged(series_of(actual, SAMPLES, 0), series_of(high, SAMPLES, 0), 0.05);
	assert_int_equal(result->verdict, VERDICT_FAIL);
	assert_true(result->cause == CAUSE_SCALE || result->cause == CAUSE_OFFSET);
	result_free(result);
	/* Readings of the truth have noise that the exporter's have not. */
	for (int i = 0; i < SAMPLES; i++)
		high[i] = 201 + 0.1 * uniform(&noise);
	expect(judged(series_of(actual, SAMPLES, 0), series_of(high, SAMPLES, 0), 0.05),
	       VERDICT_FAIL, CAUSE_SCALE, "counted twice");
}

/*
 * At a steady load, late readings of the truth are all that varies: a prediction that does not
 * follow them is right.
 */
static void late_readings_are_no_slope(void **state)
{
	struct machine noise = { .state = 5 };
	double actual[SAMPLES], predicted[SAMPLES];

	for (int i = 0; i < SAMPLES; i++) {
		actual[i] = 5 + 0.4 * (uniform(&noise) - 0.5);
		predicted[i] = 5 + 0.0016 * (actual[i] - 5) + 0.003 * (uniform(&noise) - 0.5);
	}
	expect(judged(series_of(actual, SAMPLES, 0), series_of(predicted, SAMPLES, 0), 0.05),
	       VERDICT_FAIL, CAUSE_SCALE, "agree only as a whole");
	struct result *result = result_new("node/dram", RESULT_ACCURACY);
	result->actual = series_of(actual, SAMPLES, 0);
	result->predicted = series_of(predicted, SAMPLES, 0);
	result->threshold = (struct threshold){ .max_error = 0.05, .max_lag_s = 10 };
	result->time_error_s = 0.5;
	assert_int_equal(judge_series(result, NULL, 0), 0);
	expect(result, VERDICT_PASS, CAUSE_NONE, "No phase has another power");
}

/* They are not the cause of a wrong energy either, unless that is as small as they are. */
static void late_readings_hide_no_wrong_energy(void **state)
{
	struct machine noise = { .state = 5 };
	double actual[SAMPLES], low[SAMPLES], nearly[SAMPLES];

	for (int i = 0; i < SAMPLES; i++) {
		actual[i] = 50 + 4.8 * (uniform(&noise) - 0.5);
		low[i] = 33.3 + 0.3 * (uniform(&noise) - 0.5);
		nearly[i] = 46.5 + 0.3 * (uniform(&noise) - 0.5);
	}
	expect(judged(series_of(actual, SAMPLES, 0), series_of(low, SAMPLES, 0), 0.05),
	       VERDICT_FAIL, CAUSE_SCALE, "0.66");
	expect(judged(series_of(actual, SAMPLES, 0), series_of(nearly, SAMPLES, 0), 0.05),
	       VERDICT_FAIL, CAUSE_SHAPE, "does not follow");
}

/* A meter of every second, and a counter that is read each 7 s at other times. */
static void judge_each_7_s(double late_s)
{
	struct machine machine;
	struct series *counter = series_new("counter", "W");
	double sum = 0;

	run_machine(&machine, 9);
	for (int i = 0; i < SAMPLES; i++) {
		double at = sum + machine.watts[i] / 2;
		if (i % 7 == 3)
			assert_int_equal(series_add_counter(counter, i - 0.5 + late_s, at), 0);
		sum += machine.watts[i];
	}
	series_finish(counter);
	struct result *result = judged(series_of(machine.watts, SAMPLES, 0), counter, 0.02);
	assert_true(result->errors.pairs > SAMPLES / 7 - 4);
	assert_true(fabs(result->errors.lag_s - late_s) < 0.5);
	expect(result, VERDICT_PASS, CAUSE_NONE, "");
}

static void series_can_have_different_steps(void **state)
{
	judge_each_7_s(0);
	judge_each_7_s(2);
	judge_each_7_s(-3);
}

/* Worked out by hand. */
static void errors_follow_the_definitions_of_the_field(void **state)
{
	static const double actual[] = { 10, 20, 30, 0, 50, 60, 70, 80, 90, 100 };
	static const double predicted[] = { 12, 18, 33, 0, 45, 66, 63, 88, 81, 110 };
	struct result *result = judged(series_of(actual, 10, 0), series_of(predicted, 10, 0), 0.05);

	assert_true(fabs(result->errors.mse - 37.2) < 1e-9);
	assert_true(fabs(result->errors.mape - 0.1) < 1e-9);
	assert_true(fabs(result->errors.mae - 5.2) < 1e-9);
	assert_true(fabs(result->errors.bias - 0.6) < 1e-9);
	assert_true(fabs(result->errors.median_ape - 0.1) < 1e-9);
	assert_true(fabs(result->errors.r2 - (1 - 372.0 / 10890)) < 1e-9);
	assert_true(fabs(result->errors.energy_ratio - 516.0 / 510) < 1e-9);
	result_free(result);
}

static void clean_series_pass(void **state)
{
	for (uint64_t seed = 1; seed <= 1000; seed++) {
		struct machine machine;
		double predicted[SAMPLES];
		run_machine(&machine, seed);
		struct series *actual = series_of(machine.watts, SAMPLES, 0);
		for (int i = 0; i < SAMPLES; i++) /* another meter's noise */
			predicted[i] = machine.watts[i] * (1 + 0.02 * (uniform(&machine) - 0.5));
		/* Short ones at a load that hardly changes, too. */
		expect(judged(series_of(machine.watts, 16, 0), series_of(predicted, 16, 0), 0.05),
		       VERDICT_PASS, CAUSE_NONE, "");
		expect(judge_cancelling(&machine, 1, 0), VERDICT_PASS, CAUSE_NONE, "");
		bool itself = seed % 2 == 0;
		expect(judged(actual,
			      series_of(itself ? machine.watts : predicted, SAMPLES,
					itself ? 0 : 2.5),
			      0.05),
		       VERDICT_PASS, CAUSE_NONE, "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_bad_series_has_its_cause),
		cmocka_unit_test(another_nodes_series_does_not_follow),
		cmocka_unit_test(a_lag_has_a_bound),
		cmocka_unit_test(a_load_that_repeats_itself_is_not_a_period_late),
		cmocka_unit_test(a_period_is_rarely_a_whole_number_of_steps),
		cmocka_unit_test(a_verdict_needs_pairs_and_a_threshold),
		cmocka_unit_test(a_meter_that_shows_0_is_not_a_truth),
		cmocka_unit_test(a_zone_of_less_than_a_watt_is_judged),
		cmocka_unit_test(phases_decide),
		cmocka_unit_test(the_truths_own_error_is_part_of_the_verdict),
		cmocka_unit_test(what_readings_do_not_resolve_is_not_judged),
		cmocka_unit_test(a_scale_and_an_offset_do_not_cancel),
		cmocka_unit_test(a_power_is_not_a_counter),
		cmocka_unit_test(only_a_phase_is_wrong),
		cmocka_unit_test(a_phase_without_values_says_so),
		cmocka_unit_test(a_bound_within_the_interval_decides_nothing),
		cmocka_unit_test(a_steady_load_is_judged_by_its_energy),
		cmocka_unit_test(late_readings_are_no_slope),
		cmocka_unit_test(late_readings_hide_no_wrong_energy),
		cmocka_unit_test(series_can_have_different_steps),
		cmocka_unit_test(errors_follow_the_definitions_of_the_field),
		cmocka_unit_test(clean_series_pass),
	};
	return unit_run(tests);
}

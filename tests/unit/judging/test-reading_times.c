// SPDX-License-Identifier: Apache-2.0
/*
 * An exporter without times of its own, read near its own period: a page has the energy of its last
 * interval, which ended up to a period ago, so the time of a reading is known to within half a
 * step. No such exporter fails for it, and an error that cancels itself in sum is found as soon as
 * a run is long enough.
 */
#include "judging/reading_times.h"

#include <math.h>

#include "judging/judge.h"
#include "tests/unit/unit.h"

#define CLEAN_RUNS 1000
#define BAD_RUNS   30
#define PHASES     5

/* A machine with steady phases, its exporter, and the law by which that is wrong. */
struct machine {
	uint64_t state;
	struct phase phases[PHASES];
	double watts[PHASES], mean;
	double period_s, began_s; /* of the exporter */
	double (*law)(const struct machine *machine, double watts);
};

static double uniform(struct machine *machine)
{
	machine->state = machine->state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(machine->state >> 11) / (double)(1ULL << 53);
}

static void begin(struct machine *machine, uint64_t seed, double length_s)
{
	machine->state = 2 * seed + 1;
	for (int i = 0; i < 10; i++)
		(void)uniform(machine);
	double idle = 5 + 60 * uniform(machine), most = 20 + 200 * uniform(machine);
	machine->mean = 0;
	for (int i = 0; i < PHASES; i++) {
		struct phase *phase = &machine->phases[i];

		(void)snprintf(phase->name, sizeof(phase->name), "phase %d", i);
		phase->start_s = length_s / PHASES * i;
		phase->end_s = length_s / PHASES * (i + 1);
		machine->watts[i] = idle + (i % 2 ? most * uniform(machine) : 0);
		machine->mean += machine->watts[i] / PHASES;
	}
	machine->period_s = 0.5 + 1.5 * uniform(machine);
	machine->began_s = -machine->period_s * uniform(machine);
}

/* Joules up to a time, of the machine or as its exporter has them. */
static double energy(const struct machine *machine, double time_s, bool is_shown)
{
	double sum = 0;

	for (int i = 0; i < PHASES; i++) {
		const struct phase *phase = &machine->phases[i];
		double part_s = fmin(time_s, phase->end_s) - phase->start_s;
		double watts = machine->watts[i];

		if (part_s > 0)
			sum += part_s * (is_shown ? machine->law(machine, watts) : watts);
	}
	return sum;
}

static void add(struct series *series, double time_s, double joules)
{
	assert_int_equal(series_add_counter(series, time_s, joules), 0);
}

/* Reads both each second; a page with new numbers is of half the time since the page before. */
static double read_both(struct machine *machine, double length_s, struct series *actual,
			struct series *predicted)
{
	double before_s = 0, shown_s = -1, error_s = 0;
	size_t pages = 0;

	for (int i = 0; i < (int)length_s; i++) {
		double now_s = i + 0.02 * uniform(machine);
		double intervals = floor((now_s - machine->began_s) / machine->period_s);
		double read_s = fmax(0, machine->began_s + intervals * machine->period_s);

		add(actual, now_s, energy(machine, now_s, false));
		if (read_s > shown_s && pages++ > 0) {
			add(predicted, (before_s + now_s) / 2, energy(machine, read_s, true));
			error_s = fmax(error_s, (now_s - before_s) / 2);
		}
		shown_s = read_s;
		before_s = now_s;
	}
	series_finish(actual);
	series_finish(predicted);
	return error_s;
}

static struct result *judged(uint64_t seed, double length_s,
			     double (*law)(const struct machine *, double))
{
	struct machine machine = { .law = law };
	struct series *actual = series_new("actual", "W");
	struct series *predicted = series_new("predicted", "W");
	struct result *result = result_new("node/package", RESULT_ACCURACY);

	begin(&machine, seed, length_s);
	result->time_error_s = read_both(&machine, length_s, actual, predicted);
	double start_s = fmax(series_start_s(actual), series_start_s(predicted));
	double end_s = fmin(series_end_s(actual), series_end_s(predicted));
	result->actual = series_cut(actual, start_s, end_s);
	result->predicted = series_cut(predicted, start_s, end_s);
	series_free(actual);
	series_free(predicted);
	result->threshold = (struct threshold){ 0.03, 10, 0.01 };
	for (int i = 0; i < PHASES; i++) {
		machine.phases[i].start_s += 3;
		machine.phases[i].end_s -= 3;
	}
	assert_int_equal(judge_series(result, machine.phases, PHASES), 0);
	return result;
}

static double right(const struct machine *machine, double watts)
{
	return watts;
}

static void clean_exporters_do_not_fail(void **state)
{
	size_t passed = 0, explained = 0;

	for (uint64_t seed = 1; seed <= CLEAN_RUNS; seed++) {
		struct result *result = judged(seed, 180, right);

		if (result->verdict == VERDICT_FAIL)
			fail_msg("seed %d: %s", (int)seed, result->reason);
		passed += result->verdict == VERDICT_PASS;
		explained += result->errors.shape > result->threshold.max_error;
		result_free(result);
	}
	print_message("%zu of %d pass, %zu by the times of their readings\n", passed, CLEAN_RUNS,
		      explained);
	assert_true(passed > CLEAN_RUNS * 9 / 10);
	assert_true(explained > CLEAN_RUNS / 3);
}

static void short_runs_are_inconclusive_at_worst(void **state)
{
	size_t inconclusive = 0, at_ends = 0;

	for (uint64_t seed = 1; seed <= CLEAN_RUNS / 5; seed++) {
		struct result *result = judged(seed, 60, right);

		if (result->verdict == VERDICT_FAIL)
			fail_msg("seed %d: %s", (int)seed, result->reason);
		inconclusive += strstr(result->reason, "too short to show") != NULL;
		at_ends += strstr(result->reason, "at its ends can explain that") != NULL;
		assert_null(strstr(result->reason, "nan"));
		result_free(result);
	}
	assert_true(inconclusive > 0);
	assert_true(at_ends > 0);
}

static double too_low(const struct machine *machine, double watts)
{
	return 0.9 * watts;
}

static double too_high(const struct machine *machine, double watts)
{
	return 1.1 * watts;
}

static double more(const struct machine *machine, double watts)
{
	return watts + 0.15 * machine->mean;
}

static double steep(const struct machine *machine, double watts)
{
	return 1.5 * watts - 0.5 * machine->mean;
}

static double flat(const struct machine *machine, double watts)
{
	return 0.5 * (watts + machine->mean);
}

static double floored(const struct machine *machine, double watts)
{
	return fmax(watts, machine->mean);
}

static double constant(const struct machine *machine, double watts)
{
	return machine->mean;
}

static void errors_are_found_in_long_runs(void **state)
{
	static double (*const laws[])(const struct machine *, double) = {
		too_low, too_high, more, steep, flat, floored, constant,
	};

	for (size_t i = 0; i < ARRAY_SIZE(laws); i++)
		for (uint64_t seed = 1; seed <= BAD_RUNS; seed++) {
			struct result *result = judged(seed, 600, laws[i]);

			if (result->verdict != VERDICT_FAIL)
				fail_msg("law %zu, seed %d: %s: %s", i, (int)seed,
					 verdict_name(result->verdict), result->reason);
			result_free(result);
		}
}

/* Energy may be late, but not for longer and longer: in each phase as well as in all of them. */
static void times_explain_no_energy_that_grows(void **state)
{
	for (int is_wrong = 0; is_wrong < 2; is_wrong++) {
		struct result *result = result_new("node/package", RESULT_ACCURACY);

		result->actual = series_new("actual", "W");
		result->predicted = series_new("predicted", "W");
		result->time_error_s = 0.5;
		for (int i = 0; i <= 200; i++) {
			double late_s = 0.9 * ((i * 7 % 10) / 10.0 - 0.45);
			double load_s = i > 100 ? i - 100 : 0, drift = is_wrong ? 0.1 : 0;

			add(result->actual, i, 50 * i + 50 * load_s);
			add(result->predicted, i + late_s,
			    50 * i + 50 * load_s + drift * (100 * load_s - 50 * i));
		}
		series_finish(result->actual);
		series_finish(result->predicted);
		assert_int_equal(reading_times_explain(result, 0, 0.03, 0), !is_wrong);
		result_free(result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clean_exporters_do_not_fail),
		cmocka_unit_test(short_runs_are_inconclusive_at_worst),
		cmocka_unit_test(errors_are_found_in_long_runs),
		cmocka_unit_test(times_explain_no_energy_that_grows),
	};
	return unit_run(tests);
}

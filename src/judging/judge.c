// SPDX-License-Identifier: Apache-2.0
#include "judging/judge.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "judging/counter_form.h"
#include "judging/fit.h"
#include "judging/interval.h"
#include "judging/lag.h"
#include "judging/pairing.h"
#include "judging/reading_times.h"
#include "judging/slope.h"

#define PAIRS_LEAST   8
#define UNPAIRED_MOST 0.1
#define SMALL         0.05 /* of the range: windows and phases below it have no relative error */
#define CORRELATED_R2 0.5
#define ALIKE         1.5 /* residuals of two explanations, as a factor */
#define NOISE_MOST    2   /* of the bound: a shape beyond it is not noise of late readings */
#define DWARFS        3   /* so many times as large as a shape, a wrong energy is the cause */
#define PARTS_MOST    10
#define PART_PAIRS    20   /* of a part at least */
#define VARIES_BY     0.25 /* of the range */
#define SWING         0.5  /* of the range of power: a wrong one of so much must show */
#define LAG_SEARCH    3    /* times the bound, so that a breach is seen as one */

/* Everything that is found out about two series before there is a verdict. */
struct judgement {
	struct pairs plain;   /* unshifted */
	struct pairs shifted; /* by a permitted lag; else as @plain */
	struct fit fit;
	struct slope slope;
	double lag_s; /* found */
	bool lag_is_too_long;
};

static void judgement_release(struct judgement *judgement)
{
	pairs_release(&judgement->plain);
	pairs_release(&judgement->shifted);
}

static int look_at(const struct result *result, struct judgement *ret)
{
	double most_s = result->threshold.max_lag_s;
	if (isnan(most_s))
		most_s = JUDGE_MAX_LAG_S;
	int r = lag_find(result->actual, result->predicted, LAG_SEARCH * most_s, &ret->lag_s);
	/* Half a step of the finer series cannot be seen. */
	double step_s = fmin(series_step_s(result->actual), series_step_s(result->predicted));
	ret->lag_is_too_long = fabs(ret->lag_s) > fmax(most_s, step_s / 2);
	/* Readings at uncertain times correlate with anything for a while. */
	if (ret->lag_is_too_long && result->time_error_s > 0 &&
	    reading_times_explain(result, 0,
				  result->threshold.max_error + result->threshold.truth_error, 0)) {
		ret->lag_s = 0;
		ret->lag_is_too_long = false;
	}
	if (r == 0)
		r = pairs_make(result->actual, result->predicted, 0, SERIES_WINDOWS_MAX,
			       &ret->plain);
	if (r == 0)
		r = pairs_make(result->actual, result->predicted,
			       isnan(ret->lag_s) ? 0 : ret->lag_s, SERIES_WINDOWS_MAX,
			       &ret->shifted);
	if (r == 0)
		r = fit_pairs(&ret->shifted, &ret->fit);
	if (r == 0)
		ret->slope = slope_of(&ret->fit, ret->shifted.count);
	return r;
}

/* The errors of unshifted pairs, for comparison. */
static int measure_plain(const struct pairs *pairs, double range, struct errors *ret)
{
	double squares = 0, ratios = 0, absolute = 0, signed_sum = 0, mean = 0, spread = 0;
	size_t n = pairs->count, relative_count = 0;
	CLEANUP_FREE double *relative = calloc(n + 1, sizeof(*relative));
	if (!relative)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		mean += pairs->items[i].actual / (double)n;
	for (size_t i = 0; i < n; i++) {
		const struct pair *pair = &pairs->items[i];
		double error = pair->predicted - pair->actual;
		squares += error * error;
		spread += (pair->actual - mean) * (pair->actual - mean);
		ratios += fabs(error) / fmax(fabs(pair->actual), DBL_EPSILON);
		absolute += pair->span_s * fabs(error);
		signed_sum += pair->span_s * error;
		if (fabs(pair->actual) > SMALL * range)
			relative[relative_count++] = fabs(error / pair->actual);
	}
	qsort(relative, relative_count, sizeof(*relative), compare_doubles);
	ret->mse = squares / (double)n;
	ret->mape = ratios / (double)n;
	ret->mae = absolute / pairs->paired_s;
	ret->bias = signed_sum / pairs->paired_s;
	ret->r2 = spread > 0 ? 1 - squares / spread : (double)NAN;
	ret->median_ape = relative_count > 0 ? relative[relative_count / 2] : (double)NAN;
	return 0;
}

static int set_errors(const struct judgement *judgement, struct errors *ret)
{
	const struct fit *fit = &judgement->fit;
	const struct pairs *pairs = &judgement->shifted;
	*ret = (struct errors){
		.actual = fit->line.mean_actual * fit->line.weight,
		.predicted = fit->line.mean_predicted * fit->line.weight,
		.range = fit->range,
		.lag_s = judgement->lag_s,
		.scale = fit->line.scale,
		.offset = fit->line.offset,
		.shape = fit->shape,
		.saturated = fit->saturated,
		.pairs = pairs->count,
		.paired_s = pairs->paired_s,
		.unpaired_actual_s = judgement->plain.unpaired_actual_s,
		.unpaired_predicted_s = judgement->plain.unpaired_predicted_s,
	};
	bool is_zero = fabs(ret->actual) <= 0;
	ret->energy_ratio = is_zero ? (double)NAN : ret->predicted / ret->actual;
	int r = ratio_interval(pairs->items, pairs->count, &ret->ratio_low, &ret->ratio_high);
	return r < 0 ? r : measure_plain(&judgement->plain, fit->range, ret);
}

/* Pairs of a stretch of time. */
struct stretch {
	size_t first, count;
	double actual, predicted; /* unit × s */
	double span_s;
};

static struct stretch stretch_of(const struct pairs *pairs, const struct phase *phase)
{
	struct stretch stretch = { 0 };
	for (size_t i = 0; i < pairs->count; i++) {
		const struct pair *pair = &pairs->items[i];
		double start_s = fmax(pair->start_s, phase->start_s);
		double end_s = fmin(pair->start_s + pair->span_s, phase->end_s);
		if (end_s <= start_s)
			continue;
		stretch.first = stretch.count++ == 0 ? i : stretch.first;
		stretch.actual += (end_s - start_s) * pair->actual;
		stretch.predicted += (end_s - start_s) * pair->predicted;
		stretch.span_s += end_s - start_s;
	}
	return stretch;
}

/* Without an interval, the error itself decides. */
static enum verdict verdict_of_energies(const struct phase_result *phase,
					const struct threshold *threshold)
{
	double low = isnan(phase->ratio_low) ? phase->error : phase->ratio_low - 1;
	double high = isnan(phase->ratio_low) ? phase->error : phase->ratio_high - 1;

	return threshold_verdict(threshold, low, high);
}

/* The verdict on one phase; "inconclusive" if less than @least_s of it is paired. */
static int judge_phase(const struct pairs *pairs, double range, const struct threshold *threshold,
		       double least_s, struct phase_result *ret)
{
	struct stretch stretch = stretch_of(pairs, &ret->phase);
	ret->verdict = VERDICT_INCONCLUSIVE;
	ret->actual = ret->predicted = ret->error = ret->ratio_low = ret->ratio_high = NAN;
	if (stretch.count == 0 || stretch.span_s < least_s)
		return 0;
	double small = SMALL * range * stretch.span_s;
	ret->actual = stretch.actual;
	ret->predicted = stretch.predicted;
	ret->error = (stretch.predicted - stretch.actual) / fmax(fabs(stretch.actual), small);
	if (fabs(stretch.actual) > small) {
		int r = ratio_interval(&pairs->items[stretch.first], stretch.count, &ret->ratio_low,
				       &ret->ratio_high);
		if (r < 0)
			return r;
	}
	ret->verdict = verdict_of_energies(ret, threshold);
	return 0;
}

/*
 * The uncertainty of the energy up to @time_s, within a window of @series: if the power changed
 * once in the window, a quarter of its length × that change at most.
 */
static double blur_at(const struct series *series, double time_s)
{
	const struct window *last = series->windows + series->count, *window = series->windows;
	while (window < last && window->end_s <= time_s)
		window++;
	if (window == last || window->start_s >= time_s)
		return 0;
	double low = window->rate, high = low;
	for (const struct window *near = window - 1; near <= window + 1; near++) {
		if (near < series->windows || near >= last)
			continue;
		low = fmin(low, near->rate);
		high = fmax(high, near->rate);
	}
	return (window->end_s - window->start_s) / 4 * (high - low);
}

/*
 * Is the error of the phase within its bound once @ret_blur is taken off? At both of its ends the
 * finer series is cut at the reading times of the coarser one, and these may be uncertain.
 */
static bool is_blurred(const struct result *result, const struct pairs *pairs,
		       const struct phase_result *phase, bool by_jitter)
{
	bool by_actual = series_step_s(result->actual) >= series_step_s(result->predicted);
	const struct series *finer = by_actual ? result->predicted : result->actual;
	double shift_s = by_actual && !isnan(result->errors.lag_s) ? result->errors.lag_s : 0;
	struct stretch stretch = stretch_of(pairs, &phase->phase);
	if (stretch.count == 0)
		return false;
	const struct pair *first = &pairs->items[stretch.first], *last = first + stretch.count - 1;
	double end_s = last->start_s + last->span_s;
	double blur = blur_at(finer, first->start_s + shift_s) + blur_at(finer, end_s + shift_s);

	if (by_jitter)
		blur += reading_times_energy(result, first->start_s) +
			reading_times_energy(result, end_s);
	return fabs(phase->predicted - phase->actual) - blur <=
	       result->threshold.max_error * fabs(phase->actual);
}

static int use_phases(struct result *result, const struct pairs *pairs, const struct phase *phases,
		      size_t count)
{
	size_t parts = count > 0 ? count : pairs->count / PART_PAIRS;
	if (count == 0)
		parts = parts > PARTS_MOST ? PARTS_MOST : parts > 0 ? parts : 1;
	double start_s = series_start_s(result->actual), end_s = series_end_s(result->actual);
	double part_s = (end_s - start_s) / (double)parts;
	result->phases = calloc(parts, sizeof(*result->phases));
	if (!result->phases)
		return -ENOMEM;
	result->phase_count = parts;
	for (size_t i = 0; i < parts; i++) {
		struct phase *phase = &result->phases[i].phase;
		if (count > 0) {
			*phase = phases[i];
			continue;
		}
		(void)snprintf(phase->name, sizeof(phase->name), "part %zu of %zu", i + 1, parts);
		phase->start_s = start_s + (double)i * part_s;
		phase->end_s = start_s + (double)(i + 1) * part_s;
	}
	return 0;
}

static bool energies_are_wrong(const struct result *result, const struct phase_result *whole)
{
	for (size_t i = 0; i < result->phase_count; i++)
		if (result->phases[i].verdict == VERDICT_FAIL)
			return true;
	return whole->verdict == VERDICT_FAIL;
}

/* Factors that mistakes with units and counts have. */
static const char *factor_hint(double scale)
{
	static const struct {
		double factor;
		const char *hint;
	} hints[] = {
		{ 0.2, "as if microwatts of 5 s were counted as microjoules" },
		{ 5, "as if energy of 5 s were taken for power" },
		{ 0.5, "as if one of two were not counted" },
		{ 2, "as if everything were counted twice" },
		{ 1000, "as if a unit were a thousandth" },
		{ 0.001, "as if a unit were a thousand times too large" },
		{ 1e6, "as if micro-units were not converted" },
		{ 1e-6, "as if units were taken for micro-units" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(hints); i++)
		if (fabs(scale / hints[i].factor - 1) < 0.03)
			return hints[i].hint;
	return NULL;
}

/*
 * At a nearly steady load a factor and an offset look alike, except that a factor also multiplies
 * the noise of the actual readings. There, a factor that a known mistake has is the likelier one.
 */
static bool is_scaled(const struct fit *fit, double ratio)
{
	double most = factor_hint(ratio) ? ALIKE * fmax(1, ratio) : 1;

	return fit->rms_scaled <= most * fit->rms_shifted;
}

/*
 * While the power hardly varies, the noise of late readings is all that the prediction does not
 * follow. A wrong energy that is far larger is the cause then.
 */
static bool is_dwarfed(const struct result *result)
{
	const struct errors *errors = &result->errors;

	return errors->shape <= NOISE_MOST * result->threshold.max_error &&
	       fabs(errors->bias) >= DWARFS * errors->shape * errors->range;
}

static enum cause cause_of(const struct judgement *judgement, const struct result *result,
			   bool energies)
{
	const struct fit *fit = &judgement->fit;
	double r = fit->line.correlation;
	bool correlates = r > 0 && r * r >= CORRELATED_R2;
	bool is_steady = isnan(r) && fit->line.sd_actual < SMALL * fit->range;
	if (judgement->lag_is_too_long && correlates)
		return CAUSE_LAG;
	if (fit->saturated > 0)
		return CAUSE_SATURATION;
	if (!isnan(fit->floor))
		return CAUSE_OFFSET;
	if ((!correlates && !is_steady && fit->shape > SMALL && !is_dwarfed(result)) || !energies)
		return CAUSE_SHAPE;
	return is_scaled(fit, result->errors.energy_ratio) ? CAUSE_SCALE : CAUSE_OFFSET;
}

static void explain(struct result *result, const struct judgement *judgement)
{
	const struct errors *errors = &result->errors;
	const struct fit *fit = &judgement->fit;
	const char *unit = result->actual->unit, *hint = factor_hint(errors->energy_ratio);
	double most = result->threshold.max_error * 100;
	char bound[THRESHOLD_TEXT_MAX];
	threshold_text(&result->threshold, bound);
	switch (result->cause) {
	case CAUSE_LAG:
		result_set_verdict(result, VERDICT_FAIL,
				   "The prediction is %.1f s %s (bound %g s).", fabs(errors->lag_s),
				   errors->lag_s > 0 ? "late" : "early",
				   result->threshold.max_lag_s);
		return;
	case CAUSE_SATURATION:
		result_set_verdict(result, VERDICT_FAIL,
				   "The prediction never exceeds %.4g %s, and is there in %.0f %% "
				   "of the time, while the actual values differ.",
				   fit->top, unit, 100 * fit->saturated);
		return;
	case CAUSE_OFFSET:
		if (!isnan(fit->floor))
			result_set_verdict(result, VERDICT_FAIL,
					   "The prediction never falls below %.4g %s (a floor), "
					   "while the actual values do.",
					   fit->floor, unit);
		else
			result_set_verdict(result, VERDICT_FAIL,
					   "The prediction is %+.4g %s off on average, whatever "
					   "the load; energy ratio %.4g (bound %s).",
					   errors->bias, unit, errors->energy_ratio, bound);
		return;
	case CAUSE_SCALE:
		result_set_verdict(result, VERDICT_FAIL,
				   "The prediction is %.4g times the actual energy (bound "
				   "%s)%s%s.",
				   errors->energy_ratio, bound, hint ? ", " : "", hint ? hint : "");
		return;
	case CAUSE_SHAPE:
		result_set_verdict(result, VERDICT_FAIL,
				   "%s: after lag, scale and offset, %.1f %% of the range remain "
				   "(bound %g %%).",
				   isnan(fit->line.correlation)
					   ? "The prediction is constant"
					   : "The prediction does not follow the actual values",
				   100 * errors->shape, most);
		return;
	case CAUSE_FROZEN:
	case CAUSE_NONE:
		break;
	}
}

static double worst_error(const struct result *result, const struct phase_result *whole)
{
	double worst = fmax(fabs(whole->error), result->errors.shape);
	for (size_t i = 0; i < result->phase_count; i++)
		worst = fmax(worst, fabs(result->phases[i].error)); /* fmax ignores NAN */
	return worst;
}

/* The first phase that decides nothing, or NULL. */
static const struct phase_result *undecided(const struct result *result,
					    const struct phase_result *whole)
{
	for (size_t i = 0; i < result->phase_count; i++)
		if (result->phases[i].verdict == VERDICT_INCONCLUSIVE)
			return &result->phases[i];
	return whole->verdict == VERDICT_INCONCLUSIVE ? whole : NULL;
}

/* Where only a phase is wrong, the numbers of the whole do not show it. */
static void name_worst_phase(struct result *result)
{
	const struct phase_result *worst = NULL;
	size_t len = strlen(result->reason);

	for (size_t i = 0; i < result->phase_count; i++) {
		const struct phase_result *phase = &result->phases[i];

		if (phase->verdict == VERDICT_FAIL &&
		    (!worst || fabs(phase->error) > fabs(worst->error)))
			worst = phase;
	}
	if (worst && len < sizeof(result->reason))
		(void)snprintf(result->reason + len, sizeof(result->reason) - len,
			       " The worst phase is \"%s\", with %+.2f %%.", worst->phase.name,
			       100 * worst->error);
}

static void explain_open(struct result *result, const struct phase_result *open)
{
	const struct threshold *threshold = &result->threshold;
	double most = threshold->max_error;
	char bound[THRESHOLD_TEXT_MAX];

	threshold_text(threshold, bound);
	if (isnan(open->error))
		result_set_verdict(
			result, VERDICT_INCONCLUSIVE,
			"Less than %.0f %% of \"%s\" has both actual and predicted values.",
			100 * (1 - UNPAIRED_MOST), open->phase.name);
	else if (threshold->truth_error > most && fabs(open->error) <= most)
		result_set_verdict(result, VERDICT_INCONCLUSIVE,
				   "Energies differ by %+.2f %%, but the truth's own error of ±%g "
				   "%% is larger than the bound (±%g %%): a better truth or a "
				   "larger bound is needed.",
				   100 * open->error, 100 * threshold->truth_error, 100 * most);
	else if (fabs(open->error) > most && fabs(open->error) <= most + threshold->truth_error)
		result_set_verdict(result, VERDICT_INCONCLUSIVE,
				   "The energy in \"%s\" differs by %+.2f %%, which is beyond the "
				   "bound, but not by more than the truth's own error (bound %s).",
				   open->phase.name, 100 * open->error, bound);
	else if (verdict_of_energies(open, threshold) == VERDICT_FAIL)
		result_set_verdict(result, VERDICT_INCONCLUSIVE,
				   "The energy in \"%s\" differs by %+.2f %% (bound %s), but the "
				   "times of the readings at its ends can explain that: a longer "
				   "--duration is needed.",
				   open->phase.name, 100 * open->error, bound);
	else
		result_set_verdict(result, VERDICT_INCONCLUSIVE,
				   "The 95 %% interval of the energy ratio in \"%s\" (%.4g to "
				   "%.4g) includes the bound (%s): more data are needed.",
				   open->phase.name, open->ratio_low, open->ratio_high, bound);
}

bool judge_phase_shows_swing(const struct result *result, const struct phase_result *phase,
			     double time_error_s)
{
	double mean = result->errors.actual / result->errors.paired_s;
	double length_s = phase->phase.end_s - phase->phase.start_s;
	double power = phase->actual / length_s;
	double unknown = result->threshold.max_error + result->threshold.truth_error +
			 2 * time_error_s / length_s;

	return SWING * fabs(power - mean) > unknown * power;
}

/*
 * Would a prediction with a wrong range of power, but the right energy, show in some phase? One
 * phase has nothing to compare with, however long it is: then energy alone is judged.
 */
static bool shows_swing(const struct result *result, double time_error_s)
{
	bool shows = result->phase_count <= 1;

	for (size_t i = 0; i < result->phase_count && !shows; i++)
		shows = judge_phase_shows_swing(result, &result->phases[i], time_error_s);
	return shows;
}

/* Only energies decide: all else is within what the times of the readings explain. */
static void decide_by_energies(struct result *result, const struct judgement *judgement,
			       const struct phase_result *whole)
{
	const struct errors *errors = &result->errors;
	bool varies = judgement->fit.spread > VARIES_BY * judgement->fit.range;

	result->error = fabs(whole->error);
	for (size_t i = 0; i < result->phase_count; i++)
		result->error = fmax(result->error, fabs(result->phases[i].error));
	result->has_short_phases =
		varies && !shows_swing(result, result->time_error_s) && shows_swing(result, 0);
	if (varies && !shows_swing(result, result->time_error_s))
		result_set_verdict(result, VERDICT_INCONCLUSIVE,
				   "Energies differ by %+.2f %%, but the exporter's readings are "
				   "known to within ±%.2f s only, and phases %s to show whether "
				   "its power follows: %.0f %% of the range remain. %s is needed.",
				   100 * whole->error, result->time_error_s,
				   result->has_short_phases ? "are too short"
							    : "differ too little in power",
				   100 * errors->shape,
				   result->has_short_phases ? "A longer --duration"
							    : "A machine with less other work");
	else
		result_set_verdict(result, VERDICT_PASS,
				   "Energies differ by %+.2f %%, in no phase by more than the "
				   "bound. %.0f %% of the range remain, which times of readings "
				   "that are known to within ±%.2f s explain in each stretch of "
				   "time.%s",
				   100 * whole->error, 100 * errors->shape, result->time_error_s,
				   varies && result->phase_count > 1
					   ? ""
					   : " No phase has another power than the rest, so a "
					     "wrong scale with an opposite offset would not show.");
}

static void decide(struct result *result, const struct judgement *judgement,
		   const struct phase_result *whole)
{
	const struct errors *errors = &result->errors;
	double max_error = result->threshold.max_error;
	double actual_s = errors->paired_s + errors->unpaired_actual_s;
	const struct phase_result *open = undecided(result, whole);
	bool energies = energies_are_wrong(result, whole);
	result->error = worst_error(result, whole);
	if (isnan(max_error)) {
		result_set_verdict(result, VERDICT_PASS, "The energy ratio is %.4g",
				   errors->energy_ratio);
		return;
	}
	if (errors->unpaired_actual_s > UNPAIRED_MOST * actual_s) {
		result_set_verdict(result, VERDICT_INCONCLUSIVE,
				   "%.0f %% of the actual series' time (%.0f s of %.0f s) is "
				   "without predicted values.",
				   100 * errors->unpaired_actual_s / actual_s,
				   errors->unpaired_actual_s, actual_s);
		return;
	}
	bool is_bent = threshold_verdict(&result->threshold, judgement->slope.low,
					 judgement->slope.high) == VERDICT_FAIL;
	bool is_explained = !energies && (errors->shape > max_error || is_bent) &&
			    !judgement->lag_is_too_long && result->time_error_s > 0 &&
			    reading_times_explain(result, judgement->lag_s,
						  max_error + result->threshold.truth_error,
						  SMALL * errors->range);
	if ((energies || errors->shape > max_error || judgement->lag_is_too_long) &&
	    !is_explained) {
		result->cause = cause_of(judgement, result, energies);
		explain(result, judgement);
		if (energies && whole->verdict != VERDICT_FAIL)
			name_worst_phase(result);
		return;
	}
	/* Differences that the times explain would otherwise count as a wrong slope. */
	if (!is_explained && slope_judge(&judgement->fit, &judgement->slope, result))
		return;
	if (open) {
		explain_open(result, open);
		return;
	}
	if (is_explained) {
		decide_by_energies(result, judgement, whole);
		return;
	}
	char bound[THRESHOLD_TEXT_MAX];
	threshold_text(&result->threshold, bound);
	bool varies = judgement->fit.spread > VARIES_BY * judgement->fit.range;
	result_set_verdict(result, VERDICT_PASS,
			   "Energies differ by %+.2f %%, in no phase by more than the bound (%s); "
			   "%.1f %% of the range remain after lag, scale and offset.%s",
			   100 * whole->error, bound, 100 * errors->shape,
			   varies ? ""
				  : " The power hardly varies, so a wrong scale with an opposite "
				    "offset would not show.");
}

/*
 * The whole time, and each phase. An own part that a gap falls into is not judged, nor a phase with
 * ends that the actual series does not resolve.
 */
static int judge_phases(struct result *result, const struct pairs *pairs, double range,
			bool are_given, struct phase_result *whole)
{
	const struct threshold *threshold = &result->threshold;
	int r = judge_phase(pairs, range, threshold, 0, whole);
	if (r == 0 && whole->verdict == VERDICT_FAIL && result->time_error_s > 0 &&
	    is_blurred(result, pairs, whole, true))
		whole->verdict = VERDICT_INCONCLUSIVE;
	for (size_t i = 0; r == 0 && i < result->phase_count; i++) {
		struct phase_result *phase = &result->phases[i];
		double length_s = phase->phase.end_s - phase->phase.start_s;
		r = judge_phase(pairs, range, threshold, (1 - UNPAIRED_MOST) * length_s, phase);
		if ((!are_given && isnan(phase->error)) ||
		    (phase->verdict != VERDICT_PASS && is_blurred(result, pairs, phase, false)))
			phase->verdict = VERDICT_NOT_APPLICABLE;
		else if (phase->verdict == VERDICT_FAIL && result->time_error_s > 0 &&
			 is_blurred(result, pairs, phase, true))
			phase->verdict = VERDICT_INCONCLUSIVE;
	}
	return r;
}

int judge_series(struct result *result, const struct phase *phases, size_t phase_count)
{
	CLEANUP(judgement_release) struct judgement judgement = { 0 };
	const struct pairs *pairs = &judgement.shifted;

	int r = look_at(result, &judgement);
	if (r == 0)
		r = set_errors(&judgement, &result->errors);
	if (r < 0)
		return r;
	result->has_errors = true;
	if (counter_form_judge(result))
		return 0;
	if (pairs->count < PAIRS_LEAST) {
		result_set_verdict(result, VERDICT_INCONCLUSIVE,
				   "Only %zu windows have actual and predicted values (%d are "
				   "needed); the actual series has %zu windows, the predicted "
				   "series %zu.",
				   pairs->count, PAIRS_LEAST, result->actual->count,
				   result->predicted->count);
		return 0;
	}
	if (!(judgement.fit.range > 0)) {
		result_set_verdict(result, VERDICT_NOT_APPLICABLE,
				   "The actual series is 0 throughout, as if its meter were "
				   "absent: there is nothing to compare with.");
		return 0;
	}
	const struct pair *last = &pairs->items[pairs->count - 1];
	struct phase_result whole = { .phase = { "all", pairs->items[0].start_s,
						 last->start_s + last->span_s } };
	r = use_phases(result, pairs, phases, phase_count);
	if (r == 0)
		r = judge_phases(result, pairs, judgement.fit.range, phase_count > 0, &whole);
	if (r == 0)
		decide(result, &judgement, &whole);
	return r;
}

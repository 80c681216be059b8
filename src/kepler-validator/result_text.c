// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/result_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define LABEL "  %-16s "

static void add_count(struct strbuf *out, uint64_t count, const char *what)
{
	if (count > 0)
		strbuf_addf(out, ", %" PRIu64 " %s", count, what);
}

static void add_series(struct strbuf *out, const char *label, const struct series *series)
{
	const struct series_dropped *dropped = &series->dropped;
	strbuf_addf(out, LABEL, label);
	strbuf_add_json(out, series->source);
	strbuf_addf(out, ": %" PRIu64 " samples", series->samples);
	add_count(out, dropped->not_finite, "not finite");
	add_count(out, dropped->duplicate, "duplicate");
	add_count(out, dropped->out_of_order, "out of order");
	add_count(out, dropped->reset, "resets");
	add_count(out, series->negative, "negative");
	add_count(out, series->gaps, "gaps");
	if (series->merged > 1)
		strbuf_addf(out, ", up to %" PRIu32 " merged into one", series->merged);
	strbuf_add_char(out, '\n');
	if (!series->name[0])
		return;
	strbuf_addf(out, LABEL, "");
	strbuf_add_json(out, series->query[0] ? series->query : series->name);
	strbuf_addf(out, " (%s, %s)\n", series->is_counter ? "counter" : "rate", series->unit);
}

static void add_fit(struct strbuf *out, const struct result *result)
{
	const struct errors *errors = &result->errors;
	const char *unit = result->actual->unit;
	if (isnan(errors->lag_s))
		strbuf_addf(out, LABEL "not known: the series do not rise and fall together\n",
			    "lag");
	else
		strbuf_addf(out, LABEL "%+.1f s (bound ±%g s)\n", "lag", errors->lag_s,
			    result->threshold.max_lag_s);
	if (isnan(errors->scale))
		strbuf_addf(out, LABEL "not known: the actual series is constant\n", "scale");
	else
		strbuf_addf(out, LABEL "%.4g\n" LABEL "%+.4g %s\n", "scale", errors->scale,
			    "offset", errors->offset, unit);
	strbuf_addf(out,
		    LABEL "%.2f %% of the range of %.4g %s remain after lag, scale and offset\n",
		    "shape", 100 * errors->shape, errors->range, unit);
	if (errors->saturated > 0)
		strbuf_addf(out, LABEL "in %.0f %% of the time\n", "saturation",
			    100 * errors->saturated);
}

static void add_errors(struct strbuf *out, const struct result *result)
{
	const struct errors *errors = &result->errors;
	const char *unit = result->actual->unit, *amount = amount_unit(unit);
	strbuf_addf(out, LABEL "%.6g %s actual, %.6g %s predicted\n", "energy", errors->actual,
		    amount, errors->predicted, amount);
	strbuf_addf(out, LABEL "%.5g", "energy ratio", errors->energy_ratio);
	if (!isnan(errors->ratio_low))
		strbuf_addf(out, " (95 %% interval %.5g to %.5g)", errors->ratio_low,
			    errors->ratio_high);
	strbuf_add_char(out, '\n');
	add_fit(out, result);
	strbuf_addf(out, LABEL "MAE %.4g %s, bias %+.4g %s, median APE %.2f %%, R² %.4f\n",
		    "errors", errors->mae, unit, errors->bias, unit, 100 * errors->median_ape,
		    errors->r2);
	strbuf_addf(out, LABEL "MSE %.4g, MAPE %.4g %%\n", "for comparison", errors->mse,
		    100 * errors->mape);
	strbuf_addf(out,
		    LABEL "%zu windows, %.6g s; without counterpart: actual %.6g s, predicted "
			  "%.6g s\n",
		    "paired", errors->pairs, errors->paired_s, errors->unpaired_actual_s,
		    errors->unpaired_predicted_s);
}

static void add_phases(struct strbuf *out, const struct result *result)
{
	const char *unit = amount_unit(result->actual->unit);
	for (size_t i = 0; i < result->phase_count; i++) {
		const struct phase_result *phase = &result->phases[i];
		strbuf_addf(out, "  %s", i == 0 ? "phases" : "      ");
		strbuf_addf(out, "           ");
		strbuf_add_json(out, phase->phase.name);
		if (isnan(phase->error))
			strbuf_addf(out, ": not covered by both series");
		else
			strbuf_addf(out, ": %.6g %s actual, %.6g %s predicted, %+.2f %%, %s",
				    phase->actual, unit, phase->predicted, unit, 100 * phase->error,
				    verdict_name(phase->verdict));
		strbuf_add_char(out, '\n');
	}
}

void result_text_add(struct strbuf *out, const struct result *result)
{
	strbuf_addf(out, "%s: ", verdict_name(result->verdict));
	strbuf_add_json(out, result->name);
	if (result->cause != CAUSE_NONE)
		strbuf_addf(out, " (cause: %s)", cause_name(result->cause));
	strbuf_addf(out, "\n  ");
	strbuf_add_json(out, result->reason);
	strbuf_add_char(out, '\n');
	if (result->actual)
		add_series(out, "actual", result->actual);
	if (result->predicted)
		add_series(out, "predicted", result->predicted);
	if (result->actual && result->has_errors && result->errors.pairs > 0) {
		add_errors(out, result);
		add_phases(out, result);
	}
}

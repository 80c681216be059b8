// SPDX-License-Identifier: Apache-2.0
/*
 * A model is tried along its load: all features that show load grow together, as they do on a
 * machine, from nothing to the highest of the training rows. Each alone may well lower the power at
 * the same of the others: more instructions in as many cycles stall less. Other features (a
 * frequency) are at the bottom, middle and top of their range meanwhile. Then each feature is tried
 * alone for results that are not numbers or beyond any machine.
 *
 * Forms that follow single rows (trees, neighbours) are not smooth, and may fall a little.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "model/feature.h"
#include "model/trained_model.h"

#define LOAD_STEPS  32
#define SETTINGS    3     /* of features other than load */
#define FALL_SMOOTH 0.01  /* of the highest power so far */
#define NEGATIVE_W  -1e-6 /* rounding error of 0 */

double model_fall_permitted(enum predictor_form form, double highest_w)
{
	bool follows_rows = form == PREDICTOR_TREES || form == PREDICTOR_NEIGHBOURS;

	return fmax((follows_rows ? MODEL_FALL_TREES : FALL_SMOOTH) * fabs(highest_w),
		    MODEL_FALL_LEAST_W);
}

/* A component under test. */
struct trial {
	const struct model_component *component;
	const char *model;
	bool is_load[PREDICTOR_FEATURES_MAX];
	double low[PREDICTOR_FEATURES_MAX], high[PREDICTOR_FEATURES_MAX];
	struct diag *diag;
};

static void open_trial(struct trial *trial, const struct model_component *component)
{
	bool any_load = false;

	trial->component = component;
	for (size_t i = 0; i < component->feature_count; i++) {
		const struct model_feature *feature = &component->features[i];
		const struct feature *known = feature_find(feature->name);

		trial->is_load[i] = known && known->is_load;
		any_load |= trial->is_load[i];
		trial->low[i] = feature->minimum > 0 ? feature->minimum : 0;
		trial->high[i] = isnan(feature->maximum) ? feature->scale : feature->maximum;
		if (!(trial->high[i] > trial->low[i]))
			trial->high[i] = trial->low[i];
	}
	for (size_t i = 0; i < component->feature_count; i++)
		trial->is_load[i] |= !any_load; /* names that nothing is known of */
}

static double between(double low, double high, double share)
{
	return low + (high - low) * share;
}

static void set_point(const struct trial *trial, double load, double setting, double *values)
{
	for (size_t i = 0; i < trial->component->feature_count; i++)
		values[i] = trial->is_load[i] ? trial->high[i] * load
					      : between(trial->low[i], trial->high[i], setting);
}

static double watts_at(const struct trial *trial, const double *values)
{
	bool outside;

	return model_component_form_watts(trial->component, values, &outside);
}

/* The feature of load that alone, on the way from @from to @to, lowers the power the most. */
static const char *culprit(const struct trial *trial, double from, double to, double setting)
{
	double values[PREDICTOR_FEATURES_MAX], worst = (double)INFINITY, watts;
	size_t found = 0;

	set_point(trial, from, setting, values);
	for (size_t i = 0; i < trial->component->feature_count; i++) {
		double before = values[i];

		if (!trial->is_load[i])
			continue;
		values[i] = trial->high[i] * to;
		watts = watts_at(trial, values);
		values[i] = before;
		if (watts < worst) {
			worst = watts;
			found = i;
		}
	}
	return trial->component->features[found].name;
}

static int check_value(const struct trial *trial, double watts, const char *feature, double value)
{
	if (isfinite(watts) && fabs(watts) <= MODEL_WATTS_MAX)
		return 0;
	return diag_set(trial->diag, -EINVAL,
			"model \"%s\": component \"%s\" gives %g W at %s = %g; a power must be "
			"finite and at most %g W",
			trial->model, trial->component->name, watts, feature, value,
			MODEL_WATTS_MAX);
}

/* At no load, where a machine's power cannot be negative. */
static int check_idle(const struct trial *trial, double setting)
{
	double values[PREDICTOR_FEATURES_MAX], watts;

	set_point(trial, 0, setting, values);
	watts = watts_at(trial, values);
	if (!(watts < NEGATIVE_W))
		return 0;
	return diag_set(trial->diag, -EINVAL,
			"model \"%s\": component \"%s\" gives an idle power of %g W, all features "
			"of load (%s, …) being 0; it must not be negative, unless the output is "
			"DynPower",
			trial->model, trial->component->name, watts,
			trial->component->features[0].name);
}

static int check_load(const struct trial *trial, double setting)
{
	double values[PREDICTOR_FEATURES_MAX] = { 0 };
	double highest = -(double)INFINITY, highest_at = 0, watts, load;
	size_t first = 0;
	int r;

	while (first + 1 < trial->component->feature_count && !trial->is_load[first])
		first++;
	for (unsigned step = 0; step <= LOAD_STEPS; step++) {
		load = (double)step / LOAD_STEPS;
		set_point(trial, load, setting, values);
		watts = watts_at(trial, values);
		r = check_value(trial, watts, trial->component->features[first].name,
				values[first]);
		if (r < 0)
			return r;
		if (watts > highest) {
			highest = watts;
			highest_at = load;
		}
		if (highest - watts >
		    model_fall_permitted(trial->component->predictor.form, highest))
			return diag_set(trial->diag, -EINVAL,
					"model \"%s\": component \"%s\" falls from %g W to %g W "
					"as the load grows from %.0f %% to %.0f %% of what it was "
					"trained on, by feature \"%s\"; more load must not draw "
					"less power",
					trial->model, trial->component->name, highest, watts,
					highest_at * 100, load * 100,
					culprit(trial, highest_at, load, setting));
	}
	return 0;
}

static int check_alone(const struct trial *trial, size_t feature)
{
	double values[PREDICTOR_FEATURES_MAX];
	int r = 0;

	set_point(trial, 0.5, 0.5, values);
	for (unsigned step = 0; step <= LOAD_STEPS && r == 0; step++) {
		values[feature] = between(trial->is_load[feature] ? 0 : trial->low[feature],
					  trial->high[feature], (double)step / LOAD_STEPS);
		r = check_value(trial, watts_at(trial, values),
				trial->component->features[feature].name, values[feature]);
	}
	return r;
}

static int check_component(const struct trained_model *model,
			   const struct model_component *component, struct diag *diag)
{
	struct trial trial = { .model = model->name, .diag = diag };
	int r = 0;

	open_trial(&trial, component);
	for (unsigned i = 0; i < SETTINGS && r == 0; i++) {
		double setting = (double)i / (SETTINGS - 1);

		if (model->output == MODEL_ABS_POWER)
			r = check_idle(&trial, setting);
		if (r == 0)
			r = check_load(&trial, setting);
	}
	for (size_t i = 0; i < component->feature_count && r == 0; i++)
		r = check_alone(&trial, i);
	return r;
}

int trained_model_check(const struct trained_model *model, struct diag *diag)
{
	struct diag why = { "" };
	int r = 0;

	if (model->component_count == 0)
		return diag_set(diag, -EINVAL, "model \"%s\" has no component", model->name);
	for (size_t i = 0; i < model->component_count && r == 0; i++) {
		const struct model_component *component = &model->components[i];

		if (component->feature_count != component->predictor.features)
			return diag_set(diag, -EINVAL,
					"model \"%s\": component \"%s\" has %zu features, its "
					"predictor %zu",
					model->name, component->name, component->feature_count,
					component->predictor.features);
		if (predictor_check(&component->predictor, &why) < 0)
			return diag_set(diag, -EINVAL, "model \"%s\": component \"%s\": %s",
					model->name, component->name, why.text);
		r = check_component(model, component, diag);
	}
	return r;
}

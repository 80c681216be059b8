// SPDX-License-Identifier: Apache-2.0
/*
 * A feature beyond the range that a model has seen is taken as at its edge, a tenth of the range
 * further out: no form may be extrapolated far. How far the form itself would go beyond that then
 * counts as error, and so does the error that it has inside once more.
 */
#include "model/trained_model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "model/feature.h"

#define EDGE_SHARE 0.1 /* of the range */
/* Times the highest power that the model has seen. */
#define HEADROOM 1.5
/* The bound of nine of ten errors of a normal distribution, over their mean: 1.645 / 0.798. */
#define BOUND_OF_MEAN 2.06

void trained_model_release(struct trained_model *model)
{
	for (size_t i = 0; i < model->component_count; i++) {
		predictor_release(&model->components[i].predictor);
		free(model->components[i].features);
	}
	free(model->components);
	memset(model, 0, sizeof(*model));
}

static int lack(const struct trained_model *model, const struct model_component *component,
		const char *feature, struct diag *diag)
{
	const char *option = feature_option(feature);

	return diag_set(diag, -ENOENT,
			"component \"%s\" of model \"%s\" needs the feature \"%s\", which is not "
			"available%s%s",
			component->name, model->name, feature,
			*option ? "; kepler has it with " : "", option);
}

int trained_model_bind(const struct trained_model *model, size_t component,
		       const char *const *names, size_t count, struct model_columns *ret,
		       struct diag *diag)
{
	const struct model_component *wanted = &model->components[component];
	struct model_columns columns = { 0 };

	for (size_t i = 0; i < wanted->feature_count; i++) {
		size_t column = 0;

		while (column < count && strcmp(names[column], wanted->features[i].name) != 0)
			column++;
		if (column == count)
			return lack(model, wanted, wanted->features[i].name, diag);
		columns.column[i] = column;
	}
	*ret = columns;
	return 0;
}

static double scaled(const struct model_feature *feature, double value)
{
	bool is_zero = !(feature->scale > 0) && !(feature->scale < 0);

	return is_zero ? 0 : value / feature->scale;
}

/*
 * @value moved into the permitted range; sets @outside if it was not. If only the highest is known
 * the range begins at 0. A value that is not a number is missing: trees have a branch for that.
 */
static double clamp_feature(const struct model_feature *feature, double value, bool *outside)
{
	double low = isnan(feature->minimum) && feature->maximum >= 0 ? 0 : feature->minimum;
	double edge = (feature->maximum - low) * EDGE_SHARE;

	if (isnan(value)) {
		*outside = true;
		return value;
	}
	if (value > feature->maximum + edge) { /* never if they are unknown */
		*outside = true;
		return feature->maximum + edge;
	}
	if (value < low - edge) {
		*outside = true;
		return low - edge;
	}
	return value;
}

static double form_watts(const struct model_component *component, const double *values, bool clamp,
			 bool *outside)
{
	bool takes_missing = component->predictor.form == PREDICTOR_TREES;
	double row[PREDICTOR_FEATURES_MAX];

	for (size_t i = 0; i < component->feature_count; i++) {
		const struct model_feature *feature = &component->features[i];
		double value = clamp_feature(feature, values[i], outside);

		row[i] = scaled(feature, clamp ? value : values[i]);
		if (isnan(row[i]) && !takes_missing)
			row[i] = 0;
	}
	return predictor_watts(&component->predictor, row);
}

double model_component_form_watts(const struct model_component *component, const double *values,
				  bool *outside)
{
	return form_watts(component, values, true, outside);
}

bool model_component_draws_power(const struct model_component *component)
{
	double values[PREDICTOR_FEATURES_MAX];
	bool outside = false;

	for (size_t i = 0; i < component->feature_count; i++) {
		const struct model_feature *feature = &component->features[i];

		values[i] = isnan(feature->maximum) ? feature->scale : feature->maximum;
	}
	return form_watts(component, values, true, &outside) > 0;
}

/* A form's result as a power: from 0 to the most that the component can draw. */
static double to_watts(const struct model_component *component, double value)
{
	double most = component->maximum_w > 0 ? component->maximum_w * HEADROOM : MODEL_WATTS_MAX;

	if (!(value > 0)) /* also NaN */
		return 0;
	return value < most ? value : most;
}

/* If a model states only its mean error, errors are assumed to be normally distributed. */
static double bound(const struct model_error *error, double watts)
{
	double relative = error->bound_ratio * watts;

	if (isnan(error->bound_w) && isnan(error->bound_ratio))
		return BOUND_OF_MEAN *
		       (isnan(error->mae_w) ? error->mape_percent / 100 * watts : error->mae_w);

	if (isnan(error->bound_w))
		return relative;
	return relative > error->bound_w ? relative : error->bound_w;
}

void trained_model_predict(const struct trained_model *model, size_t component,
			   const struct model_columns *columns, const double *values,
			   struct model_answer *ret)
{
	const struct model_component *wanted = &model->components[component];
	struct model_answer answer = { .outside = false };
	double row[PREDICTOR_FEATURES_MAX], far_w;

	for (size_t i = 0; i < wanted->feature_count; i++)
		row[i] = values[columns->column[i]];
	answer.watts = to_watts(wanted, form_watts(wanted, row, true, &answer.outside));
	answer.bound_w = bound(&wanted->error, answer.watts);
	if (answer.outside) {
		far_w = to_watts(wanted, form_watts(wanted, row, false, &answer.outside));
		answer.bound_w += answer.bound_w + fabs(far_w - answer.watts);
	}
	*ret = answer;
}

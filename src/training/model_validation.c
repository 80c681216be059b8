// SPDX-License-Identifier: Apache-2.0
#include "training/model_validation.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "samples/sample_table.h"

static void name_power(const struct trained_model *model, size_t component,
		       char ret[static SAMPLE_NAME_MAX])
{
	(void)snprintf(ret, SAMPLE_NAME_MAX, "%.80s_power", model->components[component].name);
}

int model_validation_begin(struct model_validation *ret, const struct trained_model *model,
			   size_t component, const char *const *names, size_t count,
			   struct diag *diag)
{
	char power[SAMPLE_NAME_MAX];

	*ret = (struct model_validation){ .model = model, .component = component };
	error_sums_init(&ret->sums);
	name_power(model, component, power);
	while (ret->power < count && strcmp(names[ret->power], power) != 0)
		ret->power++;
	if (ret->power == count)
		return diag_set(diag, -ENOENT, "there is no column %s with numbers", power);
	return trained_model_bind(model, component, names, count, &ret->columns, diag);
}

static bool is_whole(const struct model_validation *validation, const double *values)
{
	size_t features = validation->model->components[validation->component].feature_count;

	for (size_t i = 0; i < features; i++) {
		if (!isfinite(values[validation->columns.column[i]]))
			return false;
	}
	return isfinite(values[validation->power]);
}

int model_validation_add(struct model_validation *validation, const double *values)
{
	double watts = values[validation->power], error;
	size_t count = (size_t)validation->sums.rows;
	struct model_answer answer;

	if (!is_whole(validation, values))
		return 0;
	trained_model_predict(validation->model, validation->component, &validation->columns,
			      values, &answer);
	if (!isfinite(answer.watts))
		return 0;
	error = fabs(answer.watts - watts);
	if (ARRAY_RESERVE(validation->errors, validation->size, count + 1) < 0)
		return -ENOMEM;
	validation->errors[count] = error;
	error_sums_add(&validation->sums, watts, answer.watts);
	validation->inside += error <= answer.bound_w;
	return 0;
}

int model_validation_finish(const struct model_validation *validation, uint64_t seed,
			    struct training_result *ret, struct diag *diag)
{
	const struct model_error *error =
		&validation->model->components[validation->component].error;
	const struct error_sums *sums = &validation->sums;
	char power[SAMPLE_NAME_MAX];

	*ret = (struct training_result){ .bound = { error->bound_w, error->bound_ratio } };
	if (!sums->rows) {
		name_power(validation->model, validation->component, power);
		return diag_set(diag, -EINVAL, "no row has all features and %s", power);
	}
	error_sums_score(sums, &ret->score);
	ret->coverage = (double)validation->inside / (double)sums->rows;
	validation_interval(validation->errors, (size_t)sums->rows, seed, &ret->score.low_w,
			    &ret->score.high_w);
	return 0;
}

void model_validation_release(struct model_validation *validation)
{
	free(validation->errors);
	*validation = (struct model_validation){ .size = 0 };
}

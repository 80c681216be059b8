// SPDX-License-Identifier: Apache-2.0
#include "training/model_validation.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "samples/power_column.h"
#include "samples/sample_table.h"

int model_validation_begin(struct model_validation *ret, const struct trained_model *model,
			   size_t component, const char *const *names, size_t count,
			   struct diag *diag)
{
	char power[SAMPLE_NAME_MAX];

	*ret = (struct model_validation){ .model = model, .component = component };
	power_column(model->components[component].name, power);
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
	size_t row = validation->rows;
	double watts = values[validation->power];
	struct model_answer answer;

	if (!is_whole(validation, values))
		return 0;
	trained_model_predict(validation->model, validation->component, &validation->columns,
			      values, &answer);
	if (!isfinite(answer.watts))
		return 0;
	if (ARRAY_RESERVE(validation->watts, validation->size[0], row + 1) < 0 ||
	    ARRAY_RESERVE(validation->predicted_w, validation->size[1], row + 1) < 0)
		return -ENOMEM;
	validation->watts[row] = watts;
	validation->predicted_w[row] = answer.watts;
	validation->rows++;
	validation->inside += fabs(answer.watts - watts) <= answer.bound_w;
	return 0;
}

int model_validation_finish(const struct model_validation *validation, uint64_t seed,
			    struct training_result *ret, struct diag *diag)
{
	const struct model_error *error =
		&validation->model->components[validation->component].error;
	char power[SAMPLE_NAME_MAX];

	*ret = (struct training_result){ .bound = { error->bound_w, error->bound_ratio } };
	if (!validation->rows) {
		power_column(validation->model->components[validation->component].name, power);
		return diag_set(diag, -EINVAL, "no row has all features and %s", power);
	}
	ret->coverage = (double)validation->inside / (double)validation->rows;
	return validation_score(validation->watts, validation->predicted_w, validation->rows, seed,
				&ret->score) < 0
		       ? diag_set(diag, -ENOMEM, "out of memory")
		       : 0;
}

void model_validation_release(struct model_validation *validation)
{
	free(validation->watts);
	free(validation->predicted_w);
	*validation = (struct model_validation){ .rows = 0 };
}

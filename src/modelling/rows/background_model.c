// SPDX-License-Identifier: Apache-2.0
#include "modelling/rows/background_model.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "samples/power_column.h"

/* Columns of the background under the names of features. */
struct background_columns {
	const char *names[SAMPLE_COLUMNS_MAX];
	size_t columns[SAMPLE_COLUMNS_MAX];
	size_t count;
};

static void find_background(const struct sample_table *table, struct background_columns *ret)
{
	size_t before = strlen(BACKGROUND_PREFIX);

	ret->count = 0;
	for (size_t i = 0; i < table->column_count; i++) {
		if (strncmp(table->names[i], BACKGROUND_PREFIX, before) != 0)
			continue;
		ret->names[ret->count] = table->names[i] + before;
		ret->columns[ret->count++] = i;
	}
}

/* A component of a model, ready to predict the background's power. */
struct prediction {
	const struct sample_table *table;
	const struct background_columns *background;
	const struct trained_model *model;
	size_t component, power; /* the column with the measured power */
	struct model_columns bound;
};

/* 0; -ENODATA: the rows have no such power; -EINVAL: a feature is missing. */
static int prediction_open(struct prediction *ret, size_t component, struct diag *diag)
{
	char name[SAMPLE_NAME_MAX];

	power_column(ret->model->components[component].name, name);
	ret->component = component;
	ret->power = sample_table_find(ret->table, name);
	if (ret->power == SAMPLE_COLUMN_NONE)
		return -ENODATA;
	return trained_model_bind(ret->model, component, ret->background->names,
				  ret->background->count, &ret->bound, diag);
}

static double prediction_watts(const struct prediction *prediction, size_t row)
{
	const struct background_columns *background = prediction->background;
	double values[SAMPLE_COLUMNS_MAX];
	struct model_answer answer;

	for (size_t i = 0; i < background->count; i++)
		values[i] = prediction->table->columns[background->columns[i]][row];
	trained_model_predict(prediction->model, prediction->component, &prediction->bound, values,
			      &answer);
	return answer.watts;
}

/* ---- which model ---- */

/* Sums of pairs, for their correlation. */
struct pairs {
	double n, x, y, xx, yy, xy;
};

static void pairs_add(struct pairs *pairs, double x, double y)
{
	if (isnan(x) || isnan(y))
		return;
	pairs->n++;
	pairs->x += x;
	pairs->y += y;
	pairs->xx += x * x;
	pairs->yy += y * y;
	pairs->xy += x * y;
}

/* Pearson's; NAN where one of the two does not vary. */
static double pairs_correlation(const struct pairs *pairs)
{
	double x = pairs->n * pairs->xx - pairs->x * pairs->x;
	double y = pairs->n * pairs->yy - pairs->y * pairs->y;

	return x > 0 && y > 0 ? (pairs->n * pairs->xy - pairs->x * pairs->y) / sqrt(x * y)
			      : (double)NAN;
}

static double correlate(const double *x, const double *y, size_t count)
{
	struct pairs pairs = { 0 };

	for (size_t i = 0; i < count; i++)
		pairs_add(&pairs, x[i], y[i]);
	return pairs_correlation(&pairs);
}

/* The remaining power in a row: never negative, NAN if it was not measured. */
static double left_of(double power_w, double background_w)
{
	return isnan(power_w) ? power_w : fmax(power_w - background_w, 0);
}

/*
 * The correlation of the remaining power, which @left has room for, with the target's use: by the
 * feature that it follows best.
 */
static double correlation_of(const struct prediction *prediction, double *left)
{
	const struct sample_table *table = prediction->table;
	const struct model_component *component =
		&prediction->model->components[prediction->component];
	double most = (double)NAN;

	for (size_t row = 0; row < table->rows; row++)
		left[row] = left_of(table->columns[prediction->power][row],
				    prediction_watts(prediction, row));
	for (size_t i = 0; i < component->feature_count; i++) {
		size_t column = sample_table_find(table, component->features[i].name);

		if (column != SAMPLE_COLUMN_NONE) /* fmax() leaves a NAN out */
			most = fmax(most, correlate(table->columns[column], left, table->rows));
	}
	return most;
}

struct choice {
	const struct sample_table *table;
	const struct background_columns *background;
	double *left; /* room for a value a row */
	struct trained_model model;
	char name[MODEL_INPUT_NAME_MAX];
	double correlation, mae_w;
	bool is_found;
	struct diag why_not; /* the last model was not usable */
};

static bool follows(double correlation)
{
	return correlation >= BACKGROUND_CORRELATION_MIN;
}

static bool is_better(const struct choice *choice, double correlation, double mae_w)
{
	if (!choice->is_found || follows(correlation) != follows(choice->correlation))
		return !choice->is_found || follows(correlation);
	if (follows(correlation))
		return mae_w < choice->mae_w;
	return correlation > choice->correlation ||
	       (isnan(choice->correlation) && !isnan(correlation));
}

/*
 * Returns true if a component can be used. *ret_correlation: how well the remaining power follows
 * the target.
 */
static bool judge(struct choice *choice, const struct trained_model *model, double *ret_correlation)
{
	size_t usable = 0;

	*ret_correlation = (double)NAN;
	for (size_t i = 0; i < model->component_count; i++) {
		struct prediction prediction = { .table = choice->table,
						 .background = choice->background,
						 .model = model };

		if (prediction_open(&prediction, i, &choice->why_not) < 0)
			continue;
		usable++;
		*ret_correlation =
			fmax(*ret_correlation, correlation_of(&prediction, choice->left));
	}
	return usable > 0;
}

static int consider(void *userdata, const char *name, struct trained_model *model,
		    struct diag *diag)
{
	struct choice *choice = userdata;
	double correlation, mae_w = model_input_error(model);

	if (model->output != MODEL_ABS_POWER)
		return diag_set(diag, -EINVAL, "%s: not a model of the whole power (AbsPower)",
				name);
	if (!judge(choice, model, &correlation) || !is_better(choice, correlation, mae_w))
		return 0;
	trained_model_release(&choice->model);
	choice->model = *model;
	*model = (struct trained_model){ .node_type = -1 };
	(void)snprintf(choice->name, sizeof(choice->name), "%s", name);
	choice->correlation = correlation;
	choice->mae_w = mae_w;
	choice->is_found = true;
	return 0;
}

/* ---- its predictions ---- */

static double subtract(struct sample_table *table, const struct prediction *prediction)
{
	double sum = 0;

	for (size_t row = 0; row < table->rows; row++) {
		double watts = prediction_watts(prediction, row);
		double *cell = &table->columns[prediction->power][row];

		sum += watts;
		*cell = left_of(*cell, watts);
	}
	return table->rows ? sum / (double)table->rows : 0;
}

static void isolate(const struct choice *choice, struct sample_table *table,
		    struct background_model *ret)
{
	struct diag ignored = { "" };

	*ret = (struct background_model){ .correlation = choice->correlation };
	(void)snprintf(ret->name, sizeof(ret->name), "%s", choice->name);
	for (size_t i = 0; i < choice->model.component_count; i++) {
		struct prediction prediction = { .table = table,
						 .background = choice->background,
						 .model = &choice->model };

		if (prediction_open(&prediction, i, &ignored) < 0)
			continue;
		ret->powers[ret->count++] =
			(struct background_power){ prediction.power, subtract(table, &prediction) };
	}
}

int background_model_isolate(const char *path, const struct model_input_filter *filter,
			     struct sample_table *table, struct background_model *ret,
			     struct diag *diag)
{
	struct background_columns background;
	CLEANUP_FREE double *left = calloc(table->rows + 1, sizeof(*left));
	struct choice choice = { .table = table,
				 .background = &background,
				 .left = left,
				 .model = { .node_type = -1 } };
	int r;

	if (!left)
		return diag_set(diag, -ENOMEM, "out of memory");
	find_background(table, &background);
	r = model_input_each(path, filter, consider, &choice, diag);
	if (r == 0 && !choice.is_found)
		r = diag_set(diag, -ENODATA,
			     "%s: no model has a component and features that the rows have%s%.300s",
			     path, choice.why_not.text[0] ? ": " : "", choice.why_not.text);
	if (r == 0)
		isolate(&choice, table, ret);
	trained_model_release(&choice.model);
	return r;
}

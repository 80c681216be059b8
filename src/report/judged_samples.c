// SPDX-License-Identifier: Apache-2.0
#include "report/judged_samples.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "samples/power_column.h"

#define POINTS_MAX    4000  /* points of a picture that can be distinguished */
#define EXCHANGED_MAX 50000 /* rows on which importance is measured */

const struct model_component *judged_component(const struct judged *judged)
{
	return &judged->model->components[judged->component];
}

static void judged_release(struct judged *judged)
{
	free(judged->drawn);
	free(judged->values);
	free(judged->measured);
	free(judged->predicted);
}

bool judged_has_power(const struct judged *judged)
{
	return judged->power != SAMPLE_COLUMN_NONE;
}

/* Reads the features, in their order, and the power; false if one is unknown. */
static bool take_row(const struct judged *judged, const double *row, double *values, double *watts)
{
	size_t features = judged_component(judged)->feature_count;
	bool whole;

	*watts = judged_has_power(judged) ? row[judged->power] : 0;
	whole = isfinite(*watts);
	for (size_t f = 0; f < features; f++) {
		values[f] = row[judged->columns.column[f]];
		whole &= isfinite(values[f]) != 0;
	}
	return whole;
}

/* The features of a component are columns 0, 1, … of its own rows. */
static void own_columns(struct model_columns *ret)
{
	for (size_t f = 0; f < PREDICTOR_FEATURES_MAX; f++)
		ret->column[f] = f;
}

void judged_predict(const struct judged *judged, const double *values, struct model_answer *ret)
{
	struct model_columns columns;

	own_columns(&columns);
	trained_model_predict(judged->model, judged->component, &columns, values, ret);
}

static void add_error(struct judged_errors *errors, double predicted, double bound_w,
		      double measured)
{
	double error = fabs(predicted - measured);

	if (errors->rows++ == 0) {
		errors->low = (double)INFINITY;
		errors->high = -(double)INFINITY;
	}
	errors->covered += error <= bound_w;
	errors->absolute += error;
	errors->low = fmin(errors->low, measured);
	errors->high = fmax(errors->high, measured);
	if (measured > 0) {
		errors->relative += error / measured;
		errors->positive++;
	}
}

/* Takes a row of the first reading. */
static void judge_row(struct judged *judged, const double *row)
{
	double values[PREDICTOR_FEATURES_MAX], measured;
	struct model_answer answer;

	if (!take_row(judged, row, values, &measured)) {
		judged->left_out++;
		return;
	}
	judged_predict(judged, values, &answer);
	if (judged->rows++ == 0)
		judged->first_bound_w = answer.bound_w;
	judged->outside += answer.outside;
	for (size_t f = 0; f < judged_component(judged)->feature_count; f++)
		judged->most[f] = fmax(judged->most[f], values[f]);
	if (judged_has_power(judged))
		add_error(&judged->errors, answer.watts, answer.bound_w, measured);
}

static void finish_errors(struct judged_errors *errors)
{
	double rows = (double)errors->rows;

	errors->mae_w = errors->rows ? errors->absolute / rows : (double)NAN;
	errors->mape_percent =
		errors->positive ? 100 * errors->relative / (double)errors->positive : (double)NAN;
	errors->range_percent = errors->high > errors->low
					? 100 * errors->mae_w / (errors->high - errors->low)
					: (double)NAN;
}

/* The same sequence in each run, on each machine (xorshift64). */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Mean absolute error with feature @f exchanged among the rows. */
static double error_without(const struct judged *judged, size_t f, const size_t *exchanged)
{
	size_t features = judged_component(judged)->feature_count;
	double row_values[PREDICTOR_FEATURES_MAX], sum = 0;

	for (size_t row = 0; row < judged->exchanged; row++) {
		struct model_answer answer;

		memcpy(row_values, judged->values + row * features, features * sizeof(*row_values));
		row_values[f] = judged->values[exchanged[row] * features + f];
		judged_predict(judged, row_values, &answer);
		sum += fabs(answer.watts - judged->measured[row]);
	}
	return sum / (double)judged->exchanged;
}

/* Mean absolute error of rows with exchanged features. */
static double error_with_all(const struct judged *judged)
{
	double sum = 0;

	for (size_t row = 0; row < judged->exchanged; row++)
		sum += fabs(judged->predicted[row] - judged->measured[row]);
	return sum / (double)judged->exchanged;
}

static size_t *exchange(size_t rows)
{
	size_t *order = calloc(rows + 1, sizeof(*order));
	uint64_t state = 0x9e3779b97f4a7c15;

	for (size_t i = 0; order && i < rows; i++)
		order[i] = i;
	for (size_t i = rows; order && i > 1; i--) {
		size_t other = next_random(&state) % i;
		size_t kept = order[i - 1];

		order[i - 1] = order[other];
		order[other] = kept;
	}
	return order;
}

const struct judged_errors *judged_drawn_errors(const struct judged *judged)
{
	return judged->held_out.rows ? &judged->held_out : &judged->errors;
}

double judged_bin_width(const struct judged *judged)
{
	return 2 * fmax(4 * judged_drawn_errors(judged)->mae_w, 1e-6) / JUDGED_BINS;
}

static void add_to_histogram(struct judged *judged, double residual)
{
	double at = residual / judged_bin_width(judged) + JUDGED_BINS / 2.0;

	judged->counts[(size_t)fmin(fmax(at, 0), JUDGED_BINS - 1)]++;
}

int judged_importance(const struct judged *judged, double ret[static PREDICTOR_FEATURES_MAX])
{
	CLEANUP_FREE size_t *exchanged = exchange(judged->exchanged);
	double mae_w = error_with_all(judged);

	if (!exchanged)
		return -ENOMEM;
	for (size_t f = 0; f < judged_component(judged)->feature_count; f++)
		ret[f] = fmax(0, error_without(judged, f, exchanged) - mae_w);
	return 0;
}

static int begin(struct judged_samples *all, const struct trained_model *model,
		 const struct sample_table *samples, struct diag *diag)
{
	const char *names[SAMPLE_COLUMNS_MAX];
	int r = 0;

	sample_table_get_names(samples, names);
	for (size_t c = 0; r == 0 && c < model->component_count; c++) {
		struct judged *judged = &all->components[all->count++];
		char power[SAMPLE_NAME_MAX];

		power_column(model->components[c].name, power);
		*judged = (struct judged){ .model = model,
					   .component = c,
					   .power = sample_table_find(samples, power) };
		r = trained_model_bind(model, c, names, samples->column_count, &judged->columns,
				       diag);
	}
	return r;
}

/* Every how many rows one is taken, so that at most @most are. */
static size_t step_of(size_t rows, size_t most)
{
	return rows / most + 1;
}

/* Room for the rows of the second reading, when it is known how many there are. */
static int reserve(struct judged *judged)
{
	size_t drawn = judged->rows / step_of(judged->rows, POINTS_MAX) + 1;
	size_t exchanged = judged->rows / step_of(judged->rows, EXCHANGED_MAX) + 1;

	finish_errors(&judged->errors);
	if (!judged_has_power(judged))
		return 0;
	if (!judged->drawn)
		judged->drawn = calloc(drawn, sizeof(*judged->drawn));
	judged->values = calloc(exchanged * judged_component(judged)->feature_count + 1,
				sizeof(*judged->values));
	judged->measured = calloc(exchanged, sizeof(*judged->measured));
	judged->predicted = calloc(exchanged, sizeof(*judged->predicted));
	return judged->drawn && judged->values && judged->measured && judged->predicted ? 0
											: -ENOMEM;
}

/* Takes a row of the second reading. */
static void draw_row(struct judged *judged, const double *row)
{
	double values[PREDICTOR_FEATURES_MAX], measured;
	size_t order = judged->order++, features = judged_component(judged)->feature_count, at;
	struct model_answer answer;

	if (!judged_has_power(judged) || !take_row(judged, row, values, &measured))
		return;
	at = judged->row++;
	judged_predict(judged, values, &answer);
	if (!judged->held_out.rows) {
		add_to_histogram(judged, answer.watts - measured);
		if (at % step_of(judged->rows, POINTS_MAX) == 0)
			judged->drawn[judged->drawn_count++] =
				(struct drawn_row){ (double)order, measured, answer.watts };
	}
	if (at % step_of(judged->rows, EXCHANGED_MAX) == 0) {
		memcpy(judged->values + judged->exchanged * features, values,
		       features * sizeof(*values));
		judged->measured[judged->exchanged] = measured;
		judged->predicted[judged->exchanged++] = answer.watts;
	}
}

/* ---- predictions for samples while they were held out ---- */

struct held_out_pass {
	struct judged_samples *all;
	const struct sample_table *table;
	size_t power[MODEL_COMPONENTS_MAX], predicted[MODEL_COMPONENTS_MAX]; /* columns */
	bool draws; /* the second reading */
};

static size_t find_column(const struct sample_table *source, const char *component,
			  const char *suffix)
{
	char name[MODEL_NAME_MAX + sizeof("_held_out")];

	(void)snprintf(name, sizeof(name), "%s%s", component, suffix);
	return sample_table_find(source, name);
}

/* The model's bound around a prediction that it made while it was trained on fewer rows. */
static double bound_of(const struct judged *judged, double predicted)
{
	const struct model_error *error = &judged_component(judged)->error;

	return fmax(error->bound_w, error->bound_ratio * predicted);
}

static void draw_held_out(struct judged *judged, double predicted, double measured)
{
	size_t at = judged->held_row++;

	add_to_histogram(judged, predicted - measured);
	if (at < judged->held_out.rows && at % step_of(judged->held_out.rows, POINTS_MAX) == 0)
		judged->drawn[judged->drawn_count++] =
			(struct drawn_row){ (double)judged->held_order, measured, predicted };
}

static void take_held_out(const struct held_out_pass *pass, size_t row)
{
	for (size_t c = 0; c < pass->all->count; c++) {
		struct judged *judged = &pass->all->components[c];
		double predicted, measured;

		if (pass->power[c] == SAMPLE_COLUMN_NONE ||
		    pass->predicted[c] == SAMPLE_COLUMN_NONE)
			continue;
		predicted = pass->table->columns[pass->predicted[c]][row];
		measured = pass->table->columns[pass->power[c]][row];
		if (isfinite(predicted) && isfinite(measured)) {
			if (pass->draws)
				draw_held_out(judged, predicted, measured);
			else
				add_error(&judged->held_out, predicted, bound_of(judged, predicted),
					  measured);
		}
		judged->held_order += pass->draws;
	}
}

static int read_held_out(struct judged_samples *all, const struct sample_table *held_out)
{
	struct held_out_pass pass = { .all = all, .table = held_out };

	for (size_t c = 0; c < all->count; c++) {
		const char *component = judged_component(&all->components[c])->name;

		pass.power[c] = find_column(held_out, component, "_power");
		pass.predicted[c] = find_column(held_out, component, "_held_out");
	}
	for (size_t row = 0; row < held_out->rows; row++)
		take_held_out(&pass, row);
	for (size_t c = 0; c < all->count; c++) {
		struct judged *judged = &all->components[c];
		size_t points = judged->held_out.rows / step_of(judged->held_out.rows, POINTS_MAX);

		finish_errors(&judged->held_out);
		judged->drawn = calloc(points + 1, sizeof(*judged->drawn));
		if (!judged->drawn)
			return -ENOMEM;
	}
	pass.draws = true;
	for (size_t row = 0; row < held_out->rows; row++)
		take_held_out(&pass, row);
	return 0;
}

/* ---- all ---- */

static int read_twice(struct judged_samples *all, const struct sample_table *samples)
{
	double values[SAMPLE_COLUMNS_MAX];

	for (size_t row = 0; row < samples->rows; row++) {
		sample_table_get_row(samples, row, values);
		for (size_t c = 0; c < all->count; c++)
			judge_row(&all->components[c], values);
	}
	for (size_t c = 0; c < all->count; c++) {
		if (reserve(&all->components[c]) < 0)
			return -ENOMEM;
	}
	for (size_t row = 0; row < samples->rows; row++) {
		sample_table_get_row(samples, row, values);
		for (size_t c = 0; c < all->count; c++)
			draw_row(&all->components[c], values);
	}
	return 0;
}

int judged_samples_read(const struct trained_model *model, const struct sample_table *samples,
			const struct sample_table *held_out, struct judged_samples *ret,
			struct diag *diag)
{
	int r;

	ret->count = 0;
	r = begin(ret, model, samples, diag);
	if (r == 0 && held_out)
		r = read_held_out(ret, held_out);
	if (r == 0)
		r = read_twice(ret, samples);
	if (r < 0)
		judged_samples_release(ret);
	return r;
}

void judged_samples_release(struct judged_samples *samples)
{
	for (size_t c = 0; c < samples->count; c++)
		judged_release(&samples->components[c]);
	samples->count = 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "trainers/learner.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "samples/power_column.h"
#include "training/bounds.h"
#include "training/validation.h"

static size_t width_of(const struct learner *learner)
{
	return 1 + learner->features + learner->components;
}

static size_t main_load(const struct learner *learner)
{
	static const char *const names[] = { "bpf_cpu_time_ms", "cpu_cycles", "cpu_instructions" };

	for (size_t n = 0; n < ARRAY_SIZE(names); n++)
		for (size_t i = 0; i < learner->features; i++)
			if (strcmp(learner->columns[1 + i], names[n]) == 0)
				return i;
	return 0;
}

void learner_init(struct learner *learner, const char *name, const struct machine_spec *machine,
		  const char *const *features)
{
	*learner = (struct learner){ .machine = *machine };
	(void)snprintf(learner->name, sizeof(learner->name), "%s", name);
	(void)snprintf(learner->columns[0], SAMPLE_NAME_MAX, "timestamp");
	for (size_t i = 0; i < LEARNER_FEATURES_MAX && features[i]; i++) {
		(void)snprintf(learner->columns[1 + i], SAMPLE_NAME_MAX, "%s", features[i]);
		learner->features++;
	}
	learner->load = main_load(learner);
	drift_init(&learner->drift);
}

void learner_release(struct learner *learner)
{
	reservoir_release(&learner->reservoir);
	for (size_t i = 0; i < LEARNER_BLOCKS; i++)
		free(learner->held[i].rows);
	free(learner->open.rows);
	trained_model_release(&learner->current);
	*learner = (struct learner){ .features = 0 };
}

/* ---- rows that come ---- */

static void begin_learning(struct learner *learner)
{
	reservoir_release(&learner->reservoir);
	reservoir_init(&learner->reservoir, width_of(learner), 1);
	learner->fresh = 0;
}

/* The components with power in the first rows are used for all rows. */
static void find_components(struct learner *learner, const struct sample_table *table)
{
	char component[SAMPLE_NAME_MAX];

	for (size_t i = 0; i < table->column_count; i++) {
		if (learner->components < MODEL_COMPONENTS_MAX &&
		    power_column_is_used(table, i, component))
			(void)snprintf(
				learner->columns[1 + learner->features + learner->components++],
				SAMPLE_NAME_MAX, "%s", table->names[i]);
	}
	if (!learner->components)
		return;
	begin_learning(learner);
}

static int find_columns(const struct learner *learner, const struct sample_table *table,
			size_t ret[LEARNER_COLUMNS_MAX], struct diag *diag)
{
	for (size_t i = 0; i < width_of(learner); i++) {
		ret[i] = sample_table_find(table, learner->columns[i]);
		if (ret[i] == SAMPLE_COLUMN_NONE)
			return diag_set(diag, -ENODATA, "the rows have no %s", learner->columns[i]);
	}
	return 0;
}

/* ---- blocks ---- */

static int learn(struct learner *learner, const struct learner_block *block)
{
	size_t width = width_of(learner);
	int r = 0;

	for (size_t i = 0; r == 0 && i < block->count; i++) {
		const double *row = block->rows + i * width;

		r = reservoir_add(&learner->reservoir, row[1 + learner->load], row);
		learner->learned += r == 0;
	}
	learner->fresh++;
	return r;
}

struct bound_model {
	const struct trained_model *model;
	size_t component[MODEL_COMPONENTS_MAX]; /* of the model, for each of the learner */
	struct model_columns columns[MODEL_COMPONENTS_MAX];
};

static int bind(const struct learner *learner, const struct trained_model *model,
		struct bound_model *ret, struct diag *diag)
{
	const char *names[LEARNER_FEATURES_MAX];
	int r = 0;

	ret->model = model;
	for (size_t i = 0; i < learner->features; i++)
		names[i] = learner->columns[1 + i];
	for (size_t c = 0; r == 0 && c < learner->components; c++) {
		char component[SAMPLE_NAME_MAX] = "";
		size_t i = 0;

		(void)power_column_component(learner->columns[1 + learner->features + c],
					     component);
		while (i < model->component_count &&
		       strcmp(model->components[i].name, component) != 0)
			i++;
		if (i == model->component_count)
			return diag_set(diag, -ENOENT, "the model has no %s", component);
		ret->component[c] = i;
		r = trained_model_bind(model, i, names, learner->features, &ret->columns[c], diag);
	}
	return r;
}

static double predict(const struct bound_model *bound, size_t c, const double *row)
{
	struct model_answer answer;

	trained_model_predict(bound->model, bound->component[c], &bound->columns[c], row + 1,
			      &answer);
	return answer.watts;
}

static double block_error(const struct learner *learner, const struct bound_model *bound,
			  const struct learner_block *block)
{
	double sum = 0;

	for (size_t i = 0; i < block->count; i++) {
		const double *row = block->rows + i * width_of(learner);

		for (size_t c = 0; c < learner->components; c++)
			sum += fabs(predict(bound, c, row) - row[1 + learner->features + c]);
	}
	return sum / (double)block->count;
}

static bool note_drift(struct learner *learner, const struct learner_block *block)
{
	struct bound_model bound = { .model = NULL };
	struct diag diag = { "" };
	double stated_w = 0;

	if (!learner->has_current || bind(learner, &learner->current, &bound, &diag) < 0)
		return false;
	for (size_t c = 0; c < learner->components; c++)
		stated_w += learner->current.components[bound.component[c]].error.mae_w;
	return drift_take(&learner->drift, block_error(learner, &bound, block), stated_w);
}

/* Removes the held-out blocks except the newest @count. */
static void forget_held(struct learner *learner, size_t count)
{
	size_t away = learner->held_count > count ? learner->held_count - count : 0;

	for (size_t i = 0; i < away; i++)
		free(learner->held[i].rows);
	for (size_t i = 0; i < LEARNER_BLOCKS; i++)
		learner->held[i] = i + away < learner->held_count
					   ? learner->held[i + away]
					   : (struct learner_block){ NULL, 0 };
	learner->held_count -= away;
}

int learner_close_block(struct learner *learner)
{
	struct learner_block block = learner->open;
	int r = 0;

	if (block.count < LEARNER_BLOCK_ROWS_MIN)
		return 0;
	learner->open = (struct learner_block){ NULL, 0 };
	if (note_drift(learner, &block)) {
		learner->alarm_began = true;
		begin_learning(learner);
		forget_held(learner, learner->drift.run - 1);
	}
	if (learner->held_count == LEARNER_BLOCKS) {
		r = learn(learner, &learner->held[0]);
		forget_held(learner, LEARNER_BLOCKS - 1);
	}
	learner->held[learner->held_count++] = block;
	return r < 0 ? r : 1;
}

/* ---- rows, in turn ---- */

static int reserve_block(const struct learner *learner, struct learner_block *block)
{
	size_t width = width_of(learner);

	if (!block->rows)
		block->rows = calloc(LEARNER_BLOCK_ROWS, (width ? width : 1) * sizeof(double));
	return block->rows ? 0 : -ENOMEM;
}

static int take_row(struct learner *learner, const struct sample_table *table, size_t row,
		    const size_t *columns)
{
	size_t width = width_of(learner);
	double *to;
	int r = 0;

	if (learner->open.count == LEARNER_BLOCK_ROWS)
		r = learner_close_block(learner);
	if (r >= 0)
		r = reserve_block(learner, &learner->open);
	if (r < 0)
		return r;
	to = learner->open.rows + learner->open.count * width;
	for (size_t i = 0; i < width; i++) {
		to[i] = table->columns[columns[i]][row];
		if (!isfinite(to[i]) || to[i] < 0) {
			learner->left_out++;
			return 0;
		}
	}
	learner->open.count++;
	learner->taken++;
	return 0;
}

int learner_take(struct learner *learner, const struct sample_table *table, double *until_s,
		 double end_s, struct diag *diag)
{
	size_t columns[LEARNER_COLUMNS_MAX] = { 0 };
	double after_s = *until_s;
	int r;

	if (!learner->components)
		find_components(learner, table);
	if (!learner->components)
		return diag_set(diag, -ENODATA, "the rows have no power above 0");
	r = find_columns(learner, table, columns, diag);
	for (size_t row = 0; r == 0 && row < table->rows; row++) {
		double time_s = table->columns[columns[0]][row];

		if (!(time_s > after_s))
			continue;
		if (time_s > end_s) {
			learner->left_out++;
			continue;
		}
		*until_s = fmax(*until_s, time_s);
		r = take_row(learner, table, row, columns);
	}
	return r;
}

/* ---- models ---- */

static int by_time(const void *a, const void *b)
{
	double one = **(const double *const *)a, other = **(const double *const *)b;

	return (one > other) - (one < other);
}

int learner_write_rows(const struct learner *learner, struct strbuf *out)
{
	size_t width = width_of(learner), count = reservoir_count(&learner->reservoir), n = 0;
	CLEANUP_FREE const double **order = calloc(count + 1, sizeof(const double *));
	const char *names[LEARNER_COLUMNS_MAX];

	if (!order)
		return -ENOMEM;
	for (size_t s = 0; s < RESERVOIR_STRATA; s++)
		for (size_t i = 0; i < learner->reservoir.count[s]; i++)
			order[n++] = learner->reservoir.rows[s] + i * width;
	qsort(order, n, sizeof(const double *), by_time);
	for (size_t i = 0; i < width; i++)
		names[i] = learner->columns[i];
	sample_csv_add_names(names, width, out);
	for (size_t row = 0; row < n; row++)
		sample_csv_add_row(order[row], width, out);
	return strbuf_error(out);
}

int learner_judge(const struct learner *learner, const struct trained_model *model,
		  double ret[LEARNER_BLOCKS], struct diag *diag)
{
	struct bound_model bound = { .model = NULL };
	int r = bind(learner, model, &bound, diag);

	for (size_t i = 0; r == 0 && i < learner->held_count; i++)
		ret[i] = block_error(learner, &bound, &learner->held[i]);
	return r;
}

static int state_one(const struct learner *learner, const struct bound_model *bound, size_t c,
		     double *watts, double *predicted, struct model_error *ret)
{
	struct validation_score score;
	struct error_bound width;
	size_t count = 0;
	int r;

	for (size_t b = 0; b < learner->held_count; b++) {
		for (size_t i = 0; i < learner->held[b].count; i++) {
			const double *row = learner->held[b].rows + i * width_of(learner);

			watts[count] = row[1 + learner->features + c];
			predicted[count++] = predict(bound, c, row);
		}
	}
	if (!count)
		return -ENOENT;
	r = validation_score(watts, predicted, count, 1, &score);
	if (r == 0)
		r = bounds_find(watts, predicted, count, &width);
	if (r == 0)
		*ret = (struct model_error){ score.mae_w,   score.mape_percent,
					     width.bound_w, width.bound_ratio,
					     count,         true };
	return r;
}

int learner_state_error(const struct learner *learner, struct trained_model *model,
			struct diag *diag)
{
	CLEANUP_FREE double *numbers =
		calloc(2ULL * LEARNER_BLOCKS * LEARNER_BLOCK_ROWS, sizeof(*numbers));
	struct bound_model bound = { .model = NULL };
	int r = numbers ? bind(learner, model, &bound, diag) : -ENOMEM;

	for (size_t c = 0; r == 0 && c < learner->components; c++)
		r = state_one(learner, &bound, c, numbers,
			      numbers + (size_t)LEARNER_BLOCKS * LEARNER_BLOCK_ROWS,
			      &model->components[bound.component[c]].error);
	return r;
}

// SPDX-License-Identifier: Apache-2.0
#include "training/streamed_rows.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "model/feature.h"
#include "samples/sample_table.h"
#include "training/random.h"
#include "training/training_rows.h"

#define GROUPS 1024

static int find_column(const struct streamed_table *table, const char *name, size_t *ret,
		       struct diag *diag)
{
	for (size_t i = 0; i < table->spool->columns; i++) {
		if (strcmp(table->names[i], name) == 0) {
			*ret = i;
			return 0;
		}
	}
	return diag_set(diag, -ENOENT, "there is no column %.95s with numbers", name);
}

uint64_t streamed_rows_batches(const struct streamed_rows *rows)
{
	return (rows->table->spool->rows + STREAM_BATCH - 1) / STREAM_BATCH;
}

static uint32_t group_of(const struct streamed_rows *rows, uint64_t row, const double *raw)
{
	uint64_t all = rows->table->spool->rows;
	struct random random = { rows->seed + row };

	if (rows->kind == FOLDS_GROUPS)
		return (uint32_t)raw[rows->table->group_column];
	if (rows->kind == FOLDS_RANDOM)
		return (uint32_t)random_below(&random, rows->group_count);
	return (uint32_t)((unsigned __int128)row * rows->group_count / all);
}

static bool take_row(const struct streamed_rows *rows, const double *raw, double *x, double *y)
{
	*y = raw[rows->power_column];
	for (size_t i = 0; i < rows->feature_count; i++) {
		x[i] = raw[rows->column[i]] / rows->features[i].scale;
		if (!isfinite(x[i]))
			return false;
	}
	return isfinite(*y);
}

int streamed_rows_read(struct streamed_rows *rows, uint64_t batch, struct streamed_batch *ret,
		       struct diag *diag)
{
	const struct sample_spool *spool = rows->table->spool;
	uint64_t first = batch * STREAM_BATCH, left = spool->rows - first;
	size_t count = left < STREAM_BATCH ? (size_t)left : STREAM_BATCH;
	int r = sample_spool_read(spool, first, count, rows->raw, diag);

	ret->rows = 0;
	for (size_t i = 0; r == 0 && i < count; i++) {
		const double *raw = rows->raw + i * spool->columns;
		size_t at = ret->rows;

		if (!take_row(rows, raw, ret->x + at * rows->feature_count, &ret->y[at]))
			continue;
		ret->group[at] = group_of(rows, first + i, raw);
		ret->rows++;
	}
	return r;
}

static void add_ranges(struct streamed_rows *rows, const struct streamed_batch *batch)
{
	for (size_t row = 0; row < batch->rows; row++) {
		rows->minimum_w = fmin(rows->minimum_w, batch->y[row]);
		rows->maximum_w = fmax(rows->maximum_w, batch->y[row]);
		rows->mean_w += (batch->y[row] - rows->mean_w) / (double)++rows->rows;
		for (size_t i = 0; i < rows->feature_count; i++) {
			struct model_feature *feature = &rows->features[i];
			double value = batch->x[row * rows->feature_count + i];

			feature->minimum = fmin(feature->minimum, value);
			feature->maximum = fmax(feature->maximum, value);
		}
	}
}

static int find_ranges(struct streamed_rows *rows, struct diag *diag)
{
	CLEANUP_FREE struct streamed_batch *batch = calloc(1, sizeof(*batch));
	uint64_t batches = streamed_rows_batches(rows);
	int r = batch ? 0 : -ENOMEM;

	rows->minimum_w = (double)INFINITY;
	rows->maximum_w = -(double)INFINITY;
	for (size_t i = 0; i < rows->feature_count; i++) {
		rows->features[i].scale = 1;
		rows->features[i].minimum = (double)INFINITY;
		rows->features[i].maximum = -(double)INFINITY;
	}
	for (uint64_t i = 0; r == 0 && i < batches; i++) {
		r = streamed_rows_read(rows, i, batch, diag);
		if (r == 0)
			add_ranges(rows, batch);
	}
	rows->left_out = rows->table->spool->rows - rows->rows;
	for (size_t i = 0; i < rows->feature_count; i++) {
		struct model_feature *feature = &rows->features[i];

		feature->scale = fmax(fabs(feature->minimum), fabs(feature->maximum));
		if (!(feature->scale > 0))
			feature->scale = 1;
	}
	return r;
}

/* Deals the groups to the folds, as rows in memory are. */
static int deal_groups(struct streamed_rows *rows, const struct validation_plan *plan,
		       struct diag *diag)
{
	uint64_t all = rows->table->spool->rows;
	struct validation_plan of_groups = *plan;
	CLEANUP_FREE double *numbers = NULL;

	rows->group_count = all < GROUPS ? (size_t)all : GROUPS;
	if (plan->kind == FOLDS_GROUPS)
		rows->group_count = rows->table->group_count;
	numbers = calloc(rows->group_count + 1, sizeof(*numbers));
	rows->fold = calloc(rows->group_count + 1, sizeof(*rows->fold));
	if (!numbers || !rows->fold)
		return -ENOMEM;
	for (size_t i = 0; i < rows->group_count; i++)
		numbers[i] = (double)i;
	of_groups.group = numbers;
	return validation_folds(&of_groups, rows->group_count, rows->fold, diag);
}

static int open_rows(struct streamed_rows *rows, const char *const *features, const char *component,
		     const struct validation_plan *plan, struct diag *diag)
{
	char name[SAMPLE_NAME_MAX];
	int r;

	(void)snprintf(name, sizeof(name), "%.80s_power", component);
	r = find_column(rows->table, name, &rows->power_column, diag);
	for (size_t i = 0; r == 0 && i < rows->feature_count; i++)
		r = find_column(rows->table, features[i], &rows->column[i], diag);
	rows->raw = calloc(rows->table->spool->columns * STREAM_BATCH, sizeof(*rows->raw));
	if (r == 0 && !rows->raw)
		r = -ENOMEM;
	training_rows_name(features, rows->feature_count, rows->features, rows->is_load,
			   rows->grows);
	rows->ratio_count = feature_ratios(features, rows->feature_count, rows->ratios);
	rows->main_feature = feature_main(features, rows->feature_count, component);
	if (r == 0)
		r = deal_groups(rows, plan, diag);
	if (r == 0)
		r = find_ranges(rows, diag);
	if (r == 0 && rows->rows == 0)
		return diag_set(diag, -EINVAL,
				"none of %llu rows has all features and the power of %.80s",
				(unsigned long long)rows->table->spool->rows, component);
	return r;
}

int streamed_rows_open(const struct streamed_table *table, const char *const *features,
		       size_t count, const char *component, const struct validation_plan *plan,
		       struct streamed_rows *ret, struct diag *diag)
{
	int r;

	if (count == 0 || count > PREDICTOR_FEATURES_MAX)
		return diag_set(diag, -EINVAL, "there are %zu features, not 1 to %d", count,
				PREDICTOR_FEATURES_MAX);
	*ret = (struct streamed_rows){ .table = table, .kind = plan->kind, .seed = plan->seed };
	ret->feature_count = count;
	r = open_rows(ret, features, component, plan, diag);
	if (r < 0)
		streamed_rows_release(ret);
	return r;
}

void streamed_rows_release(struct streamed_rows *rows)
{
	free(rows->fold);
	free(rows->raw);
	rows->fold = NULL;
	rows->raw = NULL;
}

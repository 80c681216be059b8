// SPDX-License-Identifier: Apache-2.0
#include "training/training_rows.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "model/feature.h"
#include "model/recent_mean.h"
#include "samples/power_column.h"

static int find_column(const struct sample_table *table, const char *name, const double **ret,
		       struct diag *diag)
{
	size_t column = sample_table_find(table, name);

	if (column == SAMPLE_COLUMN_NONE)
		return diag_set(diag, -ENOENT, "there is no column %.95s with numbers", name);
	*ret = table->columns[column];
	return 0;
}

static bool is_whole(const double *const *columns, size_t count, const double *power, size_t row)
{
	for (size_t i = 0; i < count; i++) {
		if (!isfinite(columns[i][row]))
			return false;
	}
	return isfinite(power[row]);
}

static int reserve(struct training_rows *rows, size_t features, size_t size)
{
	size_t room = size ? size : 1;

	rows->features = calloc(features, sizeof(*rows->features));
	rows->is_load = calloc(features, sizeof(*rows->is_load));
	rows->grows = calloc(features, sizeof(*rows->grows));
	rows->x = calloc(room * features, sizeof(*rows->x));
	rows->y = calloc(room, sizeof(*rows->y));
	rows->source = calloc(room, sizeof(*rows->source));
	rows->feature_count = features;
	return rows->features && rows->is_load && rows->grows && rows->x && rows->y && rows->source
		       ? 0
		       : -ENOMEM;
}

static void scale(struct training_rows *rows, size_t i)
{
	struct model_feature *feature = &rows->features[i];

	feature->minimum = (double)INFINITY;
	feature->maximum = -(double)INFINITY;
	for (size_t row = 0; row < rows->rows; row++) {
		double value = rows->x[row * rows->feature_count + i];

		feature->minimum = fmin(feature->minimum, value);
		feature->maximum = fmax(feature->maximum, value);
	}
	feature->scale = fmax(fabs(feature->minimum), fabs(feature->maximum));
	if (!(feature->scale > 0))
		feature->scale = 1;
	for (size_t row = 0; row < rows->rows; row++)
		rows->x[row * rows->feature_count + i] /= feature->scale;
}

static void fill(struct training_rows *rows, const double *const *columns, const double *power,
		 size_t size)
{
	for (size_t row = 0; row < size; row++) {
		if (!is_whole(columns, rows->feature_count, power, row)) {
			rows->left_out++;
			continue;
		}
		for (size_t i = 0; i < rows->feature_count; i++)
			rows->x[rows->rows * rows->feature_count + i] = columns[i][row];
		rows->source[rows->rows] = (uint32_t)row;
		rows->y[rows->rows++] = power[row];
	}
	for (size_t i = 0; i < rows->feature_count; i++)
		scale(rows, i);
}

void training_rows_name(const char *const *names, size_t count, struct model_feature *features,
			bool *is_load, bool *grows)
{
	size_t cycles = count;

	for (size_t i = 0; i < count; i++) {
		const struct feature *known = feature_find(names[i]);

		(void)snprintf(features[i].name, sizeof(features[i].name), "%s", names[i]);
		grows[i] = known && known->is_load;
		/* After a high load the power of the same load can be less. */
		is_load[i] = grows[i] && !recent_mean_parse(names[i], NULL);
		if (strcmp(names[i], "cpu_cycles") == 0)
			cycles = i;
	}
	/* If cycles are known, they alone are the load. */
	for (size_t i = 0; cycles < count && i < count; i++)
		is_load[i] = i == cycles;
}

int training_rows_describe(const struct training_rows *rows, struct model_component *ret)
{
	ret->features = calloc(rows->feature_count, sizeof(*ret->features));
	if (!ret->features)
		return -ENOMEM;
	ret->feature_count = rows->feature_count;
	memcpy(ret->features, rows->features, rows->feature_count * sizeof(*ret->features));
	return 0;
}

int training_rows_read(const struct sample_table *table, const char *const *features, size_t count,
		       const char *component, struct training_rows *ret, struct diag *diag)
{
	CLEANUP(training_rows_release) struct training_rows rows = { .rows = 0 };
	CLEANUP_FREE const double **columns = calloc(count + 1, sizeof(*columns));
	char name[SAMPLE_NAME_MAX];
	const double *power = NULL;
	int r;

	if (count == 0 || count > PREDICTOR_FEATURES_MAX)
		return diag_set(diag, -EINVAL, "there are %zu features, not 1 to %d", count,
				PREDICTOR_FEATURES_MAX);
	power_column(component, name);
	r = columns ? find_column(table, name, &power, diag) : -ENOMEM;
	for (size_t i = 0; r == 0 && i < count; i++)
		r = find_column(table, features[i], &columns[i], diag);
	if (r == 0)
		r = reserve(&rows, count, table->rows);
	if (r < 0 || !rows.is_load || !rows.grows)
		return r;
	training_rows_name(features, count, rows.features, rows.is_load, rows.grows);
	rows.ratio_count = feature_ratios(features, count, rows.ratios);
	rows.main_feature = feature_main(features, count, component);
	fill(&rows, columns, power, table->rows);
	if (rows.rows == 0)
		return diag_set(diag, -EINVAL,
				"none of %zu rows has all features and the power of %.80s",
				table->rows, component);
	*ret = rows;
	rows = (struct training_rows){ .rows = 0 };
	return 0;
}

void training_rows_release(struct training_rows *rows)
{
	free(rows->features);
	free(rows->is_load);
	free(rows->grows);
	free(rows->x);
	free(rows->y);
	free(rows->source);
	*rows = (struct training_rows){ .rows = 0 };
}

int training_rows_take(const struct training_rows *rows, const bool *is_in, bool wanted,
		       struct training_part *ret)
{
	size_t n = rows->feature_count;

	*ret = (struct training_part){ .x = calloc(rows->rows * n, sizeof(*ret->x)),
				       .y = calloc(rows->rows, sizeof(*ret->y)) };
	if (!ret->x || !ret->y) {
		training_part_release(ret);
		return -ENOMEM;
	}
	for (size_t row = 0; row < rows->rows; row++) {
		if (is_in[row] != wanted)
			continue;
		memcpy(ret->x + ret->rows * n, rows->x + row * n, n * sizeof(*ret->x));
		ret->y[ret->rows++] = rows->y[row];
	}
	return 0;
}

void training_part_release(struct training_part *part)
{
	free(part->x);
	free(part->y);
	*part = (struct training_part){ .rows = 0 };
}

struct training_task training_task_of(const struct training_rows *rows,
				      const struct training_part *part, uint64_t seed)
{
	return (struct training_task){
		.x = part ? part->x : rows->x,
		.y = part ? part->y : rows->y,
		.rows = part ? part->rows : rows->rows,
		.features = rows->feature_count,
		.main_feature = rows->main_feature,
		.is_load = rows->is_load,
		.grows = rows->grows,
		.ratios = rows->ratios,
		.ratio_count = rows->ratio_count,
		.is_dynamic = rows->is_dynamic,
		.seed = seed,
	};
}

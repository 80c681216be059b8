// SPDX-License-Identifier: Apache-2.0
#include "training/recent_columns.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "model/recent_mean.h"

static void fill(struct sample_table *table, size_t column, size_t feature, size_t time,
		 unsigned seconds)
{
	struct recent_mean mean = { .has_value = false };

	for (size_t row = 0; row < table->rows; row++) {
		double now_s = table->columns[time][row], value = table->columns[feature][row];

		if (isfinite(now_s) && isfinite(value))
			table->columns[column][row] = recent_mean_add(&mean, seconds, now_s, value);
	}
}

int recent_columns_add(struct sample_table *table, const char *name, struct diag *diag)
{
	char feature[SAMPLE_NAME_MAX];
	unsigned seconds = 0;
	size_t len = recent_mean_parse(name, &seconds), from, time, column = 0;
	int r;

	if (sample_table_find(table, name) != SAMPLE_COLUMN_NONE)
		return 0;
	if (!len || len >= sizeof(feature))
		return diag_set(diag, -EINVAL, "%.95s is not the name of a recent mean", name);
	(void)snprintf(feature, sizeof(feature), "%.*s", (int)len, name);
	from = sample_table_find(table, feature);
	time = sample_table_find(table, "timestamp");
	if (from == SAMPLE_COLUMN_NONE || time == SAMPLE_COLUMN_NONE)
		return diag_set(diag, -ENOENT,
				"%.95s cannot be computed: the rows have no column %.95s", name,
				from == SAMPLE_COLUMN_NONE ? feature : "timestamp");
	r = sample_table_add_column(table, name, &column);
	if (r < 0)
		return diag_set(diag, r, "%.95s: no more columns", name);
	fill(table, column, from, time, seconds);
	return 0;
}

int recent_columns_add_of_model(struct sample_table *table, const struct trained_model *model,
				struct diag *diag)
{
	int r = 0;

	for (size_t c = 0; c < model->component_count; c++) {
		const struct model_component *component = &model->components[c];

		for (size_t i = 0; i < component->feature_count && r == 0; i++) {
			if (!recent_mean_parse(component->features[i].name, NULL))
				continue;
			r = recent_columns_add(table, component->features[i].name, diag);
			/* The judgement of the model then names what is missing. */
			if (r == -ENOENT)
				r = 0;
		}
	}
	return r;
}

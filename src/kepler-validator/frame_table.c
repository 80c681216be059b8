// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/frame_table.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/macro.h"

static void add_row(struct result_table *table, const char *name, double cpu_s, double actual_j,
		    double charged_j)
{
	double *cells = table->rows[table->row_count].cells;

	(void)snprintf(table->rows[table->row_count].name, sizeof(table->rows[0].name), "%s", name);
	table->row_count++;
	cells[0] = cpu_s;
	cells[1] = actual_j;
	cells[2] = charged_j;
	cells[3] = charged_j - actual_j;
	cells[4] = charged_j / actual_j;
}

struct result_table *frame_table_new(const struct load_result *load, const char *const *names,
				     const double *charged_j, double effect_j)
{
	static const char *const columns[] = { "stage",           "CPU s",        "machine J/frame",
					       "process J/frame", "difference J", "ratio" };
	struct result_table *table = load->units > 0 ? calloc(1, sizeof(*table)) : NULL;
	double cpu_s = 0, sum_j = 0, frames = (double)load->units;

	if (!table)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		table->columns[i] = columns[i];
	table->column_count = ARRAY_SIZE(columns);
	for (size_t i = 0; i < LOAD_STAGES; i++) {
		cpu_s += load->stage_cpu_s[i];
		sum_j += charged_j[i];
	}
	for (size_t i = 0; i < LOAD_STAGES; i++)
		add_row(table, names[i], load->stage_cpu_s[i],
			effect_j * load->stage_cpu_s[i] / cpu_s / frames, charged_j[i] / frames);
	add_row(table, "all", cpu_s, effect_j / frames, sum_j / frames);
	return table;
}

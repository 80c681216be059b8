// SPDX-License-Identifier: Apache-2.0
#include "modelling/rows/held_out.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/strbuf.h"
#include "modelling/sample_file.h"
#include "samples/power_column.h"

void held_out_take(void *context, size_t trainer, size_t component, const uint32_t *row,
		   const double *predicted_w, size_t rows)
{
	struct held_out *held_out = context;
	double *watts = calloc(held_out->rows, sizeof(*watts));

	if (!watts) {
		held_out->is_incomplete = true;
		return;
	}
	for (size_t i = 0; i < held_out->rows; i++)
		watts[i] = (double)NAN;
	for (size_t i = 0; i < rows; i++)
		watts[row[i]] = predicted_w[i];
	free(held_out->watts[trainer][component]);
	held_out->watts[trainer][component] = watts;
}

/* Two columns for each component. */
static void add_rows(const struct held_out *held_out, const struct sample_table *table,
		     const struct training_request *request, size_t trainer, struct strbuf *out)
{
	char names[2 * MODEL_COMPONENTS_MAX][SAMPLE_NAME_MAX];
	const char *header[2 * MODEL_COMPONENTS_MAX] = { NULL };
	const double *columns[2 * MODEL_COMPONENTS_MAX] = { NULL };
	size_t count = 2 * request->component_count;

	for (size_t c = 0; c < request->component_count; c++) {
		power_column(request->components[c], names[2 * c]);
		(void)snprintf(names[2 * c + 1], SAMPLE_NAME_MAX, "%.80s_held_out",
			       request->components[c]);
		columns[2 * c] = table->columns[sample_table_find(table, names[2 * c])];
		columns[2 * c + 1] = held_out->watts[trainer][c];
	}
	for (size_t i = 0; i < count; i++)
		header[i] = names[i];
	sample_csv_add_names(header, count, out);
	for (size_t row = 0; row < held_out->rows; row++) {
		double values[2 * MODEL_COMPONENTS_MAX];

		for (size_t i = 0; i < count; i++)
			values[i] = columns[i][row];
		sample_csv_add_row(values, count, out);
	}
}

int held_out_write(const struct held_out *held_out, const struct sample_table *table,
		   const struct training_request *request, size_t trainer, const char *path,
		   struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	if (held_out->is_incomplete)
		return diag_set(diag, -ENOMEM, "out of memory");
	add_rows(held_out, table, request, trainer, &text);
	return output_write(path, &text, diag);
}

void held_out_release(struct held_out *held_out)
{
	for (size_t t = 0; t < TRAINERS_MAX; t++) {
		for (size_t c = 0; c < MODEL_COMPONENTS_MAX; c++)
			free(held_out->watts[t][c]);
	}
	*held_out = (struct held_out){ .rows = 0 };
}

// SPDX-License-Identifier: Apache-2.0
#include "samples/sample_table.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/num.h"

void sample_csv_add_number(double value, struct strbuf *out)
{
	char text[FORMAT_DOUBLE_MAX];

	if (isfinite(value))
		strbuf_add(out, text, format_double(text, value));
}

void sample_csv_add_names(const char *const *names, size_t count, struct strbuf *out)
{
	for (size_t i = 0; i < count; i++) {
		if (i)
			strbuf_add_char(out, ',');
		strbuf_add_csv(out, names[i]);
	}
	strbuf_add_char(out, '\n');
}

void sample_csv_add_row(const double *values, size_t count, struct strbuf *out)
{
	for (size_t i = 0; i < count; i++) {
		if (i)
			strbuf_add_char(out, ',');
		sample_csv_add_number(values[i], out);
	}
	/* An empty line would be skipped when it is read. */
	if (count == 1 && !isfinite(values[0]))
		strbuf_add_str(out, "\"\"");
	strbuf_add_char(out, '\n');
}

int sample_table_write_csv(const struct sample_table *table, struct strbuf *out)
{
	const char *names[SAMPLE_COLUMNS_MAX];
	double values[SAMPLE_COLUMNS_MAX];
	size_t count = table->column_count;

	sample_table_get_names(table, names);
	sample_csv_add_names(names, count, out);
	for (size_t row = 0; row < table->rows; row++) {
		sample_table_get_row(table, row, values);
		sample_csv_add_row(values, count, out);
	}
	return strbuf_error(out);
}

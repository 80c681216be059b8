// SPDX-License-Identifier: Apache-2.0
#include "modelling/rows/recorded_rows.h"
#include "modelling/sample_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/macro.h"
#include "modelling/rows/extract_options.h"
#include "record/record_ring.h"
#include "samples/recorded_series.h"

#define PATH_SIZE        4096
#define SILENCE_MAX_MS   60000 /* a recording is written to every 10 s */
#define MISSING_S        60.0  /* missing at the beginning, before it is reported */
#define MICROSECOND_S    1e-6
#define TIMESTAMP_COLUMN "timestamp"

int recorded_rows_check(const char *folder, struct diag *diag)
{
	struct record_ring_content content;
	int64_t now_ms = (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_MSEC);
	int r = record_ring_look(folder, &content, diag);

	if (r == 0 && (!content.files || now_ms - content.changed_ms > SILENCE_MAX_MS))
		return diag_set(
			diag, -ENODATA,
			"%.200s: no recording there was written to in the last minute: does "
			"kepler run with --record.dir?",
			folder);
	return r;
}

static int is_recording(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 5 && strcmp(entry->d_name + len - 5, ".krec") == 0;
}

/* Copies row @row of @from to a new row of @to, by the names of columns. */
static int copy_row(const struct sample_table *from, size_t row, struct sample_table *to)
{
	int r = sample_table_add_row(to);

	for (size_t i = 0; r == 0 && i < from->column_count; i++) {
		size_t column = sample_table_find(to, from->names[i]);

		if (column == SAMPLE_COLUMN_NONE)
			r = sample_table_add_column(to, from->names[i], &column);
		if (r == 0)
			to->columns[column][to->rows - 1] = from->columns[i][row];
	}
	return r;
}

static int add_rows(const struct sample_table *from, double start_s, double end_s,
		    struct sample_table *to, struct diag *diag)
{
	size_t column = sample_table_find(from, TIMESTAMP_COLUMN);
	int r = 0;

	for (size_t row = 0; r == 0 && column != SAMPLE_COLUMN_NONE && row < from->rows; row++) {
		double when = from->columns[column][row];

		if (when >= start_s && when <= end_s)
			r = copy_row(from, row, to);
	}
	return r < 0 ? diag_set(diag, r, "rows of recordings: %s", strerrordesc_np(-r)) : 0;
}

static int add_recording(const struct extract_options *options, const char *path, double start_s,
			 double end_s, struct sample_table *to, struct diag *diag)
{
	CLEANUP(extraction_release) struct extraction extraction = { .step_us = 0 };
	struct stat status;
	int r;

	if (stat(path, &status) < 0)
		return 0; /* the ring has removed it */
	if ((double)status.st_mtim.tv_sec + 1 < start_s)
		return 0;
	r = extraction_of_recording(options, path, &extraction, diag);
	if (r == -ENODATA)
		return 0; /* it has been begun just now */
	return r < 0 ? r : add_rows(&extraction.table, start_s, end_s, to, diag);
}

static int add_all(const char *folder, const struct extract_options *options, double start_s,
		   double end_s, struct sample_table *to, struct diag *diag)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_recording, alphasort), r = 0;

	if (count < 0)
		return diag_set(diag, -errno, "%.200s: cannot be read: %s", folder,
				strerrordesc_np(errno));
	for (int i = 0; i < count; i++) {
		char path[PATH_SIZE];

		(void)snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		if (r == 0)
			r = add_recording(options, path, start_s, end_s, to, diag);
		free(entries[i]);
	}
	free(entries);
	return r;
}

static void tell(const struct sample_table *table, const char *folder, double start_s)
{
	double first_s = table->columns[sample_table_find(table, TIMESTAMP_COLUMN)][0];

	(void)fprintf(stderr, "kepler-model bench: %zu rows of recordings\n", table->rows);
	if (first_s - start_s > MISSING_S)
		(void)fprintf(stderr,
			      "kepler-model bench: %s no longer has the first %.0f s: kepler's "
			      "--record.keep or --record.max-size is too small for this plan\n",
			      folder, first_s - start_s);
}

int recorded_rows_write(const char *folder, const struct extract_options *options, int64_t start_us,
			int64_t end_us, const char *output, struct diag *diag)
{
	CLEANUP(sample_table_release) struct sample_table table = { .rows = 0 };
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	double start_s = (double)start_us * MICROSECOND_S;
	int r = add_all(folder, options, start_s, (double)end_us * MICROSECOND_S, &table, diag);

	if (r < 0)
		return r;
	if (!table.rows)
		return diag_set(diag, -ENODATA, "%.200s: its recordings have no rows of that time",
				folder);
	tell(&table, folder, start_s);
	(void)sample_table_write_csv(&table, &text);
	return output_write(output, &text, diag);
}

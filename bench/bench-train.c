// SPDX-License-Identifier: Apache-2.0
/*
 * How long training takes: upstream's ten trainers, once each, on each component of each machine
 * in CSV files, and the prediction of the rows that they were trained on. Prints seconds of CPU
 * time by trainer, as bench/train.py does beside Python's libraries.
 *
 *     bench-train FILE...
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/macro.h"
#include "model/feature.h"
#include "training/trainer.h"
#include "training/training_rows.h"

#define FILE_MAX (64U << 20)

static const char *const names[] = {
	"Polynomial", "GradientBoosting", "KNeighbors", "Linear",      "SVR", "Xgboost",
	"SGD",        "Logarithmic",      "Logistic",   "Exponential",
};

struct tally {
	double seconds[ARRAY_SIZE(names)];
	double error_w[ARRAY_SIZE(names)]; /* sum of mean errors */
	size_t fits[ARRAY_SIZE(names)];
};

static double mean_error(const struct predictor *predictor, const struct training_task *task)
{
	double sum = 0;

	for (size_t i = 0; i < task->rows; i++)
		sum += fabs(predictor_watts(predictor, task->x + i * task->features) - task->y[i]);
	return sum / (double)task->rows;
}

static void train(struct tally *tally, size_t n, const struct training_task *task)
{
	double stretch[PREDICTOR_FEATURES_MAX];
	struct predictor predictor;
	struct diag diag = { "" };
	uint64_t began = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	if (trainer_train(trainer_find(names[n]), task, stretch, &predictor, &diag) < 0)
		return;
	tally->error_w[n] += mean_error(&predictor, task);
	tally->seconds[n] += (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - began) / 1e9;
	tally->fits[n]++;
	predictor_release(&predictor);
}

/* By the largest value of these rows alone. */
static void scale(struct training_part *part, size_t features)
{
	for (size_t i = 0; i < features; i++) {
		double largest = 0;

		for (size_t row = 0; row < part->rows; row++)
			largest = fmax(largest, part->x[row * features + i]);
		for (size_t row = 0; row < part->rows; row++)
			part->x[row * features + i] /= largest > 0 ? largest : 1;
	}
}

static void train_rows(struct tally *tally, const struct training_rows *rows, const bool *is_in)
{
	CLEANUP(training_part_release) struct training_part part = { .rows = 0 };
	struct training_task task;

	if (training_rows_take(rows, is_in, true, &part) < 0)
		return;
	scale(&part, rows->feature_count);
	task = training_task_of(rows, &part, 1);
	for (size_t n = 0; n < ARRAY_SIZE(names) && part.rows; n++)
		train(tally, n, &task);
}

/* Each machine by itself, where there is a column of them. */
static void train_machines(struct tally *tally, const struct sample_table *table,
			   const struct training_rows *rows)
{
	size_t column = sample_table_find(table, "node_type");
	CLEANUP_FREE bool *is_in = calloc(rows->rows, sizeof(*is_in));
	CLEANUP_FREE bool *is_done = calloc(rows->rows, sizeof(*is_done));

	for (size_t i = 0; is_in && is_done && i < rows->rows; i++) {
		double machine =
			column == SAMPLE_COLUMN_NONE ? 0 : table->columns[column][rows->source[i]];

		if (is_done[i])
			continue;
		for (size_t j = 0; j < rows->rows; j++) {
			is_in[j] = column == SAMPLE_COLUMN_NONE ||
				   fabs(table->columns[column][rows->source[j]] - machine) < 0.5;
			is_done[j] |= is_in[j];
		}
		train_rows(tally, rows, is_in);
	}
}

static void train_file(struct tally *tally, const char *path)
{
	static const char *const components[] = { "package", "dram", "platform" };
	CLEANUP(sample_table_release) struct sample_table table = { .rows = 0 };
	CLEANUP_FREE char *text = NULL;
	const char *features[PREDICTOR_FEATURES_MAX];
	size_t count = 0, len;
	struct diag diag = { "" };

	if (read_file_alloc(path, FILE_MAX, &text, &len) < 0 ||
	    sample_table_parse_csv(&table, path, text, len, &diag) < 0) {
		(void)fprintf(stderr, "bench-train: %s: %s\n", path, diag.text);
		exit(EXIT_FAILURE);
	}
	for (size_t i = 0; i < table.column_count && count < ARRAY_SIZE(features); i++) {
		if (feature_find(table.names[i]))
			features[count++] = table.names[i];
	}
	for (size_t c = 0; c < ARRAY_SIZE(components); c++) {
		CLEANUP(training_rows_release) struct training_rows rows = { .rows = 0 };

		if (training_rows_read(&table, features, count, components[c], &rows, &diag) == 0)
			train_machines(tally, &table, &rows);
	}
}

int main(int argc, char **argv)
{
	struct tally tally = { .fits = { 0 } };
	double seconds = 0;
	size_t fits = 0;

	for (int i = 1; i < argc; i++)
		train_file(&tally, argv[i]);
	for (size_t n = 0; n < ARRAY_SIZE(names); n++) {
		(void)printf("%s %zu %.6f %.3f\n", names[n], tally.fits[n], tally.seconds[n],
			     tally.fits[n] ? tally.error_w[n] / (double)tally.fits[n] : 0);
		seconds += tally.seconds[n];
		fits += tally.fits[n];
	}
	(void)printf("all %zu %.6f 0\n", fits, seconds);
	return 0;
}

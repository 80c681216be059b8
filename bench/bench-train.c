// SPDX-License-Identifier: Apache-2.0
/*
 * How long training takes: upstream's ten trainers, once each, on each component of each machine
 * in CSV files, and the prediction of the rows that they were trained on. Prints seconds of CPU
 * time by trainer, and the time that all of them took on THREADS threads ("wall"), as
 * bench/train.py does for Python's libraries. Reading the files is not counted.
 *
 *     bench-train THREADS FILE...
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"
#include "model/feature.h"
#include "samples/sample_input.h"
#include "training/parallel.h"
#include "training/trainer.h"
#include "training/training_rows.h"

static const char *const names[] = {
	"Polynomial", "GradientBoosting", "KNeighbors", "Linear",      "SVR", "Xgboost",
	"SGD",        "Logarithmic",      "Logistic",   "Exponential",
};

/* The rows of one component of one machine. */
struct machine_rows {
	struct training_rows rows; /* all that the file has of the component; kept till the end */
	struct training_part part;
	struct training_task task;
};

struct work {
	struct machine_rows *machines;
	size_t count, size;
	struct fit *fits; /* [count × trainers] */
};

struct fit {
	double seconds, error_w;
	bool is_made;
};

static double mean_error(const struct predictor *predictor, const struct training_task *task)
{
	double sum = 0;

	for (size_t i = 0; i < task->rows; i++)
		sum += fabs(predictor_watts(predictor, task->x + i * task->features) - task->y[i]);
	return sum / (double)task->rows;
}

static int train(void *context, size_t index)
{
	const struct work *work = context;
	const struct training_task *task = &work->machines[index / ARRAY_SIZE(names)].task;
	struct fit *fit = &work->fits[index];
	struct predictor predictor;
	struct diag diag = { "" };
	uint64_t began = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (trainer_train(trainer_find(names[index % ARRAY_SIZE(names)]), task, &predictor, &diag) <
	    0)
		return 0;
	fit->error_w = mean_error(&predictor, task);
	fit->seconds = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - began) / 1e9;
	fit->is_made = true;
	predictor_release(&predictor);
	return 0;
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

static void *must(void *memory)
{
	if (memory)
		return memory;
	(void)fprintf(stderr, "bench-train: out of memory\n");
	exit(EXIT_FAILURE);
}

static void add_machine(struct work *work, const struct training_rows *rows, const bool *is_in)
{
	struct machine_rows machine = { .rows = *rows };

	if (training_rows_take(rows, is_in, true, &machine.part) < 0)
		(void)must(NULL);
	scale(&machine.part, rows->feature_count);
	if (work->count == work->size) {
		work->size = work->size ? 2 * work->size : 64;
		work->machines = must(realloc(work->machines, work->size * sizeof(machine)));
	}
	work->machines[work->count++] = machine;
}

/* Adds each machine by itself, if the table has a column of machines. */
static void add_machines(struct work *work, const struct sample_table *table,
			 const struct training_rows *rows)
{
	size_t column = sample_table_find(table, "node_type");
	CLEANUP_FREE bool *is_in = must(calloc(rows->rows, sizeof(*is_in)));
	CLEANUP_FREE bool *is_done = must(calloc(rows->rows, sizeof(*is_done)));

	for (size_t i = 0; i < rows->rows; i++) {
		double machine =
			column == SAMPLE_COLUMN_NONE ? 0 : table->columns[column][rows->source[i]];

		if (is_done[i])
			continue;
		for (size_t j = 0; j < rows->rows; j++) {
			is_in[j] = column == SAMPLE_COLUMN_NONE ||
				   fabs(table->columns[column][rows->source[j]] - machine) < 0.5;
			is_done[j] |= is_in[j];
		}
		add_machine(work, rows, is_in);
	}
}

static void add_file(struct work *work, const char *path)
{
	static const char *const components[] = { "package", "dram", "platform" };
	CLEANUP(sample_table_release) struct sample_table table = { .rows = 0 };
	const char *features[PREDICTOR_FEATURES_MAX];
	size_t count = 0;
	struct diag diag = { "" };

	if (sample_input_read(path, &table, &diag) < 0) {
		(void)fprintf(stderr, "bench-train: %s: %s\n", path, diag.text);
		exit(EXIT_FAILURE);
	}
	for (size_t i = 0; i < table.column_count && count < ARRAY_SIZE(features); i++) {
		if (feature_find(table.names[i]))
			features[count++] = table.names[i];
	}
	for (size_t c = 0; c < ARRAY_SIZE(components); c++) {
		struct training_rows rows = { .rows = 0 };

		/* Tasks go on using what it has of features. */
		if (training_rows_read(&table, features, count, components[c], &rows, &diag) == 0)
			add_machines(work, &table, &rows);
	}
}

static void print(const struct work *work, double wall_s)
{
	double all_s = 0;

	for (size_t n = 0; n < ARRAY_SIZE(names); n++) {
		struct fit sum = { 0 };
		size_t fits = 0;

		for (size_t i = n; i < work->count * ARRAY_SIZE(names); i += ARRAY_SIZE(names)) {
			fits += work->fits[i].is_made;
			sum.seconds += work->fits[i].seconds;
			sum.error_w += work->fits[i].error_w;
		}
		(void)printf("%s %zu %.6f %.3f\n", names[n], fits, sum.seconds,
			     fits ? sum.error_w / (double)fits : 0);
		all_s += sum.seconds;
	}
	(void)printf("all 0 %.6f 0\nwall 0 %.6f 0\n", all_s, wall_s);
}

int main(int argc, char **argv)
{
	struct work work = { .count = 0 };
	uint64_t threads, began;

	if (argc < 3 || parse_u64(argv[1], strlen(argv[1]), &threads) < 0) {
		(void)fprintf(stderr, "bench-train THREADS FILE...\n");
		return EXIT_FAILURE;
	}
	for (int i = 2; i < argc; i++)
		add_file(&work, argv[i]);
	/* Addresses are final. */
	for (size_t i = 0; i < work.count; i++)
		work.machines[i].task =
			training_task_of(&work.machines[i].rows, &work.machines[i].part, 1);
	work.fits = must(calloc(work.count + 1, ARRAY_SIZE(names) * sizeof(*work.fits)));
	began = clock_ns(CLOCK_MONOTONIC);
	(void)parallel_run(work.count * ARRAY_SIZE(names), (unsigned)threads, train, &work);
	print(&work, (double)(clock_ns(CLOCK_MONOTONIC) - began) / 1e9);
	return 0;
}

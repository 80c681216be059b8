// SPDX-License-Identifier: Apache-2.0
/*
 * The cost of a prediction, row by row as an exporter asks: of 100 trees of depth 6 over five
 * features, and, of each package in CSV files, of a model by each trainer at the rows that it was
 * trained on, in an order by chance. Prints by model its features and trees; the bytes of its
 * nodes or rows, and the median, over rounds, of microseconds of CPU time a row; and both when it
 * is prepared (predictor_prepare()). bench/predict.py shows them beside Python's libraries.
 *
 *     bench-predict [FILE.csv...]
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "model/feature.h"
#include "model/trained_model.h"
#include "training/trainer.h"
#include "training/training_rows.h"

#define TREES    100
#define DEPTH    6
#define NODES    ((2U << DEPTH) - 1)
#define FEATURES 5
#define ROWS     4096 /* that differ; 160 KB */

#define ROUNDS   31
#define ROUND_NS (NSEC_PER_SEC / 200)
#define FILE_MAX (64U << 20)

struct rows {
	const double *values; /* count × features */
	size_t count, features;
};

static double random_unit(void)
{
	return (double)random() / RAND_MAX;
}

static void *must(void *memory)
{
	if (memory)
		return memory;
	(void)fprintf(stderr, "bench-predict: out of memory\n");
	exit(EXIT_FAILURE);
}

/* Microseconds a row, of about ROUND_NS. */
static double round_us(const struct trained_model *model, const struct model_columns *columns,
		       const struct rows *rows)
{
	uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID), took_ns;
	struct model_answer answer;
	size_t count = 0;

	do {
		for (size_t i = 0; i < rows->count; i++)
			trained_model_predict(model, 0, columns, rows->values + i * rows->features,
					      &answer);
		count += rows->count;
		took_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	} while (took_ns < ROUND_NS);
	return (double)took_ns / 1e3 / (double)count;
}

/* The median of ROUNDS rounds. */
static double cost_us(struct model_component *component, const struct rows *rows)
{
	const struct trained_model model = { .components = component, .component_count = 1 };
	struct mallinfo2 before = mallinfo2();
	struct model_columns columns;
	double us[ROUNDS];

	for (size_t i = 0; i < PREDICTOR_FEATURES_MAX; i++)
		columns.column[i] = i;
	for (size_t i = 0; i < ROUNDS; i++)
		us[i] = round_us(&model, &columns, rows);
	if (mallinfo2().uordblks != before.uordblks) {
		(void)fprintf(stderr, "bench-predict: a prediction allocates memory\n");
		exit(EXIT_FAILURE);
	}
	qsort(us, ROUNDS, sizeof(*us), compare_doubles);
	return us[ROUNDS / 2];
}

static size_t size_of(const struct predictor *predictor)
{
	if (predictor->form == PREDICTOR_NEIGHBOURS || predictor->form == PREDICTOR_KERNEL)
		return predictor->rows.row_count *
			       ((predictor->features + 1) * sizeof(double) +
				(predictor->rows.order ? sizeof(*predictor->rows.order) : 0)) +
		       predictor->rows.split_count * sizeof(*predictor->rows.splits);
	if (predictor->form != PREDICTOR_TREES)
		return 0;
	return predictor->trees.prepared
		       ? prepared_trees_size(predictor->trees.prepared)
		       : predictor->trees.node_count * sizeof(*predictor->trees.nodes);
}

/* As it was trained, and prepared as an exporter has it. */
static void print_cost(const char *name, struct model_component *component, const struct rows *rows)
{
	size_t trees = component->predictor.form == PREDICTOR_TREES
			       ? component->predictor.trees.root_count
			       : 0;
	size_t size = size_of(&component->predictor);
	double us = cost_us(component, rows);

	if (predictor_prepare(&component->predictor) < 0)
		(void)must(NULL);
	(void)printf("%s %zu %zu %zu %.3f %zu %.3f\n", name, rows->features, trees, size, us,
		     size_of(&component->predictor), cost_us(component, rows));
}

/* Complete trees: node i of a tree has its children at 2 i + 1. */
static void made_trees(void)
{
	static double values[ROWS * FEATURES];
	struct tree_node *nodes = must(calloc((size_t)TREES * NODES, sizeof(*nodes)));
	uint32_t *roots = must(calloc(TREES, sizeof(*roots)));
	struct model_feature features[FEATURES];
	struct model_component component = {
		.features = features,
		.feature_count = FEATURES,
		.predictor = { .form = PREDICTOR_TREES,
			       .features = FEATURES,
			       .trees = { nodes, TREES * NODES, roots, TREES, 0, 1 } },
	};

	for (uint32_t t = 0; t < TREES; t++) {
		roots[t] = t * NODES;
		for (uint32_t i = 0; i < NODES; i++) {
			bool inner = i < NODES / 2;

			nodes[roots[t] + i] = (struct tree_node){
				.left = inner ? roots[t] + 2 * i + 1 : 0,
				.feature = (uint16_t)(random() % FEATURES),
				.threshold = (float)random_unit(),
			};
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		values[i] = random_unit();
	for (size_t i = 0; i < FEATURES; i++)
		features[i] = (struct model_feature){ .scale = 1, .maximum = 1 };
	print_cost("made", &component, &(struct rows){ values, ROWS, FEATURES });
	predictor_release(&component.predictor);
}

/* The rows in an order by chance, in their own units. */
static double *shuffled(const struct training_rows *rows)
{
	size_t width = rows->feature_count;
	double *ret = must(calloc(rows->rows * width, sizeof(*ret)));

	for (size_t i = 0; i < rows->rows; i++) {
		size_t other = (size_t)random() % (i + 1);

		memmove(ret + i * width, ret + other * width, width * sizeof(*ret));
		for (size_t j = 0; j < width; j++)
			ret[other * width + j] = rows->x[i * width + j] * rows->features[j].scale;
	}
	return ret;
}

static void trained_model(const struct trainer *trainer, const struct training_rows *rows,
			  const double *values)
{
	struct training_task task = training_task_of(rows, NULL, 1);
	struct model_component component = { .feature_count = rows->feature_count };
	double stretch[PREDICTOR_FEATURES_MAX];
	struct diag diag = { "" };

	if (trainer_train(trainer, &task, stretch, &component.predictor, &diag) < 0) {
		(void)fprintf(stderr, "bench-predict: %s: %s\n", trainer->name, diag.text);
		return;
	}
	if (training_rows_describe(rows->features, rows->feature_count, stretch, &component) < 0)
		(void)must(NULL);
	print_cost(trainer->name, &component,
		   &(struct rows){ values, rows->rows, rows->feature_count });
	predictor_release(&component.predictor);
	free(component.features);
}

static void trained_models(const char *path)
{
	CLEANUP(sample_table_release) struct sample_table table = { .rows = 0 };
	CLEANUP(training_rows_release) struct training_rows rows = { .rows = 0 };
	CLEANUP_FREE char *text = NULL;
	CLEANUP_FREE double *values = NULL;
	const char *features[PREDICTOR_FEATURES_MAX];
	size_t count = 0, len;
	struct diag diag = { "" };

	if (read_file_alloc(path, FILE_MAX, &text, &len) < 0 ||
	    sample_table_parse_csv(&table, path, text, len, &diag) < 0) {
		(void)fprintf(stderr, "bench-predict: %s: %s\n", path, diag.text);
		exit(EXIT_FAILURE);
	}
	for (size_t i = 0; i < table.column_count && count < ARRAY_SIZE(features); i++) {
		if (feature_find(table.names[i]))
			features[count++] = table.names[i];
	}
	if (training_rows_read(&table, features, count, "package", &rows, &diag) < 0) {
		(void)fprintf(stderr, "bench-predict: %s: %s\n", path, diag.text);
		exit(EXIT_FAILURE);
	}
	values = shuffled(&rows);
	for (const struct trainer *trainer = trainers; trainer->name; trainer++)
		trained_model(trainer, &rows, values);
}

int main(int argc, char **argv)
{
	made_trees();
	for (int i = 1; i < argc; i++) {
		(void)printf("file %s\n", argv[i]);
		trained_models(argv[i]);
	}
	return EXIT_SUCCESS;
}

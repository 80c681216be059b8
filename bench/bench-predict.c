// SPDX-License-Identifier: Apache-2.0
/*
 * The cost of a prediction: 100 trees of depth 6 over five features, at rows that differ, beside
 * libxgboost row by row where it is built with that. Times are of the calling thread's CPU.
 *
 *     bench-predict [ROWS]        200000
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/num.h"
#include "model/trained_model.h"

#define TREES    100
#define DEPTH    6
#define NODES    ((2U << DEPTH) - 1)
#define FEATURES 5
#define ROWS     4096 /* that differ; 160 KB */

static struct tree_node nodes[TREES * NODES];
static uint32_t roots[TREES];
static double rows[ROWS][FEATURES];

static double random_unit(void)
{
	return (double)random() / RAND_MAX;
}

/* Complete trees: node i of a tree has its children at 2 i + 1. */
static void make_trees(void)
{
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
	for (size_t i = 0; i < ROWS; i++) {
		for (size_t j = 0; j < FEATURES; j++)
			rows[i][j] = random_unit();
	}
}

static void name_features(struct model_feature *features)
{
	for (size_t i = 0; i < FEATURES; i++) {
		(void)snprintf(features[i].name, sizeof(features[i].name), "f%zu", i);
		features[i].scale = 1;
		features[i].minimum = 0;
		features[i].maximum = 1;
	}
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? strtol(argv[1], NULL, 10) : 200000;
	struct model_feature features[FEATURES] = { 0 };
	struct model_component component = {
		.name = "package",
		.features = features,
		.feature_count = FEATURES,
		.predictor = { .form = PREDICTOR_TREES,
			       .features = FEATURES,
			       .trees = { nodes, TREES * NODES, roots, TREES, 0, 1 } },
	};
	const struct trained_model model = { .components = &component, .component_count = 1 };
	struct model_columns columns = { { 0, 1, 2, 3, 4 } };
	struct model_answer answer;
	struct mallinfo2 before;
	uint64_t begin_ns, took_ns;
	double sum = 0;

	make_trees();
	name_features(features);
	if (predictor_check(&component.predictor, NULL) < 0)
		return 1;
	before = mallinfo2();
	begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (long i = 0; i < count; i++) {
		trained_model_predict(&model, 0, &columns, rows[i % ROWS], &answer);
		sum += answer.watts;
	}
	took_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	(void)printf("%.3f us a row of %d trees of depth %d; %ld bytes allocated; mean %.2f\n",
		     (double)took_ns / 1e3 / (double)count, TREES, DEPTH,
		     (long)(mallinfo2().uordblks - before.uordblks), sum / (double)count);
	return 0;
}

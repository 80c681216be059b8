/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows on disk as trainers take them: the features of one component and its watts, in batches. Each
 * row belongs to a group, which is held out as a whole, and so to a fold.
 *
 * Groups are the values of a column (--validation=groups), numbered by the caller; otherwise
 * neighbouring rows, or rows by chance, in 1,024 groups.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "model/trained_model.h"
#include "samples/sample_spool.h"
#include "training/task.h"
#include "training/validation.h"

#define STREAM_BATCH      512
#define STREAM_GROUPS_MAX 65536U

/* A spool with names. */
struct streamed_table {
	const struct sample_spool *spool;
	const char *const *names; /* [spool->columns] */
	size_t group_column;      /* whose values are 0 … group_count - 1; SAMPLE_COLUMN_NONE */
	size_t group_count;
};

struct streamed_rows {
	const struct streamed_table *table;
	struct model_feature features[PREDICTOR_FEATURES_MAX];
	/* As of training_rows. */
	bool is_load[PREDICTOR_FEATURES_MAX], grows[PREDICTOR_FEATURES_MAX];
	struct feature_ratio ratios[PREDICTOR_RATIOS_MAX];
	size_t ratio_count;
	size_t column[PREDICTOR_FEATURES_MAX], power_column;
	size_t feature_count, main_feature;
	uint64_t rows, left_out;
	double minimum_w, maximum_w, mean_w;
	enum fold_kind kind;
	uint64_t seed;
	size_t group_count;
	uint32_t *fold; /* [group_count] */
	double *raw;    /* a batch as it is stored */
};

struct streamed_batch {
	size_t rows;
	double x[STREAM_BATCH * PREDICTOR_FEATURES_MAX]; /* rows × features, scaled */
	double y[STREAM_BATCH];
	uint32_t group[STREAM_BATCH];
};

/* Reads all rows once, for ranges. 0, -ENOENT (a column is missing), -EINVAL, -ENOMEM, -EIO. */
int streamed_rows_open(const struct streamed_table *table, const char *const *features,
		       size_t count, const char *component, const struct validation_plan *plan,
		       struct streamed_rows *ret, struct diag *diag);
void streamed_rows_release(struct streamed_rows *rows);
/* Batches there are, whole rows or not. */
uint64_t streamed_rows_batches(const struct streamed_rows *rows);
/* The whole rows of a batch. */
int streamed_rows_read(struct streamed_rows *rows, uint64_t batch, struct streamed_batch *ret,
		       struct diag *diag);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples as trainers take them: the features of one component as numbers that are divided by their
 * largest value, and its watts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "model/trained_model.h"
#include "samples/sample_table.h"
#include "training/task.h"

struct training_rows {
	struct model_feature *features; /* [feature_count], with their scales and ranges */
	size_t feature_count;
	size_t main_feature;
	/*
	 * [feature_count]: power does not fall as it alone grows. This holds for cpu_cycles. In as
	 * many cycles more instructions, or more CPU time at a lower frequency, can draw less, so
	 * the others count only without cycles. A recent mean never does: it can lower the power.
	 */
	bool *is_load;
	bool *grows; /* [feature_count]: a feature of load, also if there are cycles */
	struct feature_ratio ratios[PREDICTOR_RATIOS_MAX];
	size_t ratio_count;
	bool is_dynamic;  /* set by the caller: watts are those above idle */
	double *x;        /* rows × feature_count */
	double *y;        /* W */
	uint32_t *source; /* the row of the table */
	size_t rows;
	size_t left_out; /* rows in which a feature or the power was not measured */
};

/*
 * @component's watts are the column "COMPONENT_power". 0; -ENOENT with the column that is missing,
 * -EINVAL when no row has all of them, -ENOMEM.
 */
int training_rows_read(const struct sample_table *table, const char *const *features, size_t count,
		       const char *component, struct training_rows *ret, struct diag *diag);
void training_rows_release(struct training_rows *rows);
/* Sets names of features, which of them are load and which grow (above): all [count]. */
void training_rows_name(const char *const *names, size_t count, struct model_feature *features,
			bool *is_load, bool *grows);

/* Gives @ret a copy of the features: 0 or -ENOMEM. */
int training_rows_describe(const struct training_rows *rows, struct model_component *ret);

/* A part of the rows; @x and @y own its memory. */
struct training_part {
	double *x, *y;
	size_t rows;
};

/* The rows for which @is_in [rows] is @wanted: 0 or -ENOMEM. */
int training_rows_take(const struct training_rows *rows, const bool *is_in, bool wanted,
		       struct training_part *ret);
void training_part_release(struct training_part *part);
/* A task over all rows, or over a part of them. */
struct training_task training_task_of(const struct training_rows *rows,
				      const struct training_part *part, uint64_t seed);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model's predictions for samples, by component: its errors, and the data for pictures of them.
 *
 * A model knows the samples that it was trained on, so its errors on them mean little. Predictions
 * for held-out samples (modelling/rows/held_out.h) can be given as well; then the pictures of
 * errors show these.
 *
 * Errors, counts and the histogram cover all samples. Pictures have at most 4,000 rows, every n-th
 * one; importance is measured on every n-th row if there are more than 50,000.
 *
 * How much a feature matters is measured, not read from the model: by how much the mean absolute
 * error grows when the feature's values are exchanged among the samples (Breiman, "Random Forests",
 * Machine Learning 45, 2001). The exchange is the same in each run.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "model/trained_model.h"
#include "samples/sample_table.h"

#define JUDGED_BINS 31 /* of the histogram */

/* A sample as pictures show it. */
struct drawn_row {
	double order; /* 0, 1, …: the sample's number */
	double measured, predicted;
};

/* Errors of predictions; sums while samples are read, then the others. */
struct judged_errors {
	size_t rows;
	size_t covered;  /* measured lies within the bound */
	size_t positive; /* rows with a power above 0 */
	double absolute, relative, low, high;
	double mae_w, mape_percent, range_percent; /* NAN: not known */
};

/*
 * One component on the samples. Rows are those that have all features and the power. Sums are of
 * all rows; the pictures and the measure of importance are of every n-th row, which a second
 * reading takes when it is known how many there are.
 */
struct judged {
	const struct trained_model *model;
	size_t component;
	struct model_columns columns; /* of the samples' */
	size_t power;                 /* its column; SAMPLE_COLUMN_NONE: the samples have none */
	size_t rows;
	size_t left_out;
	size_t outside;
	struct judged_errors errors;   /* of the model, on the samples */
	struct judged_errors held_out; /* of samples while they were held out; rows 0: not given */
	double first_bound_w;
	double most[PREDICTOR_FEATURES_MAX]; /* of each feature, the largest */
	/* State of the second reading. */
	size_t row, order; /* that come next: whole rows, and samples */
	size_t held_row, held_order;
	struct drawn_row *drawn; /* of those held out, where they are given */
	size_t drawn_count;
	double counts[JUDGED_BINS];   /* residuals by size */
	double *values;               /* [exchanged] × features, in the features' order */
	double *measured, *predicted; /* [exchanged] */
	size_t exchanged;
};

struct judged_samples {
	struct judged components[MODEL_COMPONENTS_MAX];
	size_t count;
};

/*
 * Reads @samples twice. The measured power of component "package" is the column "package_power".
 * @held_out, or NULL, also has "package_held_out". 0, -ENOENT with the feature that no column has,
 * or -ENOMEM.
 */
int judged_samples_read(const struct trained_model *model, const struct sample_table *samples,
			const struct sample_table *held_out, struct judged_samples *ret,
			struct diag *diag);
void judged_samples_release(struct judged_samples *samples);

const struct model_component *judged_component(const struct judged *judged);
bool judged_has_power(const struct judged *judged);
/* The prediction for @values, which are in the order of the component's features. */
void judged_predict(const struct judged *judged, const double *values, struct model_answer *ret);
/* The errors that the pictures show. */
const struct judged_errors *judged_drawn_errors(const struct judged *judged);
/* W; the histogram is as far below 0 as above. */
double judged_bin_width(const struct judged *judged);
/* By how much the mean error grows without each feature, in W, into @ret. 0 or -ENOMEM. */
int judged_importance(const struct judged *judged, double ret[static PREDICTOR_FEATURES_MAX]);

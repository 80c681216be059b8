/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A predictor: a row of numbers → watts. One form of regression each, as plain data that training
 * writes, files hold and an exporter evaluates. Pure; a call allocates nothing.
 *
 * The row is what a component of a trained model (trained_model.h) makes of named features: already
 * divided by their scales. Formulas: Pedregosa et al., "Scikit-learn: Machine Learning in Python",
 * JMLR 12 (2011), for the polynomial's order of terms, neighbours and kernel; Chen and Guestrin,
 * "XGBoost: A Scalable Tree Boosting System", KDD 2016, for trees.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "model/tree_node.h"

#define PREDICTOR_FEATURES_MAX 64
#define PREDICTOR_RATIOS_MAX   8
#define PREDICTOR_TREES_MAX    10000
#define PREDICTOR_NODES_MAX    4000000 /* of all trees */
#define PREDICTOR_ROWS_MAX     200000  /* neighbours, support vectors */
#define PREDICTOR_NEAREST_MAX  64      /* k of neighbours */

enum predictor_form {
	PREDICTOR_LINEAR,      /* w0 + Σ wj xj */
	PREDICTOR_POLYNOMIAL,  /* degree 2: 1, x1 … xd, x1², x1x2, …, xd² */
	PREDICTOR_LOGARITHMIC, /* a ln(b x + 1) + c */
	PREDICTOR_LOGISTIC,    /* A / (1 + exp(-k (x - x0))) + c */
	PREDICTOR_EXPONENTIAL, /* a exp(b x) + c */
	PREDICTOR_TREES,       /* base + Σ a leaf of each tree */
	PREDICTOR_NEIGHBOURS,  /* mean of the k nearest rows, Euclidean; of equal ones the first */
	PREDICTOR_KERNEL,      /* intercept + Σ ci exp(-gamma |x - si|²) */
	PREDICTOR_FORM_COUNT
};

/*
 * One number of a row divided by another, such as cycles by CPU time; 0 where the second is 0, as
 * nothing ran then. Both are indices of the row.
 */
struct feature_ratio {
	uint16_t numerator, denominator;
};

struct predictor {
	enum predictor_form form;
	size_t features; /* numbers in a row, 1 … PREDICTOR_FEATURES_MAX */
	bool log_output; /* the form's result is ln W */
	union {
		struct {
			double *weights; /* intercept, then one a term */
			size_t terms;    /* weights in all */
		} linear;                /* and polynomial */
		struct {
			size_t feature; /* the one that it sees */
			double c[4];    /* a b c; logistic: A x0 k c */
		} curve;
		struct {
			struct tree_node *nodes;
			size_t node_count;
			uint32_t *roots;
			size_t root_count;
			double base;
			/*
			 * Leaves are multiplied by it. 1: XGBoost, whose sums are in single
			 * precision, and so are these, to be equal to it.
			 */
			double rate;
			struct feature_ratio ratios[PREDICTOR_RATIOS_MAX];
			size_t ratio_count;
		} trees;
		struct {
			double *rows;   /* row_count × features */
			double *values; /* W of each row; kernel: its coefficient */
			size_t row_count;
			size_t nearest;   /* neighbours: k */
			double gamma;     /* kernel */
			double intercept; /* kernel */
		} rows;
	};
};

/* Weights of a linear (or polynomial) form over @features, the intercept among them. */
size_t predictor_terms(enum predictor_form form, size_t features);
/* Sizes, indices and numbers of a predictor that came from elsewhere: 0, or -EINVAL with what. */
int predictor_check(const struct predictor *predictor, struct diag *diag);
/* Watts, not clipped. @row has predictor->features numbers, none of them NaN but for trees. */
double predictor_watts(const struct predictor *predictor, const double *row);
/* A ratio's value in a row; NaN where one of the two is. */
double feature_ratio_of(const struct feature_ratio *ratio, const double *row);
/* Frees the predictor's memory; all zero afterwards. */
void predictor_release(struct predictor *predictor);
/* "linear", "polynomial", …: as files and messages name it. */
const char *predictor_form_name(enum predictor_form form);
/* The form with that name, or PREDICTOR_FORM_COUNT. */
enum predictor_form predictor_form_find(const char *name);

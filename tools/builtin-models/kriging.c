// SPDX-License-Identifier: Apache-2.0
#include "tools/builtin-models/kriging.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "tools/builtin-models/positive_solve.h"

static int fit_rows(struct kriging *fit, double *covariances, const double *y, struct diag *diag)
{
	size_t rows = fit->rows, outputs = fit->outputs;
	int r;

	fit->y = calloc(rows * outputs, sizeof(*fit->y));
	fit->inverse = calloc(rows * rows, sizeof(*fit->inverse));
	fit->dual = calloc(rows * outputs, sizeof(*fit->dual));
	if (!fit->y || !fit->inverse || !fit->dual)
		return diag_set(diag, -ENOMEM, "out of memory");
	memcpy(fit->y, y, rows * outputs * sizeof(*y));
	for (size_t i = 0; i < rows; i++)
		fit->inverse[i * rows + i] = 1;
	r = positive_solve(covariances, fit->inverse, rows, rows, diag);
	for (size_t i = 0; r == 0 && i < rows; i++) {
		for (size_t j = 0; j < rows; j++) {
			for (size_t k = 0; k < outputs; k++)
				fit->dual[i * outputs + k] +=
					fit->inverse[i * rows + j] * y[j * outputs + k];
		}
	}
	return r;
}

int kriging_fit(double *covariances, const double *y, size_t rows, size_t outputs,
		struct kriging *ret, struct diag *diag)
{
	CLEANUP(kriging_release) struct kriging fit = { .rows = rows, .outputs = outputs };
	int r = fit_rows(&fit, covariances, y, diag);

	if (r < 0)
		return r;
	*ret = fit;
	fit = (struct kriging){ 0 };
	return 0;
}

void kriging_release(struct kriging *fit)
{
	free(fit->y);
	free(fit->inverse);
	free(fit->dual);
	*fit = (struct kriging){ 0 };
}

/* The rows of a group, and what they add to the outputs beyond what the others say of them. */
struct left_out {
	const struct kriging *fit;
	uint32_t *own; /* [count]: rows */
	size_t count;
	double *block;  /* [count × count] of the inverse */
	double *excess; /* [outputs × count]: block⁻¹ × dual */
	double *dual;   /* [rows × outputs]: of the fit without them */
};

static int find_excess(struct left_out *left, struct diag *diag)
{
	const struct kriging *fit = left->fit;

	for (size_t i = 0; i < left->count; i++) {
		size_t row = left->own[i];

		for (size_t j = 0; j < left->count; j++)
			left->block[i * left->count + j] =
				fit->inverse[row * fit->rows + left->own[j]];
		for (size_t k = 0; k < fit->outputs; k++)
			left->excess[k * left->count + i] = fit->dual[row * fit->outputs + k];
	}
	return positive_solve(left->block, left->excess, left->count, fit->outputs, diag);
}

/* The outputs of the group's rows themselves. */
static void predict_own(const struct left_out *left, double *ret)
{
	size_t outputs = left->fit->outputs;

	for (size_t i = 0; i < left->count; i++) {
		size_t row = left->own[i];

		for (size_t k = 0; k < outputs; k++)
			ret[row * outputs + k] =
				left->fit->y[row * outputs + k] - left->excess[k * left->count + i];
	}
}

/* The outputs of other rows that are asked for in their places. */
static void predict_asked(struct left_out *left, const double *asked, double *ret)
{
	size_t rows = left->fit->rows, outputs = left->fit->outputs;

	memcpy(left->dual, left->fit->dual, rows * outputs * sizeof(*left->dual));
	for (size_t row = 0; row < rows; row++) {
		const double *inverse = left->fit->inverse + row * rows;

		for (size_t i = 0; i < left->count; i++) {
			for (size_t k = 0; k < outputs; k++)
				left->dual[row * outputs + k] -=
					inverse[left->own[i]] * left->excess[k * left->count + i];
		}
	}
	for (size_t i = 0; i < left->count; i++) {
		for (size_t k = 0; k < outputs; k++)
			left->dual[left->own[i] * outputs + k] = 0;
	}
	for (size_t i = 0; i < left->count; i++) {
		double *out = ret + left->own[i] * outputs;

		memset(out, 0, outputs * sizeof(*out));
		for (size_t row = 0; row < rows; row++) {
			for (size_t k = 0; k < outputs; k++)
				out[k] += asked[left->own[i] * rows + row] *
					  left->dual[row * outputs + k];
		}
	}
}

static void left_out_release(struct left_out *left)
{
	free(left->own);
	free(left->block);
	free(left->excess);
	free(left->dual);
}

int kriging_hold_out(const struct kriging *fit, const uint32_t *group, const double *asked,
		     double *ret, struct diag *diag)
{
	size_t rows = fit->rows;
	CLEANUP(left_out_release)
	struct left_out left = {
		.fit = fit,
		.own = calloc(rows, sizeof(*left.own)),
		.block = calloc(rows * rows, sizeof(*left.block)),
		.excess = calloc(rows * fit->outputs, sizeof(*left.excess)),
		.dual = calloc(rows * fit->outputs, sizeof(*left.dual)),
	};

	if (!left.own || !left.block || !left.excess || !left.dual)
		return diag_set(diag, -ENOMEM, "out of memory");
	for (uint32_t g = 0; g < rows; g++) {
		int r;

		left.count = 0;
		for (uint32_t i = 0; i < rows; i++) {
			if (group[i] == g)
				left.own[left.count++] = i;
		}
		if (!left.count)
			continue;
		r = find_excess(&left, diag);
		if (r < 0)
			return r;
		if (asked)
			predict_asked(&left, asked, ret);
		else
			predict_own(&left, ret);
	}
	return 0;
}

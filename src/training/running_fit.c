// SPDX-License-Identifier: Apache-2.0
#include "training/running_fit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/macro.h"
#include "training/least_squares.h"

void running_fit_init(struct running_fit *fit, size_t features)
{
	*fit = (struct running_fit){ .features = features };
}

static void note_range(double value, bool is_first, double *minimum, double *maximum)
{
	*minimum = is_first ? value : fmin(*minimum, value);
	*maximum = is_first ? value : fmax(*maximum, value);
}

void running_fit_add(struct running_fit *fit, const double *x, double watts)
{
	double before[RUNNING_FEATURES_MAX], off_w;
	bool is_first = !(fit->rows > 0);

	fit->rows += 1;
	note_range(watts, is_first, &fit->minimum_w, &fit->maximum_w);
	fit->mean_w += (watts - fit->mean_w) / fit->rows;
	off_w = watts - fit->mean_w; /* from the new mean; the other factor is from the old one */
	for (size_t i = 0; i < fit->features; i++) {
		note_range(x[i], is_first, &fit->minimum[i], &fit->maximum[i]);
		before[i] = x[i] - fit->mean[i];
		fit->mean[i] += before[i] / fit->rows;
		fit->watts[i] += before[i] * off_w;
	}
	for (size_t i = 0; i < fit->features; i++)
		for (size_t j = 0; j < fit->features; j++)
			fit->products[i][j] += before[i] * (x[j] - fit->mean[j]);
}

/* Weights of features by their standard deviation, into @ret. */
static int solve(const struct running_fit *fit, double *ret, struct diag *diag)
{
	size_t n = fit->features;
	double a[RUNNING_FEATURES_MAX * RUNNING_FEATURES_MAX] = { 0 };
	double b[RUNNING_FEATURES_MAX] = { 0 }, deviation[RUNNING_FEATURES_MAX];
	int r;

	for (size_t i = 0; i < n; i++)
		deviation[i] = sqrt(fmax(0, fit->products[i][i]));
	for (size_t i = 0; i < n; i++) {
		if (!(deviation[i] > 0))
			continue; /* a feature that is constant explains nothing */
		b[i] = fit->watts[i] / deviation[i];
		for (size_t j = 0; j < n; j++)
			if (deviation[j] > 0)
				a[i * n + j] = fit->products[i][j] / deviation[i] / deviation[j];
	}
	r = least_squares_non_negative(a, b, n, ret, diag);
	for (size_t i = 0; r == 0 && i < n; i++)
		ret[i] = deviation[i] > 0 ? ret[i] / deviation[i] : 0;
	return r;
}

static int make_predictor(const struct running_fit *fit, const double *weights,
			  struct model_component *ret)
{
	struct predictor *predictor = &ret->predictor;
	double *line = calloc(fit->features + 1, sizeof(*line));

	if (!line)
		return -ENOMEM;
	*predictor = (struct predictor){ .form = PREDICTOR_LINEAR, .features = fit->features };
	predictor->linear.weights = line;
	predictor->linear.terms = fit->features + 1;
	line[0] = fit->mean_w;
	for (size_t i = 0; i < fit->features; i++) {
		line[0] -= weights[i] * fit->mean[i];
		line[i + 1] = weights[i] * ret->features[i].scale;
	}
	return 0;
}

int running_fit_solve(const struct running_fit *fit, const char *component,
		      const char *const *names, struct model_component *ret, struct diag *diag)
{
	double weights[RUNNING_FEATURES_MAX] = { 0 };
	CLEANUP_FREE struct model_feature *features = calloc(fit->features, sizeof(*features));
	struct model_component made = {
		.features = features,
		.feature_count = fit->features,
		.error = { (double)NAN, (double)NAN, (double)NAN, (double)NAN, 0, false },
		.minimum_w = fit->minimum_w,
		.maximum_w = fit->maximum_w,
	};
	int r;

	if (fit->rows < (double)(2 * fit->features + 2))
		return diag_set(diag, -EINVAL, "too few rows for a line");
	r = features ? solve(fit, weights, diag) : -ENOMEM;
	if (r < 0)
		return r;
	(void)snprintf(made.name, sizeof(made.name), "%s", component);
	for (size_t i = 0; i < fit->features; i++) {
		(void)snprintf(features[i].name, sizeof(features[i].name), "%s", names[i]);
		features[i].scale = fit->maximum[i] > 0 ? fit->maximum[i] : 1;
		features[i].minimum = fit->minimum[i];
		features[i].maximum = fit->maximum[i];
	}
	r = make_predictor(fit, weights, &made);
	if (r < 0)
		return r;
	features = NULL;
	*ret = made;
	return 0;
}

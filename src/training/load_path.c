// SPDX-License-Identifier: Apache-2.0
#include "training/load_path.h"

#include <math.h>
#include <string.h>

#include "model/trained_model.h"

/* The ends of the path. */
struct ends {
	double low[PREDICTOR_FEATURES_MAX], high[PREDICTOR_FEATURES_MAX];
	bool is_load[PREDICTOR_FEATURES_MAX];
	unsigned settings; /* 1 where all features are of load */
};

static void find_ends(const struct training_task *task, struct ends *ends)
{
	bool any_load = false;

	ends->settings = 1;
	for (size_t i = 0; i < task->features; i++) {
		ends->low[i] = (double)INFINITY;
		ends->high[i] = 0;
		for (size_t row = 0; row < task->rows; row++) {
			double value = task->x[row * task->features + i];

			ends->low[i] = fmin(ends->low[i], value);
			ends->high[i] = fmax(ends->high[i], value);
		}
		ends->is_load[i] = task->grows && task->grows[i];
		any_load |= ends->is_load[i];
	}
	for (size_t i = 0; i < task->features; i++) {
		ends->is_load[i] |= !any_load; /* names that nothing is known of */
		if (!ends->is_load[i])
			ends->settings = LOAD_PATH_SETTINGS;
	}
}

static void set_point(const struct ends *ends, size_t features, double load, double setting,
		      double *ret)
{
	for (size_t i = 0; i < features; i++)
		ret[i] = ends->is_load[i] ? ends->high[i] * load
					  : ends->low[i] + (ends->high[i] - ends->low[i]) * setting;
}

double load_path_fall(const struct training_task *task, const struct predictor *predictor)
{
	double row[PREDICTOR_FEATURES_MAX], worst = 0;
	struct ends ends;

	find_ends(task, &ends);
	for (unsigned setting = 0; setting < ends.settings; setting++) {
		double highest = 0;

		for (unsigned step = 0; step <= LOAD_PATH_STEPS; step++) {
			double watts;

			set_point(&ends, task->features, (double)step / LOAD_PATH_STEPS,
				  (double)setting / (LOAD_PATH_SETTINGS - 1), row);
			watts = predictor_watts(predictor, row);
			highest = fmax(highest, watts);
			worst = fmax(worst, (highest - watts) /
						    model_fall_permitted(predictor->form, highest));
		}
	}
	return worst;
}

/* Makes @y [LOAD_PATH_STEPS] rise: neighbours that fall become their mean. */
static void pool_violators(double *y)
{
	double means[LOAD_PATH_STEPS];
	size_t sizes[LOAD_PATH_STEPS], blocks = 0, place = 0;

	for (size_t i = 0; i < LOAD_PATH_STEPS; i++) {
		means[blocks] = y[i];
		sizes[blocks++] = 1;
		while (blocks > 1 && means[blocks - 2] > means[blocks - 1]) {
			double size = (double)(sizes[blocks - 2] + sizes[blocks - 1]);

			means[blocks - 2] = (means[blocks - 2] * (double)sizes[blocks - 2] +
					     means[blocks - 1] * (double)sizes[blocks - 1]) /
					    size;
			sizes[blocks - 2] += sizes[blocks - 1];
			blocks--;
		}
	}
	for (size_t block = 0; block < blocks; block++) {
		for (size_t i = 0; i < sizes[block]; i++)
			y[place++] = means[block];
	}
}

size_t load_path_rows(const struct training_task *task, const struct predictor *predictor,
		      double *x, double *y)
{
	struct ends ends;
	size_t count = 0;

	find_ends(task, &ends);
	for (unsigned setting = 0; setting < ends.settings; setting++) {
		for (unsigned step = 0; step < LOAD_PATH_STEPS; step++) {
			double *row = x + count * task->features;

			set_point(&ends, task->features, (step + 0.5) / LOAD_PATH_STEPS,
				  (double)setting / (LOAD_PATH_SETTINGS - 1), row);
			y[count++] = predictor_watts(predictor, row);
		}
		pool_violators(y + count - LOAD_PATH_STEPS);
	}
	return count;
}

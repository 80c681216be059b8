/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subtracts the power of the background alone, as predicted by a model of the whole power, from the
 * power of rows: upstream's train isolator. Rows have the counters of the target and, as
 * background_NAME, the counters of the background (extract_options.is_background).
 *
 * Of several models, the one with the least error is used among those whose remaining power follows
 * the target's use: its correlation with one of the model's features is 0.7 or more. Without such a
 * model, it is the one with the highest correlation.
 */
#pragma once

#include "base/diag.h"
#include "modelling/model_input.h"
#include "samples/sample_table.h"

#define BACKGROUND_PREFIX          "background_"
#define BACKGROUND_CORRELATION_MIN 0.7

struct background_power {
	size_t column; /* NAME_power in the table */
	double mean_w; /* of the power subtracted from its rows */
};

struct background_model {
	struct background_power powers[MODEL_COMPONENTS_MAX];
	size_t count;
	char name[MODEL_INPUT_NAME_MAX]; /* the model's name, from model_input_fn */
	double correlation;              /* NAN: nothing varies */
};

/*
 * Chooses among the models at @path, a file or a pipeline, that pass @filter (NULL: all), and
 * subtracts their predictions from @table; negative results become 0. 0; -ENODATA: no model has a
 * component and features that the rows have; -EINVAL: the file is not a model of the whole power;
 * -errno. All with a diagnosis.
 */
int background_model_isolate(const char *path, const struct model_input_filter *filter,
			     struct sample_table *table, struct background_model *ret,
			     struct diag *diag);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models that a command is to work on: a file of one, or all models of a pipeline, which is a
 * folder or a zip archive in the layout of upstream's model-db (repository/repository.h). Of these,
 * those that cannot be loaded (a pickle, a broken file) are left out with a line on standard error.
 */
#pragma once

#include "base/diag.h"
#include "model/trained_model.h"
#include "options/option.h"

#define MODEL_INPUT_OPTION_COUNT 3
#define MODEL_INPUT_NAME_MAX     256

/* Which models of a pipeline count; a file of a model always does. */
struct model_input_filter {
	int output;                    /* enum model_output */
	char *group, *name;            /* "": any */
	const char *pipeline, *source; /* "" or NULL: any */
};

/* Rows over struct model_input_filter, with the names of upstream's program. */
extern const struct option model_input_rows_of_options[MODEL_INPUT_OPTION_COUNT];

/*
 * Called with each model: @name is the file's path, or for a model of a pipeline
 * "GROUP/TRAINER_NODETYPE". The model may be taken over; what is left is released.
 * Other than 0 ends the walk with that.
 */
typedef int model_input_fn(void *userdata, const char *name, struct trained_model *model,
			   struct diag *diag);

/* @filter may be NULL. 0; -ENOENT: no model counts; -errno with a diagnosis that names @path. */
int model_input_each(const char *path, const struct model_input_filter *filter, model_input_fn *fn,
		     void *userdata, struct diag *diag);
/* The matching model with the least error; models with unknown errors come last. */
int model_input_best(const char *path, const struct model_input_filter *filter,
		     struct trained_model *ret, struct diag *diag);
/* The error of a model's worst component, in watts; infinite if one is unknown. */
double model_input_error(const struct trained_model *model);

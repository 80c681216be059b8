/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the commands that train, and the requests that they make. */
#pragma once

#include "base/diag.h"
#include "options/operands.h"
#include "samples/sample_table.h"
#include "training/model_training.h"

#define TRAINING_OPTION_COUNT 27
#define NAMES_MAX             PREDICTOR_FEATURES_MAX

struct training_values {
	char *input, *output, *data_path;
	char *group, *features, *trainers, *components, *third_party;
	char *source, *model_name, *pipeline, *machine_id;
	char *group_by, *split_column;
	int output_type, validation, format;
	uint32_t folds, seed;
	uint32_t cores, chips, memory_gb, frequency_mhz;
	char *node_type, *processor;
	char *held_out;
	bool skip_bad_rows;
};

enum { TRAINING_TABLE, TRAINING_JSON };

/* Rows over struct training_values. */
extern const struct option training_rows_of_options[TRAINING_OPTION_COUNT];
/* Short names such as "-fg"; a NULL name ends them. */
extern const struct short_flag training_short_flags[];

/* Names that were separated by commas, over memory that the text owns. */
struct name_list {
	const char *names[NAMES_MAX];
	size_t count;
};

struct training_names {
	struct name_list features, components;
};

/*
 * Makes a request from @values for @table: features of a group (or the named ones, or all known
 * ones), and components (or all with power). Splits lists at commas in place. 0 or -EINVAL, -ENOENT
 * with a diagnosis; @ret borrows from @values and @names.
 */
int training_options_make(struct training_values *values, const struct sample_table *table,
			  struct training_names *names, struct training_request *ret,
			  struct diag *diag);
/* The same for one group of features. */
int training_options_use_group(const char *group, const struct sample_table *table,
			       struct training_names *names, struct training_request *ret,
			       struct diag *diag);
/* The facts about the model other than its components: 0 or -EINVAL with a diagnosis. */
int training_options_describe(const struct training_values *values, const char *data,
			      struct trained_model *ret, struct diag *diag);
/* @name below --data-path, in *ret, which is given; 0 or -ENOMEM. */
int training_options_path(const struct training_values *values, const char *name, char **ret);

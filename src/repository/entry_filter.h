/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A filter of models, "mae:10;trainer:XgboostFitTrainer", read once and then applied to each model
 * of a repository. All of its conditions must hold. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "repository/model_entry.h"

#define ENTRY_FILTERS_MAX 16
#define ENTRY_FILTER_SIZE 160 /* bytes of one condition, with its end */

enum filter_attribute {
	FILTER_TRAINER,
	FILTER_MODEL_NAME,
	FILTER_MODEL_CLASS,
	FILTER_FEATURE_GROUP,
	FILTER_SOURCE,
	FILTER_OUTPUT_TYPE,
	FILTER_PROCESSOR,
	FILTER_NODE_TYPE, /* the first one that is a number */
	FILTER_CORES,
	FILTER_CHIPS,
	FILTER_MEMORY,
	FILTER_FREQUENCY,
	FILTER_MAE, /* an error, which may be at most the value */
	FILTER_MAPE,
	FILTER_ATTRIBUTE_COUNT,
};

struct filter_condition {
	enum filter_attribute attribute;
	char text[ENTRY_FILTER_SIZE]; /* the value; of an error the component, "" all */
	double number;
};

struct entry_filter {
	struct filter_condition conditions[ENTRY_FILTERS_MAX];
	size_t count;
};

/* 0; -EINVAL with a diagnosis. "" has no condition. */
int entry_filter_parse(const char *text, struct entry_filter *ret, struct diag *diag);
/* An error that is not known passes no limit. */
bool entry_filter_passes(const struct entry_filter *filter, const struct model_entry *entry);

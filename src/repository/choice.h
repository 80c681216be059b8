/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which model of a repository fits a machine and the features that it can measure, by expected
 * error; and how well it fits.
 *
 * Source, output, features, trainer, pipeline and filters must all match; node types and names are
 * compared as a whole, and bad weights count as none. Of the remaining models, the one with the
 * least expected error is chosen: by model/selection.h, from the published error and the addition
 * for another machine. A model without a known error comes last. If nothing is known about the
 * machine, models of the machines with the most cores come first. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "model/selection.h"
#include "repository/repository.h"

struct choice_request {
	const char *source; /* "" → rapl-sysfs, as all names with "rapl" */
	enum model_output output;
	const char *const *features; /* measurable features; NULL: all */
	size_t feature_count;
	const char *group;    /* "" any */
	const char *trainer;  /* "" any */
	const char *pipeline; /* "" any */
	int32_t node_type;    /* -1: by the machine */
	struct machine_spec machine;
	bool exact; /* only a machine that is the same */
	/*
	 * Which files there must be, of enum model_file; 0 any. Weights only: as Kepler evaluates.
	 */
	unsigned files;
	/* leaves out models in our own format, which upstream's programs cannot read */
	bool upstream_only;
	bool no_pickles;      /* only models that can be used without one */
	const bool *excluded; /* of each entry of the repository; NULL: none */
	const char *filter;   /* entry_filter.h: "mae:10;trainer:XgboostFitTrainer" */
	double max_error;     /* expected, of power: 0.5 is 50 %; 0: any, of unknown error too */
};

struct choice {
	const struct model_entry *entry;
	enum model_match match;
	double looseness;      /* error added by a different machine, relative to power */
	double uncertainty;    /* 0 … 1: how much is not known of the machine */
	double expected_error; /* of power; NAN unknown */
	double core_ratio;     /* cores of the machine to cores of the model's; 1 unknown */
};

/*
 * 0; -EINVAL: the filter is wrong; -ENOENT: no model fits. Both with the request, and with the
 * condition that no model was left for.
 */
int choice_make(const struct repository *repository, const struct choice_request *request,
		struct choice *ret, struct diag *diag);
/*
 * The best model of each feature group, of those that have one that fits: a list that the caller
 * frees, NULL when it is empty. One pass over all models, however many groups there are. 0;
 * -EINVAL: the filter is wrong; -ENOMEM.
 */
int choice_make_by_group(const struct repository *repository, const struct choice_request *request,
			 struct choice **ret, size_t *ret_count, struct diag *diag);
/*
 * Returns true if a list of models has @entry: source, output, group, trainer and pipeline of
 * @request are looked at, and "" is any source here. The filter is the caller's.
 */
bool choice_lists(const struct choice_request *request, bool any_output,
		  const struct repository *repository, const struct model_entry *entry);
/* "intel_rapl", "rapl-msr", "" → "rapl-sysfs"; others as they are. */
const char *choice_source(const char *source);

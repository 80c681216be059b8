/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the trainer that makes a model: the one with the smallest sum of known errors, if its
 * model can be used (trained_model_check()), else the next one.
 */
#pragma once

#include "base/diag.h"
#include "training/training_request.h"

/* Trains a component on all rows: fills all of @ret but its name and its error. */
typedef int component_maker(void *context, size_t trainer, size_t component,
			    struct model_component *ret, struct diag *diag);

/* Empties @report; -EINVAL with a diagnosis when there is nothing, or too much, to do. */
int model_choice_begin(const struct training_request *request, struct training_report *report,
		       struct diag *diag);
/* 0 if the errors of a trainer are known, else -EINVAL with a diagnosis. */
int model_choice_check(const struct training_request *request, const struct training_report *report,
		       struct diag *diag);
/* Fills the model by the errors in @report: 0; -EINVAL with a diagnosis, or -ENOMEM. */
int model_choice_make(const struct training_request *request, component_maker *make, void *context,
		      struct trained_model *model, struct training_report *report,
		      struct diag *diag);

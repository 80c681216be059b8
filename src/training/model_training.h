/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Training a whole model: each trainer is validated on each component. The one with the smallest
 * sum of errors makes the model, if that model can be used (trained_model_check()); else the next
 * one does. All rows train the model in the end; its errors come from the validation.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "model/trained_model.h"
#include "samples/sample_table.h"
#include "training/training_request.h"

/*
 * Fills the components and origin.trainer of @model, whose other members are the caller's; an empty
 * name becomes the name of the trainer and node type. 0; with a diagnosis -ENOENT (a column is
 * missing), -EINVAL (no trainer made a usable model) or -ENOMEM. @report is large, and is filled as
 * far as the training went.
 */
int model_training_run(const struct sample_table *table, const struct training_request *request,
		       struct trained_model *model, struct training_report *report,
		       struct diag *diag);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Training on more rows than fit in memory, with the same request and report as of rows in memory
 * (model_training.h).
 *
 * Lines and polynomials see all rows, reduced fold by fold to triangles: their weights are those of
 * all rows in memory. Boosted trees see all rows, each tree another block. All others are trained
 * on a sample: of each group and sixteenth of the load every k-th row, at least one. Errors are
 * those of rows that were held out: all of them for lines and curves, every k-th batch for slower
 * forms. Their interval is a bootstrap over the groups.
 */
#pragma once

#include <stddef.h>

#include "base/diag.h"
#include "model/trained_model.h"
#include "training/streamed_rows.h"
#include "training/training_request.h"

/*
 * As model_training_run(), within about @memory bytes. A split column is refused. Also -EIO, when
 * the rows cannot be read.
 */
int streamed_training_run(const struct streamed_table *table,
			  const struct training_request *request, size_t memory,
			  struct trained_model *model, struct training_report *report,
			  struct diag *diag);

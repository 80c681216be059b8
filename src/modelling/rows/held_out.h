/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The predictions of a training for rows while they were held out: the only ones that show
 * how far off it will be on others. Kept for each trainer while they are validated, and written for
 * the one that makes the model, as CSV: for each component COMPONENT_power, as it was measured, and
 * COMPONENT_held_out, both in W, in the order of the rows.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "model/trained_model.h"
#include "samples/sample_table.h"
#include "training/training_request.h"

struct held_out {
	size_t rows; /* rows of the table; set by the caller */
	double *watts[TRAINERS_MAX][MODEL_COMPONENTS_MAX]; /* [rows], NAN of rows without one */
	bool is_incomplete;                                /* memory has ended */
};

/* training_request.held_out, over a struct held_out. */
void held_out_take(void *context, size_t trainer, size_t component, const uint32_t *row,
		   const double *predicted_w, size_t rows);
/* 0, or -errno with a diagnosis. */
int held_out_write(const struct held_out *held_out, const struct sample_table *table,
		   const struct training_request *request, size_t trainer, const char *path,
		   struct diag *diag);
void held_out_release(struct held_out *held_out);

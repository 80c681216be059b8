/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request to the estimator, as Kepler sends it: {"metrics": [..], "values": [[row], ..],
 * "output_type", "source", "system_features": [..], "system_values": [..], "trainer_name",
 * "filter"}. System features are the same for all rows; those that are no number, such as
 * cpu_architecture, are left out, because no model has them. Pure.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "base/diag.h"
#include "model/trained_model.h"

#define ESTIMATE_NAMES_MAX   128
#define ESTIMATE_ROWS_MAX    16384
#define ESTIMATE_REQUEST_MAX (1U << 20) /* bytes */

struct estimate_request {
	json_t *json;                          /* that the texts are in */
	const char *names[ESTIMATE_NAMES_MAX]; /* of features: metrics, then system features */
	size_t name_count;
	double *values; /* row_count × name_count; NAN where a value is null */
	size_t row_count;
	enum model_output output;
	const char *source, *trainer, *filter;
};

/*
 * 0, or -EINVAL with everything that is wrong, by key, see diag_add(); -ENOMEM. @diag is
 * initialised. On success @ret is to be released.
 */
int estimate_request_read(const char *text, size_t size, struct estimate_request *ret,
			  struct diag *diag);
void estimate_request_release(struct estimate_request *request);

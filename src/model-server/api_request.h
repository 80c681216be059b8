/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to the model server: upstream's JSON of POST /model, and the query of the second API.
 * Requests come from anywhere; errors are reported by key. Pure.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "repository/choice.h"

#define API_METRICS_MAX 256

/* A request, with the texts that it refers to. */
struct api_request {
	struct choice_request choice;
	bool weights; /* else the archive */
	json_t *json;
	const char *metrics[API_METRICS_MAX];
	char texts[2048]; /* of a query */
	size_t text_len;
};

/*
 * Upstream's request: {"metrics", "output_type", "source", "node_type", "weight", "trainer_name",
 * "filter", "pipeline_name", "machine_spec", "loose_node_type"}. A machine_spec counts before a
 * node_type, because Kepler sends 0 as the node type of whatever machine. 0, or -EINVAL.
 */
int api_request_read(const char *text, size_t size, struct api_request *ret, struct diag *diag);
void api_request_release(struct api_request *request);

/* Returns the value of @name in a query as it was sent, or NULL. */
typedef const char *api_argument(void *userdata, const char *name);
/*
 * The query of /api/v2/model: features, output, source, group, trainer, pipeline, filter, format,
 * exact, max-error (in %), node-type, processor, cores, chips, memory, frequency.
 */
int api_request_query(api_argument *argument, void *userdata, struct api_request *ret,
		      struct diag *diag);
/* The query of upstream's GET /best-models; an empty output or group stands for all. */
int api_request_best(api_argument *argument, void *userdata, struct api_request *ret,
		     bool *ret_any_output, struct diag *diag);

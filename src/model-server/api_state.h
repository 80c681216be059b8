/* SPDX-License-Identifier: Apache-2.0 */
/* What the pages of the model server answer from, and what they count (model_api.h). */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "model-server/edition.h"
#include "net/server/http_server.h"

enum api_kind { API_MODEL, API_BEST, API_V2_MODELS, API_V2_MODEL, API_V2_FILE, API_KIND_COUNT };

struct model_api {
	double max_error; /* of all choices; 0: any */
	bool refuses_pickles;
	/* ---- the server's thread only ---- */
	uint64_t turn;    /* of the server's loop, in which the work below was done */
	uint64_t work_ns; /* that answers in it took */
	/* ---- under the lock ---- */
	pthread_mutex_t lock;
	struct edition *edition;
	uint64_t answered[API_KIND_COUNT], refused[API_KIND_COUNT];
	uint64_t reloads, failed_reloads;
	const struct http_server *server; /* for /metrics; set before it is asked */
};

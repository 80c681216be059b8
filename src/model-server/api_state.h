/* SPDX-License-Identifier: Apache-2.0 */
/* The state that the model server's pages answer from, and their counters (model_api.h). */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "model-server/edition.h"
#include "net/server/http_server.h"

enum api_kind { API_MODEL, API_BEST, API_V2_MODELS, API_V2_MODEL, API_V2_FILE, API_KIND_COUNT };

struct model_api {
	double max_error; /* limit for all choices; 0: none */
	bool refuses_pickles;
	/* ---- the server's thread only ---- */
	uint64_t turn;    /* turn of the server's loop that work_ns belongs to */
	uint64_t work_ns; /* time spent on answers in that turn */
	/* ---- under the lock ---- */
	pthread_mutex_t lock;
	struct edition *edition;
	uint64_t answered[API_KIND_COUNT], refused[API_KIND_COUNT];
	uint64_t reloads, failed_reloads;
	const struct http_server *server; /* for /metrics; set before it is asked */
};

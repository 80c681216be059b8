/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trained model of --model.url, kept up to date by a thread:
 *
 * - The cache in the state directory is read first, so that a start needs no server. Then the
 *   server is queried, and again after --model.refresh. Unchanged content is not sent again (ETag,
 *   SHA-256). After a failure, net/backoff.h determines the next attempt.
 * - A URL with a path that ends in .json is a file. Any other URL is a model server: its second API
 *   is queried (docs/model-server.md), or upstream's POST /model if it has no second API.
 * - Content is hostile until it was checked: size, SHA-256, signature, syntax, and whether the
 *   model can be used. Refused content changes nothing: the last good model stays, also in the
 *   cache.
 *
 * Each good model is handed over when it comes, also to a program that runs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "estimate/model_offer.h"
#include "model/trained_model.h"

/* Borrowed for model_fetch_start() only; "" none. */
struct model_fetch_options {
	const char *url;
	const char *ca_file;    /* of https; "": the system's authorities */
	const char *token_file; /* sent over https only */
	const char *public_key; /* that must have signed the model */
	const char *state_dir;  /* "": nothing is cached */
	uint64_t refresh_ns;
	struct model_wish wish;
	void (*start_thread)(void); /* gives up rights; or NULL */
};

struct model_fetch_stats {
	bool up;        /* the last answer was good, or was that nothing has changed */
	bool is_cached; /* the model came from the cache, and no answer was good yet */
	uint64_t requests, failures, refused;
	double age_s;                    /* since the last good answer; NAN never */
	char model[MODEL_NAME_MAX];      /* the last good one; "" none */
	char last_error[DIAG_TEXT_MAX];  /* "" where the last answer was good */
	char cache_error[DIAG_TEXT_MAX]; /* why nothing is cached, or the cache is not used */
};

struct model_fetch;

/* Loads the libraries, and starts the thread. 0 or -errno with diag. */
int model_fetch_start(const struct model_fetch_options *options, struct model_fetch **ret,
		      struct diag *diag);
/* Waits for the thread for two seconds at most; one that hangs in a file keeps its data. */
void model_fetch_stop(struct model_fetch *fetch);
/* Until there is a model to take, or the first request has ended; @patience_ns at most. */
void model_fetch_await(struct model_fetch *fetch, uint64_t patience_ns);
/* The newest good model, given once; checked (trained_model_check()). */
bool model_fetch_take(struct model_fetch *fetch, struct trained_model *ret);
void model_fetch_get_stats(struct model_fetch *fetch, struct model_fetch_stats *ret);

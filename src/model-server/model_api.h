/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages of the model server: upstream's POST /model and GET /best-models, the second API below
 * /api/v2/, /metrics, /healthz and /readyz. docs/model-server.md describes them.
 *
 * An answer comes from one edition of the repository (edition.h), to which the server's thread has
 * a reference meanwhile; the lock is held only to take the reference, and to put a new edition in
 * place of the old one. In one turn of the server's loop answers are made for some milliseconds;
 * requests that come after that wait for a later turn.
 */
#pragma once

#include "model-server/api_state.h"

#define MODEL_API_ROUTES      8
#define MODEL_API_REQUEST_MAX (64U << 10) /* bytes of a request of POST /model */

/* Fills @routes with all pages of @api. */
void model_api_routes(struct model_api *api, struct http_route routes[MODEL_API_ROUTES]);
/* Replaces the edition, which is taken over. */
void model_api_replace(struct model_api *api, struct edition *edition);
void model_api_note_failure(struct model_api *api);

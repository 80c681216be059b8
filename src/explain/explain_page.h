/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page /explain/WHAT: leaves the question and answers 202 until the loop has answered it, then
 * 200, or 404 where nothing is called so, as text or, where that is accepted, as JSON. Under
 * /api/v1/explain/WHAT, that answer is always JSON. Nothing waits in it. 400: nothing can be called
 * so; 503: too many ask at once.
 */
#pragma once

#include "explain/explain_desk.h"
#include "net/server/http_server.h"

#define EXPLAIN_PATH     "/explain/"
#define EXPLAIN_API_PATH "/api/v1/explain/"

/* @due_ns: CLOCK_MONOTONIC when the next interval ends, 0 unknown. On the server's thread. */
void explain_page(struct explain_desk *desk, const struct http_request *request, uint64_t now_ns,
		  uint64_t due_ns, struct http_response *response);

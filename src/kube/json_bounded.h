/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON from a peer, parsed only when it is not nested too deeply: the parser recurses, up to 2,048
 * times, and so does the release of what it made; a thread's stack does not bear that everywhere.
 * Pure.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

#define JSON_DEPTH_MAX 64 /* pods have about 10 */

/* NULL: no JSON, too deep, or no memory. */
json_t *json_parse_bounded(const char *text, size_t len);

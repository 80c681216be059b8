/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON of others is parsed only when it is not nested too deeply: a parser recurses (jansson up to
 * 2,048 times), and so does the release of what it made; a thread's stack does not bear that
 * everywhere. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define JSON_DEPTH_MAX 64 /* pods and containers' configurations have about 10 */

/* Whether more than JSON_DEPTH_MAX brackets are open anywhere in @text, JSON or not. */
bool json_is_too_deep(const char *text, size_t len);

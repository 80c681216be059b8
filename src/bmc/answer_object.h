/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON objects of machines on the network, which are checked as such: other values, objects that
 * are too deep, and numbers beyond all reason are not taken. Pure.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* NULL: no JSON object, too deep (base/text/json_scan.h), or no memory. */
json_t *answer_object(const char *text, size_t len);
/* A JSON number in 0..max; false for all else. */
bool answer_number(const json_t *value, double max, double *ret);
/* The text at @key; "" if it is missing. */
const char *answer_text(const json_t *object, const char *key);
/* For CLEANUP(). */
void answer_object_release(json_t **object);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON of files and requests that come from elsewhere: parsed only when it is not nested too deeply
 * (base/text/json_scan.h), and read by key with a type. Pure.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"

/* The object, or NULL with @name, the place and the reason in @diag. */
json_t *model_json_parse(const char *name, const char *text, size_t size, struct diag *diag);
/* For CLEANUP(). */
void model_json_release(json_t **value);
/* The text at @key, "" if it is missing. */
const char *model_json_text(const json_t *object, const char *key);
/* The finite number at @key, or NAN. */
double model_json_number(const json_t *object, const char *key);
/* The whole number at @key if it is in 0 … UINT32_MAX; else @none. */
uint32_t model_json_u32(const json_t *object, const char *key, uint32_t none);
/*
 * Writes @value sorted by key and indented, so that a change of one value changes one line; false:
 * no memory.
 */
bool model_json_dump(const json_t *value, struct strbuf *out);

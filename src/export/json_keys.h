/* SPDX-License-Identifier: Apache-2.0 */
/* The keys and values of a page that is JSON, with the commas between them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

void json_add_key(struct strbuf *out, const char *key);
void json_add_text(struct strbuf *out, const char *key, const char *text);
/* A value that is not known is null, never 0. */
void json_add_number(struct strbuf *out, const char *key, double value);
/* @value × 10^-@decimals, in a tenth of the time; @decimals up to 9. */
void json_add_scaled(struct strbuf *out, const char *key, uint64_t value, unsigned decimals);
void json_add_flag(struct strbuf *out, const char *key, bool flag);
/* An object of an array, on a line of its own; the caller closes it. */
void json_begin_item(struct strbuf *out);
/* A value without a key, in an array: null unless it is finite. */
void json_add_value(struct strbuf *out, double value);

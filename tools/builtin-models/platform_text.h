/* SPDX-License-Identifier: Apache-2.0 */
/* The platform model as C: its weights, and what it says of made-up machines, for its test. */
#pragma once

#include "base/strbuf.h"
#include "tools/builtin-models/platform_weights.h"

/* The facts about the model in the head of the file. */
struct platform_origin {
	const char *date;
	size_t types, rows;
	const char *errors; /* lines, each with a newline and no more than 90 characters */
};

/* src/model/platform_power_weights.c; strbuf_error(@out) has a failure. */
void platform_text_weights(const struct platform_model *model, const struct platform_origin *origin,
			   struct strbuf *out);
/* tests/unit/model/platform_power_expected.h */
void platform_text_expected(const struct power_model *model, struct strbuf *out);

/* SPDX-License-Identifier: Apache-2.0 */
/* Models from texts, for tests: read, or refused with words that are expected. */
#pragma once

#include <stdio.h>
#include <string.h>

#include "model/trained_model.h"

static inline int model_of(const char *file, const char *text, struct trained_model *ret,
			   struct diag *diag)
{
	return trained_model_parse(ret, file, text, strlen(text), diag);
}

/* Returns true if @text is refused, with @words in the message. */
static inline bool is_refused(const char *file, const char *text, const char *words)
{
	struct trained_model model;
	struct diag diag = { 0 };

	if (model_of(file, text, &model, &diag) == 0) {
		trained_model_release(&model);
		return false;
	}
	if (strstr(diag.text, words))
		return true;
	(void)fprintf(stderr, "# expected \"%s\" in: %s\n", words, diag.text);
	return false;
}

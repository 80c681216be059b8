/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a request to an answer: chooses a model of the repository, loads it once, and predicts. One
 * thread uses an estimator.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "repository/repository.h"

#define ESTIMATOR_MODELS_MAX 64 /* loaded models; the least recently used one is replaced */

struct estimator;

/* Takes @repository over, also on failure. NULL: no memory. */
struct estimator *estimator_new(struct repository *repository, const struct machine_spec *machine);
void estimator_free(struct estimator *estimator); /* NULL is fine */

/*
 * Answers one request: {"powers": {COMPONENT: [watts of each row]}, "msg": "", "core_ratio",
 * "model"}, or {"powers": {}, "msg": why not}. True: with powers.
 */
bool estimator_answer(struct estimator *estimator, const char *request, size_t size,
		      struct strbuf *out);
/* An answer without powers. */
void estimator_refuse(const char *why, struct strbuf *out);

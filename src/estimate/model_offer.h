/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The request to a model server for a machine's model, and the offer in its answer
 * (docs/model-server.md: the second API; upstream's POST /model). Answers are hostile. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "estimate/model_proof.h"
#include "model/trained_model.h"

#define MODEL_OFFER_MAX      65536 /* bytes of an answer */
#define MODEL_OFFER_PATH_MAX 1024
#define MODEL_SIGNATURE_MAX  256

/* The purpose of a model. */
struct model_wish {
	struct machine_spec machine; /* the processor as /proc/cpuinfo has it */
	char features[512];          /* names, separated by commas */
	enum model_output output;
};

/* The file of an answer. */
struct model_offer {
	char path[MODEL_OFFER_PATH_MAX]; /* "/api/v2/files/…" */
	char sha256[MODEL_PROOF_SHA256_LEN + 1];
	char signature[MODEL_SIGNATURE_MAX]; /* "" none */
	uint64_t size;
};

/*
 * GET of the second API, by @wish; arguments that @url has already stay as they are.
 */
void model_wish_url(const struct model_wish *wish, const char *url, struct strbuf *out);
/* Returns true if @url determines the output. */
bool model_wish_output_is_fixed(const char *url);
/* The body of upstream's POST /model. */
void model_wish_body(const struct model_wish *wish, struct strbuf *out);
/* 0; -EPROTO with diag: the answer is not valid. */
int model_offer_read(const char *text, size_t len, struct model_offer *ret, struct diag *diag);
/*
 * Adds facts about a model that the answer has and the file lacks: its output, the errors of its
 * components and the machine that it was trained on. Without them @model stays as it is.
 */
void model_offer_complete(const char *text, size_t len, struct trained_model *model);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a model server is asked for a machine, and what its answer offers (docs/model-server.md: the
 * second API; POST /model of upstream's). Answers are taken as hostile. Pure.
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

/* What a model is for. */
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
/* Whether @url says which output it is to be. */
bool model_wish_output_is_fixed(const char *url);
/* The body of upstream's POST /model. */
void model_wish_body(const struct model_wish *wish, struct strbuf *out);
/* 0; -EPROTO with diag: what of the answer is wrong. */
int model_offer_read(const char *text, size_t len, struct model_offer *ret, struct diag *diag);
/*
 * What the answer says of a model and the file does not: its output, the errors of its components
 * and the machine that it was trained on. An answer that says nothing changes nothing.
 */
void model_offer_complete(const char *text, size_t len, struct trained_model *model);

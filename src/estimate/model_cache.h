/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model that was fetched last, as a file in the state directory, so that a start needs no
 * server:
 *
 *     kepler-model-cache 2 URL
 *     etag ETAG
 *     output AbsPower
 *     lengths OFFER MODEL
 *     crc32 0a1b2c3d
 *
 * followed by the server's answer (OFFER bytes, 0 for the URL of a file) and the model (MODEL
 * bytes), both as they came. The CRC-32 covers these two. A file that is cut, changed, or belongs
 * to another URL is treated like a missing one. Its content is checked like an answer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "model/trained_model.h"

#define MODEL_CACHE_NAME     "fetched-model.cache"
#define MODEL_CACHE_ETAG_MAX 128

/* All owned; all zero: none. */
struct fetched_model {
	char etag[MODEL_CACHE_ETAG_MAX]; /* of the file, or of the server's answer; "" none */
	enum model_output output;        /* that was asked for; the server's answer has its own */
	char *offer;                     /* the server's answer; NULL none */
	size_t offer_len;
	char *text; /* of the model */
	size_t len;
};

void fetched_model_release(struct fetched_model *model);
/* Returns true if @etag can be sent again and kept: printable ASCII, and short enough. */
bool model_cache_is_etag(const char *etag, size_t len);
/* 0; -ENOENT: nothing is cached for @url; -EBADMSG: it is broken; or -errno with diag. */
int model_cache_load(const char *dir, const char *url, struct fetched_model *ret,
		     struct diag *diag);
/* Replaces it atomically. 0 or -errno with diag. */
int model_cache_save(const char *dir, const char *url, const struct fetched_model *model,
		     struct diag *diag);
/* The same for the content of the file. */
int model_cache_parse(const char *data, size_t size, const char *url, struct fetched_model *ret,
		      struct diag *diag);

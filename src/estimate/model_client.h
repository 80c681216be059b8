/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the server of --model.url, and its answers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "estimate/model_cache.h"
#include "net/backoff.h"
#include "net/http_client.h"

struct model_client {
	struct http_client *http;
	char *token_file; /* borrowed; sent over https only; "" none */
};

struct model_request {
	const char *url;
	const char *etag;    /* of the content that is held; NULL or "": none */
	const char *content; /* of a POST; NULL: GET */
	size_t max_bytes;
};

/* All zero at first. */
struct model_reply {
	int status;
	char etag[MODEL_CACHE_ETAG_MAX];
	struct strbuf body;
	bool connected; /* the server was reached */
	struct backoff_failure failure;
};

/* @options are borrowed for the call. 0, or -errno with diag: @url cannot be fetched. */
int model_client_open(struct model_client *client, const struct http_client_options *options,
		      char *token_file, const char *url, struct diag *diag);
void model_client_close(struct model_client *client);
/* 0 with any status, or -errno with diag; *ret is to be released in any case. */
int model_client_ask(struct model_client *client, const struct model_request *request,
		     struct model_reply *ret, struct diag *diag);
void model_reply_release(struct model_reply *answer);
/* -EPROTO with diag: the status, and the beginning of the body, made printable. */
int model_reply_refuse(const struct model_reply *answer, const char *url, struct diag *diag);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to an API server, all before one deadline: GET of objects, lists and pages, and POST of
 * reviews, which store nothing. A client belongs to one thread.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "doctor/cluster/cluster_facts.h"
#include "kube/kube_access.h"
#include "net/http_client.h"

struct api_client {
	const struct kube_access *access; /* borrowed */
	uint64_t end_ns;                  /* of CLOCK_MONOTONIC */
	struct http_client *http;
};

struct api_answer {
	int status; /* of HTTP; 0: there was none */
	struct strbuf body;
	char error[200];           /* of the API server, or why there was no answer; "" for 2xx */
	double date_s;             /* its Date, since 1970; NaN */
	struct clock_offset clock; /* by that Date */
	size_t items_left_out;     /* of a list: too large, or no JSON */
	bool is_status;            /* its body is a Status of the API server, no answer of a pod */
};

/* 0 or -errno with a diagnosis; plain http:// is for a proxy on this machine. */
int api_client_open(struct api_client *ret, const struct kube_access *access, uint64_t end_ns,
		    struct diag *diag);
void api_client_close(struct api_client *client);
void api_answer_release(struct api_answer *answer);
/*
 * GET of @path, or POST of the object @content (borrowed) unless it is NULL, within @timeout_ms
 * and @max_bytes. 0 with an answer of any status, else -errno; *ret is to be released in each case.
 */
int api_request(struct api_client *client, const char *path, const json_t *content,
		uint64_t timeout_ms, size_t max_bytes, struct api_answer *ret);
/* Gets an object of a list, borrowed. A result other than 0 ends the list with it. */
typedef int api_item_fn(void *userdata, json_t *item);
/*
 * Each object of a list, page by page. 0; else -errno or -EIO, and answer->status and answer->error
 * say what was wrong with the last page. @path may have a query.
 */
int api_list(struct api_client *client, const char *path, api_item_fn *item, void *userdata,
	     struct api_answer *answer);

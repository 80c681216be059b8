/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions to the API server, over verified TLS with this program's own credentials. For one
 * thread. Credentials are looked for with the first question, and again after each failure: a file
 * that is missing may come.
 */
#pragma once

#include "base/diag.h"
#include "base/strbuf.h"
#include "kube/kube.h"

/* Limits on a question. Two of them, about a token and about its owner, take less than 5 s. */
#define REVIEW_CONNECT_MS 1500
#define REVIEW_REQUEST_MS 2200
#define REVIEW_ANSWER_MAX 262144 /* bytes; an answer repeats the question, and the owner */

struct review_api;

/*
 * Loads the HTTP library, which a confined program cannot do later. Strings of @options are
 * copied. @cancel_fd: see http_client.h. 0 or -errno with a diagnosis.
 */
int review_api_new(const struct kube_options *options, int cancel_fd, struct review_api **ret,
		   struct diag *diag);
void review_api_free(struct review_api *api);
/*
 * Sends @body to @path, and appends the answer to @answer, which can have a token in it. 0 if the
 * server decided; -EBADMSG: it finds this one question unfit; other -errno, with a diagnosis that
 * has nothing of question or answer: it did not decide.
 */
int review_api_post(struct review_api *api, const char *path, const char *body,
		    struct strbuf *answer, struct diag *diag);

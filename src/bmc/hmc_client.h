/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of the Web Services of one IBM Hardware Management Console (SC27-2646), over TLS.
 *
 * It logs on when it first asks, logs on again when the console has ended the session, and ends
 * that by hmc_client_end(). Redirects are not followed, because the service has none.
 *
 * Used by one thread, but for @cancel_fd of its options.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"

#define HMC_PORT "6794" /* where the address has none */

struct hmc_client_options {
	const char *ca_file;  /* "": the system's authorities */
	const char *settings; /* the source of address and password, for messages: a file's name */
	uint64_t timeout_ms;  /* of one request */
	bool insecure;        /* the service's certificate is not verified */
	int cancel_fd;        /* readable: requests end with -ECANCELED; -1 none */
};

struct hmc_client;

/* Asks nothing yet. 0, or -errno with diag: see http_client_new(). */
int hmc_client_new(const struct hmc_client_options *options, struct hmc_client **ret,
		   struct diag *diag);
void hmc_client_free(struct hmc_client *client);
/* From now on requests go to @url as @user; a session of before is forgotten. 0 or -ENOMEM. */
int hmc_client_set_target(struct hmc_client *client, const char *url, const char *user,
			  const char *password);
/*
 * The object at @path ("/api/cpcs"), to be given up with json_decref(). 0; -EPERM: user or password
 * are refused, or the user may not; -ENOENT: there is none; -EBUSY: not now; -EBADMSG: the answer
 * is no JSON object; -EPROTO: another status; or as http_client_get(). diag is one line.
 */
int hmc_client_get(struct hmc_client *client, const char *path, json_t **ret, struct diag *diag);
/* The same for an object that is created at @path from @content, JSON. */
int hmc_client_post(struct hmc_client *client, const char *path, const char *content, json_t **ret,
		    struct diag *diag);
/* The same of an answer that is no JSON. */
int hmc_client_get_text(struct hmc_client *client, const char *path, struct strbuf *ret,
			struct diag *diag);
/* For how long the service has last asked to be left alone; 0: it has not. */
uint64_t hmc_client_retry_after_ns(const struct hmc_client *client);
/* Logs off, if it is logged on, within @timeout_ms. @cancel_fd must not be readable. */
void hmc_client_end(struct hmc_client *client, uint64_t timeout_ms);

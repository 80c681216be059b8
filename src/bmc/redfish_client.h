/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of one Redfish service (DMTF DSP0266): sessions, or HTTP Basic if the service has no
 * sessions; one request at a time, each with a deadline and a limit of bytes, over TLS.
 *
 * A session is made when one is needed, made again when the service has ended it (401), and deleted
 * by redfish_client_end(): controllers have few places for them. A redirect is followed once, and
 * only to another path of the same service. Messages name the address, and give advice; neither
 * the password nor the session's token is in them.
 *
 * Used by one thread, except for @cancel_fd of its options.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "bmc/redfish_answer.h"

struct redfish_client_options {
	const char *ca_file;  /* "": the system's authorities */
	const char *settings; /* the source of address and password, for messages: a file's name */
	uint64_t timeout_ms;  /* of one request */
	bool insecure;        /* the service's certificate is not verified */
	bool basic;           /* never a session */
	int cancel_fd;        /* readable: requests end with -ECANCELED; -1 none */
};

struct redfish_client;

/* Asks nothing yet. 0, or -errno with diag: see http_client_new(). */
int redfish_client_new(const struct redfish_client_options *options, struct redfish_client **ret,
		       struct diag *diag);
void redfish_client_free(struct redfish_client *client);
/* From now on requests go to @url as @user; a session of before is forgotten. 0 or -ENOMEM. */
int redfish_client_set_target(struct redfish_client *client, const char *url, const char *user,
			      const char *password);
/* The root of the service, for which no one has to log in. As redfish_client_get(). */
int redfish_client_get_root(struct redfish_client *client, json_t **ret, struct diag *diag);
/*
 * The object at @path, to be given up with json_decref(). 0; -EPERM: user or password are refused,
 * or the user may not; -ENOENT: there is none; -EBUSY: not now (503, 429); -EBADMSG: the answer is
 * no JSON object; -EPROTO: another status; or as http_client_get(). diag is one line.
 */
int redfish_client_get(struct redfish_client *client, const struct redfish_path *path, json_t **ret,
		       struct diag *diag);
/* As redfish_path_take_from(), of the service's own address. */
void redfish_client_take_link(const struct redfish_client *client, const char *link,
			      struct redfish_path *ret);
/* Returns true if @r of redfish_client_get() concerns the whole service or us, not one path. */
bool redfish_client_ends_search(int r);
/* For how long the service has last asked to be left alone; 0: it has not. */
uint64_t redfish_client_retry_after_ns(const struct redfish_client *client);
/* Deletes the session, if there is one, within @timeout_ms. @cancel_fd must not be readable. */
void redfish_client_end(struct redfish_client *client, uint64_t timeout_ms);

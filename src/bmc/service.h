/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HTTPS service of a management controller or console: one request at a time, each with a
 * deadline and a limit of bytes. Messages name the address, and say what to do; no secret is in
 * them. What the service answers is judged by who asks.
 *
 * Used by one thread, but for @cancel_fd of its options.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "net/http_client.h"

#define SERVICE_TOKEN_MAX 1024 /* of a session, with the terminator */

/* Its names in messages; all static. */
struct service_words {
	const char *name;      /* "BMC" */
	const char *what;      /* "a Redfish service" */
	const char *ca_option; /* "meter.redfish.ca-file" */
};

struct service_options {
	const struct service_words *words;
	const char *ca_file;  /* "": the system's authorities */
	const char *settings; /* the source of address and password, for messages: a file's name */
	uint64_t timeout_ms;  /* of one request */
	bool insecure;        /* the service's certificate is not verified */
	int cancel_fd;        /* readable: requests end with -ECANCELED; -1 none */
};

/* Only to be read, by who has it. */
struct service {
	const struct service_words *words;
	struct http_client *http;
	char *settings, *url, *user, *password;
	uint64_t timeout_ms;
	uint64_t retry_after_ns; /* for which it has last asked to be left alone; 0: it has not */
};

struct service_request {
	enum http_method method;
	const char *path;        /* "/redfish/v1/" */
	const char *accept;      /* a media type */
	const char *content;     /* NULL: none */
	bool with_user;          /* user and password go along */
	const char *auth_token;  /* X-Auth-Token; NULL: none */
	const char *api_session; /* X-API-Session; NULL: none */
	uint64_t timeout_ms;     /* 0: the service's */
	http_header_fn *header;  /* NULL: none; gets @userdata */
	void *userdata;
};

struct service_answer {
	int status;
	struct strbuf body;
};

/* Loads what services need (http_client_load()), on a thread that still may. */
int service_load(struct diag *diag);
/* Asks nothing yet. 0, or -errno with diag: see http_client_new(). */
int service_init(struct service *service, const struct service_options *options, struct diag *diag);
/* All zero is released as well. */
void service_release(struct service *service);
/* From now on requests go to @url as @user. 0 or -ENOMEM. */
int service_set_target(struct service *service, const char *url, const char *user,
		       const char *password);
/*
 * 0 with an answer of any status, whose body was emptied before; or as http_client_get(), with
 * advice.
 */
int service_ask(struct service *service, const struct service_request *request,
		struct service_answer *ret, struct diag *diag);
/* {"@user_key":…,"@password_key":…}, to be wiped. 0 or -ENOMEM. */
int service_login_content(const struct service *service, const char *user_key,
			  const char *password_key, struct strbuf *ret);
/* Overwrites what may be secret, and frees. */
void service_wipe(struct strbuf *content);
/* 301, 302, 307, 308 */
bool service_is_redirect(int status);
/*
 * -@err, with the refused action, its @status and a part of the service's own @message ("" if it
 * has none).
 */
int service_refuse(const struct service *service, int err, const char *what, int status,
		   const char *message, struct diag *diag);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A receiver to which data are pushed by HTTP: the credentials of this program, the way by which
 * it is reached, and one message with its answer. Secrets are in files, which are read for each
 * message, so that a token that is renewed counts at once. They are sent over https only, unless
 * the receiver is on this machine. Messages themselves are not secret.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "net/http_client.h"
#include "options/option.h"

#define PUSH_HEADERS_MAX 16

/* Strings are never NULL; "" none. */
struct push_target_options {
	char *headers[PUSH_HEADERS_MAX]; /* "NAME=VALUE" */
	size_t header_count;
	char *user, *password_file; /* HTTP Basic */
	char *token_file;           /* a bearer token */
	char *ca_file, *client_cert_file, *client_key_file;
	char *proxy_url;     /* http:// or socks5h://; "": the environment's */
	uint64_t timeout_ns; /* of one message with its answer */
};

/* Their rows, with names that begin with @prefix: @target is a member of @part. */
#define PUSH_TARGET_ROWS(prefix, part, target)                                                     \
	{ prefix ".headers",                                                                       \
	  NULL,                                                                                    \
	  OPTION_STRINGS,                                                                          \
	  OPTION_LIST(part, target.headers, target.header_count, PUSH_HEADERS_MAX),                \
	  .default_text = "",                                                                      \
	  .metavar = "NAME=VALUE",                                                                 \
	  .check = push_target_check_header,                                                       \
	  .help = "Further headers of each request, such as X-Scope-OrgID=tenant." },              \
		{ prefix ".user",                                                                  \
		  NULL,                                                                            \
		  OPTION_STRING,                                                                   \
		  OPTION_MEMBER(part, target.user),                                                \
		  .default_text = "",                                                              \
		  .metavar = "NAME",                                                               \
		  .may_be_empty = true,                                                            \
		  .help = "User name for basic authentication, over https or to this machine "     \
			  "only." },                                                               \
		{ prefix ".password-file",                                                         \
		  NULL,                                                                            \
		  OPTION_STRING,                                                                   \
		  OPTION_MEMBER(part, target.password_file),                                       \
		  .default_text = "",                                                              \
		  .metavar = "FILE",                                                               \
		  .may_be_empty = true,                                                            \
		  .help = "File with the user's password, readable only by its owner. It is read " \
			  "again "                                                                 \
			  "for each request." },                                                   \
		{ prefix ".token-file",                                                            \
		  NULL,                                                                            \
		  OPTION_STRING,                                                                   \
		  OPTION_MEMBER(part, target.token_file),                                          \
		  .default_text = "",                                                              \
		  .metavar = "FILE",                                                               \
		  .may_be_empty = true,                                                            \
		  .help = "File with a bearer token, readable only by its owner. It is read "      \
			  "again for "                                                             \
			  "each request, and sent over https or to this machine only." },          \
		{ prefix ".ca-file",                                                               \
		  NULL,                                                                            \
		  OPTION_STRING,                                                                   \
		  OPTION_MEMBER(part, target.ca_file),                                             \
		  .default_text = "",                                                              \
		  .metavar = "FILE",                                                               \
		  .may_be_empty = true,                                                            \
		  .help = "Certificates of authorities (PEM) that may have signed the receiver's " \
			  "certificate. Empty: the certificates of the system." },                 \
		{ prefix ".client-cert-file",                                                      \
		  NULL,                                                                            \
		  OPTION_STRING,                                                                   \
		  OPTION_MEMBER(part, target.client_cert_file),                                    \
		  .default_text = "",                                                              \
		  .metavar = "FILE",                                                               \
		  .may_be_empty = true,                                                            \
		  .help = "Certificate (PEM) by which Kepler identifies itself to the "            \
			  "receiver." },                                                           \
		{ prefix ".client-key-file",                                                       \
		  NULL,                                                                            \
		  OPTION_STRING,                                                                   \
		  OPTION_MEMBER(part, target.client_key_file),                                     \
		  .default_text = "",                                                              \
		  .metavar = "FILE",                                                               \
		  .may_be_empty = true,                                                            \
		  .help = "The certificate's private key (PEM), readable only by its owner." },    \
		{ prefix ".proxy",                                                                 \
		  NULL,                                                                            \
		  OPTION_STRING,                                                                   \
		  OPTION_MEMBER(part, target.proxy_url),                                           \
		  .default_text = "",                                                              \
		  .metavar = "URL",                                                                \
		  .may_be_empty = true,                                                            \
		  .check = push_target_check_proxy,                                                \
		  .help = "Proxy for the receiver: http://HOST:PORT or socks5h://HOST:PORT. "      \
			  "Empty: the proxy of the environment, but none to this machine." },      \
	{                                                                                          \
		prefix ".timeout", NULL, OPTION_DURATION, OPTION_MEMBER(part, target.timeout_ns),  \
			OPTION_RANGE(100 * NSEC_PER_MSEC, 300 * NSEC_PER_SEC),                     \
			.default_text = "10s", .metavar = "DURATION",                              \
			.help = "Time limit for one request with its response."                    \
	}

/* As option.check. A header that this program sets itself is refused. */
int push_target_check_header(const char *text, struct diag *diag);
int push_target_check_proxy(const char *text, struct diag *diag);
/* http:// or https://, without a user. */
int push_target_check_url(const char *text, struct diag *diag);

/* The @index-th file that it reads, "" if it is not used; NULL after the last. */
const char *push_target_file(const struct push_target_options *options, size_t index);

struct push_target;

/*
 * Sends nothing yet. @options and @url are borrowed. @cancel_fd: readable when a request has to
 * end. 0, or -errno with a diagnosis: as http_client_new(), -EINVAL where no message to @url can
 * ever be sent.
 */
int push_target_open(const struct push_target_options *options, const char *url,
		     const char *user_agent, int cancel_fd, struct push_target **ret,
		     struct diag *diag);
void push_target_close(struct push_target *target);

struct push_message {
	const char *content; /* [content_len] */
	size_t content_len;
	const char *content_type, *content_encoding; /* encoding NULL: none */
	const struct http_header *headers;           /* that the protocol asks for */
	size_t header_count;
	http_header_fn *header; /* called for each header of the answer; NULL: not */
	void *userdata;
};

#define PUSH_ANSWER_MAX (64 * 1024)

/* All zero at first. */
struct push_answer {
	int status;              /* 0: there was none */
	uint64_t retry_after_ms; /* 0: not sent */
	bool is_cut; /* the body is incomplete: too long, slow, or not as long as announced */
	struct strbuf body; /* at most PUSH_ANSWER_MAX bytes, as they came */
};

/*
 * 0 once the receiver has answered, whatever its status: one that has begun to answer has seen the
 * message. Else -errno with a diagnosis, as http_client_get(), also for a file that cannot be read.
 * *ret is emptied first, and to be released in any case.
 */
int push_target_send(struct push_target *target, const struct push_message *message,
		     struct push_answer *ret, struct diag *diag);
void push_answer_release(struct push_answer *answer);
/* The beginning of the answer's body for people: one line of printable ASCII in @buf. */
void push_answer_text(const struct push_answer *answer, char *buf, size_t size);

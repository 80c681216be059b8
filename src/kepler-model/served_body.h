/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A body that the model server answers with, ready in memory: made once, shared by all answers that
 * are under way, and freed by the last of them. Immutable once it is made; references are counted
 * atomically, because the server releases them on any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "net/http_handler.h"
#include "repository/checksum.h"

struct served_body {
	unsigned refs;
	int status;
	const char *type; /* static */
	char *data;       /* owned */
	size_t len;
	char sha256[CHECKSUM_TEXT_LEN + 1];
	char etag[CHECKSUM_TEXT_LEN + 3]; /* the same in quotes */
	char file_name[96];               /* "" none */
	char *signature;                  /* owned; NULL none */
};

/*
 * Takes @data over, also on failure; NULL: no memory. @file_name may be NULL. With one reference.
 */
struct served_body *served_body_new(int status, const char *type, char *data, size_t len,
				    const char *file_name);
struct served_body *served_body_ref(struct served_body *body);
void served_body_unref(struct served_body *body); /* NULL is fine */
/*
 * Answers with it: to GET with its tag, and 304 when the client has it already. Takes a reference.
 */
void served_body_answer(struct served_body *body, const struct http_request *request,
			struct http_response *response);
/* Whether the header If-None-Match has @etag. Pure. */
bool etag_is_among(const char *if_none_match, const char *etag);

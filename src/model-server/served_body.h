/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A body that the model server answers with, ready in memory: made once, shared by all answers that
 * are under way, and freed by the last of them. Immutable once it is made; references are counted
 * atomically, because the server releases them on any thread.
 *
 * All bodies that exist are counted in bytes, whatever holds them: a new one that would bring the
 * sum above SERVED_BODIES_MAX is not made, and of the last SERVED_BODIES_RESERVE of these only
 * small ones are. So clients that read slowly cannot fill the memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "net/server/http_handler.h"
#include "repository/checksum.h"

#define SERVED_BODIES_MAX     (80U << 20)
#define SERVED_BODIES_RESERVE (8U << 20)
#define SERVED_BODY_SMALL     (64U << 10)

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
 * Takes @data, @len bytes and a zero, over, also on failure. @file_name may be NULL. With one
 * reference. NULL: no memory, or the bodies that exist leave no room.
 */
struct served_body *served_body_new(int status, const char *type, char *data, size_t len,
				    const char *file_name);
struct served_body *served_body_ref(struct served_body *body);
void served_body_unref(struct served_body *body); /* NULL is fine */
/* Returns true if only the caller has it. */
bool served_body_is_unshared(const struct served_body *body);
/* Bytes of one body, and of all that exist, with what describes them. Any thread. */
size_t served_body_bytes(const struct served_body *body);
size_t served_bodies_total(void);
/*
 * Answers with it: to GET with its tag, and 304 when the client has it already. Takes a reference.
 */
void served_body_answer(struct served_body *body, const struct http_request *request,
			struct http_response *response);
/* Returns true if the header If-None-Match has @etag. Pure. */
bool etag_is_among(const char *if_none_match, const char *etag);

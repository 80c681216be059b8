// SPDX-License-Identifier: Apache-2.0
#include "model-server/served_body.h"

#include <stdio.h>
#include <string.h>

#include "base/macro.h"

static size_t total; /* bytes of all bodies; atomic */

size_t served_body_bytes(const struct served_body *body)
{
	return sizeof(*body) + body->len;
}

size_t served_bodies_total(void)
{
	return __atomic_load_n(&total, __ATOMIC_RELAXED);
}

/* A refused body is added and subtracted again, so two threads cannot both fit. */
static bool fits(const struct served_body *body)
{
	size_t bytes = served_body_bytes(body);
	size_t limit = SERVED_BODIES_MAX;

	if (body->len > SERVED_BODY_SMALL)
		limit -= SERVED_BODIES_RESERVE;
	if (__atomic_add_fetch(&total, bytes, __ATOMIC_RELAXED) <= limit)
		return true;
	__atomic_fetch_sub(&total, bytes, __ATOMIC_RELAXED);
	return false;
}

/*
 * Gives back the unused end of a buffer that grew by doubling. A small buffer is copied, because
 * its unused end would be a hole in the heap.
 */
static char *without_spare(char *data, size_t len)
{
	char *exact = len <= SERVED_BODY_SMALL ? malloc(len + 1) : realloc(data, len + 1);

	if (!exact || len > SERVED_BODY_SMALL)
		return exact ? exact : data;
	memcpy(exact, data, len + 1);
	free(data);
	return exact;
}

struct served_body *served_body_new(int status, const char *type, char *data, size_t len,
				    const char *file_name)
{
	struct served_body *body = data ? calloc(1, sizeof(*body)) : NULL;

	if (body)
		*body = (struct served_body){
			.refs = 1, .status = status, .type = type, .data = data, .len = len
		};
	if (!body || checksum_of(data, len, body->sha256) < 0 || !fits(body)) {
		free(data);
		free(body);
		return NULL;
	}
	body->data = without_spare(data, len);
	(void)snprintf(body->etag, sizeof(body->etag), "\"%s\"", body->sha256);
	if (file_name)
		(void)snprintf(body->file_name, sizeof(body->file_name), "%s", file_name);
	return body;
}

struct served_body *served_body_ref(struct served_body *body)
{
	__atomic_fetch_add(&body->refs, 1, __ATOMIC_RELAXED);
	return body;
}

void served_body_unref(struct served_body *body)
{
	if (!body || __atomic_sub_fetch(&body->refs, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	__atomic_fetch_sub(&total, served_body_bytes(body), __ATOMIC_RELAXED);
	free(body->signature);
	free(body->data);
	free(body);
}

bool served_body_is_unshared(const struct served_body *body)
{
	return __atomic_load_n(&body->refs, __ATOMIC_ACQUIRE) == 1;
}

static void release(void *owner)
{
	served_body_unref(owner);
}

/* RFC 9110 §13.1.2: "*" or a list of tags; a weak tag compares like a strong one. */
bool etag_is_among(const char *if_none_match, const char *etag)
{
	const char *found;

	if (strcmp(if_none_match, "*") == 0)
		return true;
	found = strstr(if_none_match, etag);
	return found &&
	       (found == if_none_match || found[-1] == ' ' || found[-1] == ',' || found[-1] == '/');
}

void served_body_answer(struct served_body *body, const struct http_request *request,
			struct http_response *response)
{
	bool tagged = body->status == 200 && !request->body;

	*response = (struct http_response){
		.status = body->status,
		.content_type = body->type,
		.body = body->data,
		.len = body->len,
		.release = release,
		.owner = body,
		.etag = tagged ? body->etag : NULL,
		.file_name = body->file_name[0] ? body->file_name : NULL,
	};
	if (tagged && etag_is_among(request->if_none_match, body->etag)) {
		response->status = 304;
		response->len = 0;
	}
	(void)served_body_ref(body);
}

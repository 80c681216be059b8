/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a request, as it arrives in pieces: bounded, and freed with the request. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct http_upload {
	char *data;
	size_t len, size;
	size_t max;
	bool too_long; /* more than max bytes came; none is kept */
	bool failed;   /* no memory */
};

/* NULL: no memory. */
struct http_upload *http_upload_new(size_t max);
/* Appends, or notes why it cannot. */
void http_upload_add(struct http_upload *upload, const char *data, size_t len);
void http_upload_free(struct http_upload *upload);

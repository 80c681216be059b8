/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The header lines of a request as a list of libcurl. Lines may contain tokens, so their copies are
 * erased before they are freed. Names and values are checked here, so that none begins another
 * header.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "net/curl_library.h"
#include "net/http_header.h"

/* True if @token can be the value of a header, or is NULL (there is no token). */
bool http_header_is_token(const char *token);
#define HTTP_HEADER_NAME_MAX 128
/* 0; -EINVAL with "must be …" in @diag: @name or @value cannot be in a header. */
int http_header_check(const char *name, const char *value, struct diag *diag);
/* Does a header of this name hold a secret, as far as names tell? Authorization, Api-Key. */
bool http_header_is_secret(const char *name);
/* Append "@line"; "@name@value", where @name ends with ": ". *list begins as NULL. 0 or -ENOMEM. */
int http_header_list_add_line(const struct curl_library *curl, const char *line,
			      struct curl_slist **list);
int http_header_list_add(const struct curl_library *curl, const char *name, const char *value,
			 struct curl_slist **list);
/* Appends all of @headers. 0; -ENOMEM; -EINVAL, as http_header_check(). */
int http_header_list_add_all(const struct curl_library *curl, const struct http_header *headers,
			     size_t count, struct curl_slist **list, struct diag *diag);
void http_header_list_free(const struct curl_library *curl, struct curl_slist *list);

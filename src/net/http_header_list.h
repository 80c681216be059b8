/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The header lines of a request as a list of libcurl. Lines may contain tokens, so their copies are
 * erased before they are freed.
 */
#pragma once

#include <stdbool.h>

#include "net/curl_library.h"

/* True if @token can be the value of a header, or is NULL (there is no token). */
bool http_header_is_token(const char *token);
/* Append "@line"; "@name@value", where @name ends with ": ". *list begins as NULL. 0 or -ENOMEM. */
int http_header_list_add_line(const struct curl_library *curl, const char *line,
			      struct curl_slist **list);
int http_header_list_add(const struct curl_library *curl, const char *name, const char *value,
			 struct curl_slist **list);
void http_header_list_free(const struct curl_library *curl, struct curl_slist *list);

/* SPDX-License-Identifier: Apache-2.0 */
/* The permitted forms of --model.url, and their meaning. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/strbuf.h"

/* True if @url is of one file (its path ends in .json), else of a server. */
bool model_url_is_file(const char *url);
/* 0; -EINVAL with diag. */
int model_url_check(const char *url, struct diag *diag);
/* Writes @url without its query and the slashes at its end, followed by @path. */
void model_url_join(const char *url, const char *path, struct strbuf *out);
/* Length of @url up to its query or fragment. */
size_t model_url_path_end(const char *url);

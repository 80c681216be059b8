/* SPDX-License-Identifier: Apache-2.0 */
/* A body as gzip (RFC 1952), for clients that offer to take it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

/*
 * From now on libdeflate compresses, if it is installed (True), or zlib. A program that pushes
 * loads it before it gives up the right to open files.
 */
bool gzip_body_load(void);
/*
 * Replaces the contents of @out by @text, compressed. The same text gives the same bytes, by the
 * same library. 0 or -ENOMEM.
 */
int gzip_body(const char *text, size_t len, struct strbuf *out);

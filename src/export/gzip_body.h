/* SPDX-License-Identifier: Apache-2.0 */
/* A body as gzip (RFC 1952), for clients that offer to take it. */
#pragma once

#include <stddef.h>

#include "base/strbuf.h"

/*
 * Replaces the contents of @out by @text, compressed. The same text gives the same bytes. 0 or
 * -ENOMEM.
 */
int gzip_body(const char *text, size_t len, struct strbuf *out);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Untrusted text in a page of HTML, between tags or as an attribute's value in quotes.
 */
#pragma once

#include <stddef.h>

#include "base/strbuf.h"

/*
 * The text up to its end or @max bytes, escaped. Invalid UTF-8 and control characters become
 * U+FFFD.
 */
void html_add_text(struct strbuf *out, const char *text, size_t max);

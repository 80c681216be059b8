/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a block of Snappy (google/snappy: format_description.txt); fails where it is not one. */
#pragma once

#include <stddef.h>

#include "base/strbuf.h"

/* Replaces the contents of @out. Returns the number of the block's elements. */
size_t snappy_content(const char *block, size_t len, struct strbuf *out);

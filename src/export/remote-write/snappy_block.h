/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snappy's block format, which remote write asks for (google/snappy: format_description.txt).
 * libsnappy compresses if it is installed; it is loaded at run time, because with the C++ library
 * that it needs it would cost every other program 2 MB. Without it the block has literals alone,
 * which each decoder reads, and is as long as its content.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

/* Loads the library, before the program gives up the right to open files. True: it is there. */
bool snappy_block_load(void);
/* Appends @bytes as a block. 0 or -ENOMEM. */
int snappy_block(const char *bytes, size_t len, struct strbuf *out);
/* The same with literals alone. */
int snappy_block_literal(const char *bytes, size_t len, struct strbuf *out);

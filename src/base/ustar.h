/* SPDX-License-Identifier: Apache-2.0 */
/* An archive of regular files in the form ustar of POSIX.1 (pax, "ustar Interchange Format"). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/*
 * Appends a file of mode 0644 without an owner. @name has up to 99 bytes, @len up to 8 GiB,
 * @mtime_s is from 0 up; what is beyond that fails @out. Lack of memory is @out's error.
 */
void ustar_add(struct strbuf *out, const char *name, const void *data, size_t len, int64_t mtime_s);
/* The end of the archive. */
void ustar_end(struct strbuf *out);

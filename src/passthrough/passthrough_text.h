/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record as text, for files. The last line has a CRC of all lines before, so that a file that is
 * read while it is written is refused.
 */
#pragma once

#include <stddef.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "passthrough/passthrough_record.h"

#define PASSTHROUGH_TEXT_MAX 4096

/* Adds a record without fault. */
void passthrough_text_write(const struct passthrough_record *record, struct strbuf *out);
/* Reads the text that fills @text. 0, or -errno with @diag. *ret only on success. */
int passthrough_text_read(const char *text, size_t len, struct passthrough_record *ret,
			  struct diag *diag);

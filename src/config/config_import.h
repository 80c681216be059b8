/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration of another Kepler as one of ours. */
#pragma once

#include "base/diag.h"
#include "base/strbuf.h"

struct import_counts {
	unsigned translated, needless; /* keys */
	unsigned left_out; /* among them values that are not allowed here, and unknown keys */
};

/*
 * Translates text[0..len), see import_source.h. @out: YAML that config_load_text() accepts, in
 * which keys without an option here are comments. @report: a line for each such key,
 * "NAME:LINE:COLUMN: KEY: …". 0; -EINVAL with a diagnosis if the text is not a configuration of
 * Kepler, or (with text in @out) two values exclude each other here; -ENOMEM.
 */
int config_import(const char *name, const char *text, size_t len, struct strbuf *out,
		  struct strbuf *report, struct import_counts *ret, struct diag *diag);

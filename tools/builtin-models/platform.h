/* SPDX-License-Identifier: Apache-2.0 */
/* builtin-models platform: the platform model, from a table of SPECpower_ssj2008 results. */
#pragma once

#include "base/diag.h"
#include "base/strbuf.h"
#include "tools/builtin-models/options.h"

/*
 * Fits the model to the table in @path, writes the files that @config names, and prints to @out how
 * far off it is. 0, or -errno with a diagnosis.
 */
int builtin_platform_train(const struct builtin_config *config, const char *path,
			   struct strbuf *out, struct diag *diag);

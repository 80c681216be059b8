/* SPDX-License-Identifier: Apache-2.0 */
/* What a run of bench has made: each model's errors on rows that it had not seen. */
#pragma once

#include "base/diag.h"
#include "base/strbuf.h"

/*
 * Adds a line for each component of the model in @folder/@name: 0, or -errno with a diagnosis.
 */
int bench_summary_add(const char *folder, const char *name, struct strbuf *out, struct diag *diag);

/* SPDX-License-Identifier: Apache-2.0 */
/* Phases from CSV: a line "name,start,end", then one line for each; times as in series_form.h. */
#pragma once

#include "base/diag.h"
#include "judging/result.h"

#define PHASES_MAX 1024

/* 0, or -errno with a diagnosis. *ret is owned by the caller. */
int phase_file_read(const char *path, struct phase **ret, size_t *ret_count, struct diag *diag);

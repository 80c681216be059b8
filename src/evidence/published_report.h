/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON reports of upstream's validator, the old form ({"metric-name": N, "value": {"mse", …}})
 * and the newer one ({N: {"mse", …}}); numbers may be texts, and infinite.
 */
#pragma once

#include <stddef.h>

#include "base/diag.h"
#include "evidence/text_input.h"
#include "judging/published.h"

#define PUBLISHED_MAX 4096

struct published_report {
	struct published *items;
	size_t count, size;
};

/* 0; -ENOENT: it has no errors in it; or -errno, with a diagnosis. To be released in any case. */
int published_report_read(const char *path, struct published_report *ret, struct diag *diag);
int published_report_read_input(struct text_input *input, struct published_report *ret,
				struct diag *diag);
void published_report_release(struct published_report *report);

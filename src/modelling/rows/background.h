/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The background: the work on a machine other than the work that a model is trained for. Its owners
 * already ran in an idle time, or are named by hints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "samples/extraction.h"

#define HINTS_MAX 64

struct background {
	const char *const *hints, *const *target_hints; /* parts of names; borrowed */
	size_t hint_count, target_hint_count;
	struct extraction idle; /* the idle time, by owner; no rows: none was given */
};

/* Reads the idle time's series. 0, or -errno with a diagnosis. */
int background_read(struct background *background, const struct extract_options *options,
		    const char *path, struct diag *diag);
/* extract_options.is_background, over a struct background. */
bool background_has(void *userdata, const char *owner);
/* Mean power of a column in the idle time; NAN if it is unknown. */
double background_watts(const struct background *background, const char *column);
void background_release(struct background *background);

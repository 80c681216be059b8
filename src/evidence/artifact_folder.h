/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The artifacts of a run of upstream's validator: a folder with a file for each query, with the
 * name LABEL-METRIC--MODE.json. The files of two labels, such as "metal" and "vm", that are equal
 * in the rest of their names are a pair: one is the actual series, the other the predicted one.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

#define ARTIFACT_PAIRS_MAX 1024

struct artifact_pair {
	char name[NAME_MAX + 1];  /* METRIC--MODE */
	char *actual, *predicted; /* paths */
};

struct artifact_pairs {
	struct artifact_pair items[ARTIFACT_PAIRS_MAX]; /* in the order of their names */
	size_t count;
	size_t alone; /* files of the actual label without a predicted one */
};

/* True if @place, "FOLDER#LABEL" or "FOLDER", names a folder. */
bool artifact_folder_is(const char *place);
/*
 * The pairs of two such places, which may be the same folder. 0; -ENOENT without any pair, -E2BIG,
 * -ENOMEM or another -errno with a diagnosis. artifact_pairs_release() in any case.
 */
int artifact_folder_pair(const char *actual, const char *predicted, struct artifact_pairs *ret,
			 struct diag *diag);
void artifact_pairs_release(struct artifact_pairs *pairs);

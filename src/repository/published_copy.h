/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A copy of a repository with the models that are good enough to be published, by the rule of
 * publication.h: their files, the rows of their tables, node types and descriptions, in an order
 * that is always the same. Models whose error is unknown and bad weights are left out.
 */
#pragma once

#include <stddef.h>

#include "base/diag.h"
#include "repository/repository.h"

struct published_copy {
	size_t models, left_out;
};

/* Files that are in @folder already are replaced. 0, or -errno with a diagnosis. */
int published_copy_write(const struct repository *repository, const char *folder,
			 struct published_copy *ret, struct diag *diag);

/* SPDX-License-Identifier: Apache-2.0 */
/* A tree of processes as JSON, as /api/v1/stat serves it: docs/stat.md. Pure. */
#pragma once

#include <stdbool.h>

#include "base/strbuf.h"
#include "rates/rates.h"
#include "stat/process_trees.h"

#define TREE_LEFT_MAX 16 /* processes that are named */

/*
 * Appends the page. @rates: at present, NULL: none is configured. @is_coarse: for a user without
 * privileges, in steps of 1 mJ and 1 ms. 0, -ENOENT or -ENOMEM.
 */
int tree_page(const struct process_trees *trees, uint32_t tree, const struct layout *layout,
	      const struct rate_values *rates, bool is_coarse, struct strbuf *out);

/* SPDX-License-Identifier: Apache-2.0 */
/* The catalog's part for counters: the columns of rows with families of their own. */
#pragma once

#include <stdbool.h>

#include "export/catalog/catalog.h"

/* The family of one counter, and its help text. Not to be copied. */
struct counter_family {
	struct family family;
	char help[160];
};

void counter_family(const struct family *family, const struct quantity *quantity,
		    struct counter_family *ret);
/*
 * True if a page of @schemas has a counter of @quantity under the names of @family. The classic
 * names of events begin with bpf_; rows have an event under another name only on a page that has
 * current names as well.
 */
bool counter_is_of_family(const struct family *family, const struct quantity *quantity,
			  unsigned schemas);

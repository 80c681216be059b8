/* SPDX-License-Identifier: Apache-2.0 */
/* What the catalog says of the counters of work that rows have (attribution/counters.h). */
#pragma once

#include <stdbool.h>

#include "export/catalog/catalog.h"

/*
 * Whether the kernel's own hooks count it, and no counter of the processor: its classic names begin
 * with bpf_.
 */
bool counter_is_event(enum signal signal);
/* A family of one counter: of a copy, in whose help stands what is counted. Not to be copied. */
struct counter_family {
	struct family family;
	char help[160];
};

void counter_family(const struct family *family, enum signal signal, struct counter_family *ret);
/*
 * Whether a page of @schemas has the counter of @signal under the names of @family: of rows that
 * have an event under its classic name, it has another one only where it has current names, too.
 */
bool counter_is_of_family(const struct family *family, enum signal signal, unsigned schemas);

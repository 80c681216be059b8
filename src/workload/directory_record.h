/* SPDX-License-Identifier: Apache-2.0 */
/* What one source says of one container, in one allocation. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "workload/directory.h"

struct directory_record {
	struct container_names names; /* point into text */
	size_t size;                  /* of text */
	char text[];
};

/* A copy, cut to size; NULL without memory. Freed by free(). */
struct directory_record *directory_record_new(const struct container_names *names);
/* The same of all? */
bool directory_record_equal(const struct directory_record *one,
			    const struct directory_record *other);
/* Copies it out; false: @size is too small. */
bool directory_record_copy(const struct directory_record *record, char *buffer, size_t size,
			   struct container_names *ret);

/* SPDX-License-Identifier: Apache-2.0 */
/* Macros for rows of options (options/option.h) over members of a struct. */
#pragma once

#include <stddef.h>

#define FIELD(type, member) .offset = offsetof(struct type, member)
#define LIST(type, member, count, max_items)                                                       \
	FIELD(type, member), .count_offset = offsetof(struct type, count), .list_max = (max_items)
#define RANGE(low, high) .min = (low), .max = (high)

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a member of a struct that a table of metrics names. */
#pragma once

#include "base/health.h"
#include "export/sink.h"

/* The value of type @type (enum value_type) at @offset of @base. Times before 1970 count as 0. */
struct value value_read(const void *base, size_t offset, unsigned type);

/* SPDX-License-Identifier: Apache-2.0 */
/* Options of all commands that read rows of samples more than once (samples/sample_source.h). */
#pragma once

#include <stdint.h>

#include "options/option.h"

#define ROW_OPTION_COUNT 1

struct row_values {
	uint32_t memory; /* bytes */
};

/* Rows over struct row_values. */
extern const struct option row_rows_of_options[ROW_OPTION_COUNT];

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state that a stand-in for a vendor's library reads in each call (tests/lab/nvml.c, hlml.c).
 */
#pragma once

#include "tests/unit/unit.h"

/* From here on the library says what @text has. */
static inline void lab_say(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the recordings of a running Kepler (--record.dir), in some time: of all files of the
 * ring, one after the other. The step between two files has no row.
 */
#pragma once

#include <stdint.h>

#include "base/diag.h"
#include "samples/extraction.h"

/* Returns 0 if a Kepler writes recordings there now, or -errno with a remedy. */
int recorded_rows_check(const char *folder, struct diag *diag);
/*
 * Writes the rows of that time to @output, as CSV: 0, or -errno with a diagnosis; -ENODATA without
 * rows. Says on standard error where the recordings do not have the beginning.
 */
int recorded_rows_write(const char *folder, const struct extract_options *options, int64_t start_us,
			int64_t end_us, const char *output, struct diag *diag);

/* SPDX-License-Identifier: Apache-2.0 */
/* The points of a collection as CSV: a line each, of metric, timestamp, value and labels. */
#pragma once

#include "base/diag.h"

/* Writes @csv from the collection @path, as a stream: 0 or -errno with a diagnosis. */
int points_csv_write(const char *path, const char *csv, struct diag *diag);

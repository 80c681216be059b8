/* SPDX-License-Identifier: Apache-2.0 */
/* A series in CSV: one column of times, one of values. */
#pragma once

#include "base/diag.h"
#include "evidence/series_pick.h"
#include "evidence/text_input.h"

#define SERIES_CSV_LINE_MAX 65536

/* Reads all of @input into @pick: 0 or -errno with a diagnosis. */
int series_csv_read(struct text_input *input, struct series_pick *pick, struct diag *diag);

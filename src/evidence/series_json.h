/* SPDX-License-Identifier: Apache-2.0 */
/* Series in JSON: artifacts of upstream's validator and responses of Prometheus. */
#pragma once

#include "base/diag.h"
#include "evidence/series_pick.h"
#include "evidence/text_input.h"

/*
 * Reads all of @input into @pick. An artifact has its times and its values apart, so @again, a
 * second reader of the same file at its beginning, reads the times; NULL: the file cannot be read
 * twice, and an artifact is refused. 0 or -errno with a diagnosis.
 */
int series_json_read(struct text_input *input, struct text_input *again, struct series_pick *pick,
		     struct diag *diag);

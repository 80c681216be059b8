/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The labels of a row's series, in the names of either schema, each followed by a comma. Two rows
 * with different labels in one schema have different ones in the other.
 */
#pragma once

#include <stdbool.h>

#include "base/strbuf.h"
#include "snapshot/snapshot.h"

void row_labels_classic(struct strbuf *out, enum level level, bool retired,
			const struct series_labels *labels);
void row_labels_current(struct strbuf *out, enum level level, bool retired,
			const struct series_labels *labels);

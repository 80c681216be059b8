/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a power model does on a table of samples, as one page of HTML that needs nothing else: no
 * script, no font, no network. For each component its error and how many samples its bound covers,
 * and charts: measured beside predicted, what is left over, power by load, which features matter.
 *
 * The samples are those that the caller gives. Where the model was trained on them, the errors are
 * smaller than on a machine that it has not seen; the page prints the model's own held-out error
 * beside them.
 *
 * How much a feature matters is measured, not read from the model: by how much the mean absolute
 * error grows when the feature's values are exchanged among the samples (Breiman, "Random Forests",
 * Machine Learning 45, 2001). The exchange is the same in each run.
 */
#pragma once

#include "base/diag.h"
#include "base/strbuf.h"
#include "model/trained_model.h"
#include "samples/sample_table.h"

/*
 * @power_columns: for each component of the model the column with its measured power in W, or
 * SAMPLE_COLUMN_NONE: then the component has its curve alone. Samples that lack a feature or the
 * power are left out, and the page says how many. 0, -ENOENT with the feature that no column has,
 * or -ENOMEM.
 */
int html_report_add(struct strbuf *out, const struct trained_model *model,
		    const struct sample_table *samples, const size_t *power_columns,
		    struct diag *diag);

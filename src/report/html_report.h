/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a power model does on samples (judged_samples.h), as one page of HTML that needs nothing
 * else: no script, no font, no network. For each component its error and how many samples its bound
 * covers, and charts: measured beside predicted, what is left over, power by load, which features
 * matter.
 *
 * The samples are those that the caller gives. Where the model was trained on them, the errors are
 * smaller than on a machine that it has not seen; the page prints the model's own held-out error
 * beside them.
 */
#pragma once

#include "base/diag.h"
#include "base/strbuf.h"
#include "model/trained_model.h"
#include "samples/sample_source.h"

/*
 * A component without measured power has its curve alone. Samples that lack a feature or the power
 * are left out, and the page says how many. Errors are those of judged_samples_read().
 */
int html_report_add(struct strbuf *out, const struct trained_model *model,
		    const struct sample_source *samples, struct diag *diag);

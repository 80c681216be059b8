/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results of a power model on samples (judged_samples.h), as one self-contained page of HTML:
 * no script, no font, no network. For each component its error and how many samples its bound
 * covers, and charts: measured and predicted power, residuals, power by load, the importance of
 * features.
 *
 * The caller gives the samples. If the model was trained on them, the errors are smaller than on a
 * machine that it has not seen. So errors of held-out samples come first, and the pictures of
 * errors show these if the caller has them.
 */
#pragma once

#include "base/diag.h"
#include "base/strbuf.h"
#include "model/trained_model.h"
#include "samples/sample_table.h"

/*
 * A component without measured power has its curve alone. Samples that lack a feature or the power
 * are left out, and the page says how many. @held_out may be NULL (judged_samples.h). Errors are
 * those of judged_samples_read().
 */
int html_report_add(struct strbuf *out, const struct trained_model *model,
		    const struct sample_table *samples, const struct sample_table *held_out,
		    struct diag *diag);

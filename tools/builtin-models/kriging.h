/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regression with Gaussian priors (kriging): several outputs of rows whose covariances are known.
 * Rasmussen and Williams, "Gaussian Processes for Machine Learning", MIT Press 2006, chapter 2; the
 * predictions of rows that are left out follow from the one inverse (section 5.4.2), whatever group
 * of rows it is.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

struct kriging {
	size_t rows, outputs;
	double *y;       /* [rows × outputs]: what was measured */
	double *inverse; /* [rows × rows], of the covariances */
	double *dual;    /* [rows × outputs]: inverse × y */
};

/*
 * @covariances [rows × rows] has those between rows, with the variance of the noise on its
 * diagonal, and is overwritten. 0, or with a diagnosis the errors of positive_solve(), or -ENOMEM.
 */
int kriging_fit(double *covariances, const double *y, size_t rows, size_t outputs,
		struct kriging *ret, struct diag *diag);
void kriging_release(struct kriging *fit);
/*
 * The outputs of each row by a fit without the rows of its group (@group [rows], each below rows),
 * into @ret [rows × outputs]. With @asked [rows × rows] another row is asked for in the place of
 * each: row by row its covariances with those that were fitted. 0, or errors as above.
 */
int kriging_hold_out(const struct kriging *fit, const uint32_t *group, const double *asked,
		     double *ret, struct diag *diag);

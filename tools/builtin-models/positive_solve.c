// SPDX-License-Identifier: Apache-2.0
#include "tools/builtin-models/positive_solve.h"

#include <errno.h>

#include "training/lapack_library.h"

int positive_solve(double *a, double *b, size_t n, size_t columns, struct diag *diag)
{
	const struct lapack_library *lapack;
	int r = lapack_library_get(&lapack, diag);

	if (r < 0)
		return r;
	if (lapack->dposv(LAPACK_COL_MAJOR, 'L', (lapack_int)n, (lapack_int)columns, a,
			  (lapack_int)n, b, (lapack_int)n) != 0)
		return diag_set(diag, -EINVAL, "a matrix of covariances is not positive definite");
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Linear equations whose matrix is symmetric and positive definite, by LAPACK (Cholesky). */
#pragma once

#include <stddef.h>

#include "base/diag.h"

/*
 * X of A X = B, in the place of @b. @a [n × n] is overwritten; @b has @columns columns of n values,
 * one after the other. 0, -EINVAL when A is not positive definite, or as lapack_library_get().
 */
int positive_solve(double *a, double *b, size_t n, size_t columns, struct diag *diag);

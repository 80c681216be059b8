/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LAPACK, loaded when it is first needed: OpenBLAS starts a thread per CPU when it is loaded.
 * These threads would receive signals that a server has blocked for itself, and use memory in
 * commands that train nothing.
 *
 * The headers are those of liblapacke-dev; any BLAS behind the library will do.
 */
#pragma once

#include <lapacke.h>

#include "base/diag.h"

struct lapack_library {
	__typeof__(LAPACKE_dgelsd) *dgelsd; /* least squares of the smallest norm */
	__typeof__(LAPACKE_dposv) *dposv;   /* A x = b, A symmetric and positive definite */
	__typeof__(LAPACKE_dgesdd) *dgesdd; /* singular values */
	__typeof__(LAPACKE_dgeqrf) *dgeqrf; /* A = Q R */
};

/*
 * The library, loaded once for the whole life of the process, from any thread. 0; -ENOENT when it
 * is not installed (diag names the package), -ENOSYS when it lacks a function.
 */
int lapack_library_get(const struct lapack_library **ret, struct diag *diag);

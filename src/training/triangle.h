/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Least squares over rows without end: the triangle R of the QR decomposition of all rows so far,
 * without Q. R'R is the normal equations, but R is found from the rows themselves, so that no
 * digits are lost by squaring (Demmel, Grigori, Hoemmen and Langou, "Communication-optimal Parallel
 * and Sequential QR and LU Factorizations", 2012: sequential TSQR). Rows are collected in a block
 * below the triangle, and LAPACK reduces both to the next triangle.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "training/lapack_library.h"

struct triangle {
	const struct lapack_library *lapack;
	size_t columns;
	size_t size;     /* rows of the matrix */
	size_t filled;   /* of these */
	double *matrix;  /* column by column; once reduced: the triangle, of min(filled, columns) */
	double *factors; /* [columns], LAPACK's */
	uint64_t rows;   /* in all */
};

/* 0 or -ENOMEM. */
int triangle_new(struct triangle *ret, const struct lapack_library *lapack, size_t columns);
void triangle_release(struct triangle *triangle);
/* @row has columns numbers, which are finite. 0, or -EINVAL, -ENOMEM. */
int triangle_add(struct triangle *triangle, const double *row);
/* Adds all rows of @other, which is reduced. */
int triangle_merge(struct triangle *triangle, const struct triangle *other);
/* Reduces what there is to the triangle. */
int triangle_reduce(struct triangle *triangle);

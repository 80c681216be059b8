// SPDX-License-Identifier: Apache-2.0
#include "training/triangle.h"

#include <errno.h>
#include <stdlib.h>

/* Rows of a block beside the triangle: enough that the triangle's own part of the work is small. */
#define BLOCK_ROWS 512

int triangle_new(struct triangle *ret, const struct lapack_library *lapack, size_t columns)
{
	struct triangle triangle = { .lapack = lapack, .columns = columns };

	triangle.size = 2 * columns + BLOCK_ROWS;
	triangle.matrix = calloc(triangle.size * columns, sizeof(*triangle.matrix));
	triangle.factors = calloc(columns, sizeof(*triangle.factors));
	*ret = triangle;
	if (!triangle.matrix || !triangle.factors) {
		triangle_release(ret);
		return -ENOMEM;
	}
	return 0;
}

void triangle_release(struct triangle *triangle)
{
	free(triangle->matrix);
	free(triangle->factors);
	*triangle = (struct triangle){ .columns = 0 };
}

int triangle_reduce(struct triangle *triangle)
{
	size_t n = triangle->columns;
	lapack_int r = triangle->lapack->dgeqrf(LAPACK_COL_MAJOR, (lapack_int)triangle->filled,
						(lapack_int)n, triangle->matrix,
						(lapack_int)triangle->size, triangle->factors);

	if (r != 0)
		return r < 0 && r > -1000 ? -EINVAL : -ENOMEM;
	if (triangle->filled > n)
		triangle->filled = n;
	/* What is below the diagonal is Q, which is not needed. */
	for (size_t column = 0; column < n; column++) {
		for (size_t row = column + 1; row < triangle->filled; row++)
			triangle->matrix[column * triangle->size + row] = 0;
	}
	return 0;
}

static int append(struct triangle *triangle, const double *row, size_t step)
{
	for (size_t column = 0; column < triangle->columns; column++)
		triangle->matrix[column * triangle->size + triangle->filled] = row[column * step];
	return ++triangle->filled < triangle->size ? 0 : triangle_reduce(triangle);
}

int triangle_add(struct triangle *triangle, const double *row)
{
	triangle->rows++;
	return append(triangle, row, 1);
}

int triangle_merge(struct triangle *triangle, const struct triangle *other)
{
	int r = 0;

	for (size_t row = 0; r == 0 && row < other->filled; row++)
		r = append(triangle, other->matrix + row, other->size);
	triangle->rows += other->rows;
	return r;
}

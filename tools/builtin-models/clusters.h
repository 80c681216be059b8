/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clusters of points: k-means (Lloyd, IEEE Transactions on Information Theory 28, 1982), from
 * points that are far from each other (Gonzalez, Theoretical Computer Science 38, 1985), so that no
 * chance is in it. Of points that are equally far the first one is taken.
 */
#pragma once

#include <stddef.h>

/*
 * Means of @clusters clusters of @points [count × dimensions] into @ret [clusters × dimensions].
 * @count is at least 1; where it is less than @clusters, some means are equal. 0 or -ENOMEM.
 */
int clusters_find(const double *points, size_t count, size_t dimensions, size_t clusters,
		  double *ret);
/* The square of the distance of two points. */
double clusters_distance2(const double *a, const double *b, size_t dimensions);

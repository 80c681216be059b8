// SPDX-License-Identifier: Apache-2.0
#include "tools/builtin-models/clusters.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

#define TURNS 30 /* means seldom move after twenty */

struct points {
	const double *at; /* [count × dimensions] */
	size_t count, dimensions;
};

double clusters_distance2(const double *a, const double *b, size_t dimensions)
{
	double sum = 0;

	for (size_t i = 0; i < dimensions; i++)
		sum += (a[i] - b[i]) * (a[i] - b[i]);
	return sum;
}

static const double *point_of(const struct points *points, size_t i)
{
	return points->at + i * points->dimensions;
}

static double distance2(const struct points *points, size_t i, const double *center)
{
	return clusters_distance2(point_of(points, i), center, points->dimensions);
}

static void take(const struct points *points, size_t i, double *center)
{
	memcpy(center, point_of(points, i), points->dimensions * sizeof(*center));
}

/* The first centre is the point nearest to the mean of all, each other the one farthest off. */
static void start(const struct points *points, size_t clusters, double *far, double *centers)
{
	size_t d = points->dimensions, chosen = 0;

	memset(centers, 0, d * sizeof(*centers));
	for (size_t i = 0; i < points->count; i++) {
		for (size_t k = 0; k < d; k++)
			centers[k] += point_of(points, i)[k] / (double)points->count;
	}
	for (size_t i = 1; i < points->count; i++) {
		if (distance2(points, i, centers) < distance2(points, chosen, centers))
			chosen = i;
	}
	take(points, chosen, centers);
	for (size_t i = 0; i < points->count; i++)
		far[i] = distance2(points, i, centers);
	for (size_t c = 1; c < clusters; c++) {
		chosen = 0;
		for (size_t i = 1; i < points->count; i++)
			chosen = far[i] > far[chosen] ? i : chosen;
		take(points, chosen, centers + c * d);
		for (size_t i = 0; i < points->count; i++) {
			double now = distance2(points, i, centers + c * d);

			far[i] = now < far[i] ? now : far[i];
		}
	}
}

/* Gives each point to the nearest centre; whether any point has changed its owner. */
static bool assign(const struct points *points, size_t clusters, const double *centers,
		   uint32_t *owner)
{
	bool changed = false;

	for (size_t i = 0; i < points->count; i++) {
		double least = distance2(points, i, centers);
		uint32_t nearest = 0;

		for (size_t c = 1; c < clusters; c++) {
			double now = distance2(points, i, centers + c * points->dimensions);

			if (now < least) {
				least = now;
				nearest = (uint32_t)c;
			}
		}
		changed = changed || owner[i] != nearest;
		owner[i] = nearest;
	}
	return changed;
}

/* A centre that owns no point stays. */
static void move(const struct points *points, size_t cluster, const uint32_t *owner, double *center)
{
	size_t own = 0;

	for (size_t i = 0; i < points->count; i++)
		own += owner[i] == cluster;
	for (size_t k = 0; own && k < points->dimensions; k++) {
		double sum = 0;

		for (size_t i = 0; i < points->count; i++)
			sum += owner[i] == cluster ? point_of(points, i)[k] : 0;
		center[k] = sum / (double)own;
	}
}

int clusters_find(const double *points, size_t count, size_t dimensions, size_t clusters,
		  double *ret)
{
	const struct points all = { points, count, dimensions };
	CLEANUP_FREE double *far = calloc(count, sizeof(*far));
	CLEANUP_FREE uint32_t *owner = calloc(count, sizeof(*owner));

	if (!far || !owner)
		return -ENOMEM;
	start(&all, clusters, far, ret);
	memset(owner, 0xff, count * sizeof(*owner));
	for (unsigned turn = 0; turn < TURNS && assign(&all, clusters, ret, owner); turn++) {
		for (size_t c = 0; c < clusters; c++)
			move(&all, c, owner, ret + c * dimensions);
	}
	return 0;
}

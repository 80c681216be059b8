// SPDX-License-Identifier: Apache-2.0
#include "tools/builtin-models/clusters.h"

#include "tests/unit/unit.h"
#include "training/random.h"

#define CLOUDS 5U
#define POINTS 40U /* of each cloud */

/* A mean for each cloud, whatever the order of the points. */
static void test_clouds_are_found(void **state)
{
	static double points[CLOUDS * POINTS * 2];
	double centers[CLOUDS * 2];
	struct random random = { 3 };

	for (size_t i = 0; i < CLOUDS * POINTS; i++) {
		points[2 * i] = 10.0 * (double)(i % CLOUDS) + random_part(&random);
		points[2 * i + 1] = random_part(&random);
	}
	assert_int_equal(clusters_find(points, CLOUDS * POINTS, 2, CLOUDS, centers), 0);
	for (size_t cloud = 0; cloud < CLOUDS; cloud++) {
		const double middle[] = { 10.0 * (double)cloud + 0.5, 0.5 };
		size_t found = 0;

		for (size_t c = 0; c < CLOUDS; c++)
			found += clusters_distance2(middle, centers + 2 * c, 2) < 0.3 * 0.3;
		assert_int_equal(found, 1);
	}
}

/* Two points far from each other: between them there is no centre, but at each of them. */
static void test_centers_are_means_of_their_points(void **state)
{
	const double points[] = { 0, 1, 9, 11 };
	double centers[2];

	assert_int_equal(clusters_find(points, 4, 1, 2, centers), 0);
	assert_true(fabs(centers[0] + centers[1] - 10.5) < 1e-12);
	assert_true(fabs(fabs(centers[0] - centers[1]) - 9.5) < 1e-12);
}

static void test_more_clusters_than_points(void **state)
{
	const double points[] = { 1, 2 };
	double centers[4];

	assert_int_equal(clusters_find(points, 2, 1, 4, centers), 0);
	for (size_t i = 0; i < 4; i++)
		assert_true(fabs(centers[i] - 1) < 1e-12 || fabs(centers[i] - 2) < 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clouds_are_found),
		cmocka_unit_test(test_centers_are_means_of_their_points),
		cmocka_unit_test(test_more_clusters_than_points),
	};

	return unit_run(tests);
}

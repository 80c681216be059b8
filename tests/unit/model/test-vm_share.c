// SPDX-License-Identifier: Apache-2.0
#include "model/vm_share.h"

#include "tests/unit/unit.h"

#define FULL   (VM_SHARE_LOADS - 1)
#define LAST   (FULL - 1) /* the highest load of neighbours */
#define MIDDLE (LAST / 2)

static void assert_near(double value, double expected)
{
	assert_true(fabs(value - expected) < 1e-9);
}

static struct vm_share share_of(unsigned vcpus, unsigned host_cpus, struct vm_hints hints)
{
	struct vm_share share;

	vm_share_init(&share, vcpus, host_cpus, &hints);
	return share;
}

static void test_share(void **state)
{
	struct vm_share share = share_of(8, 32, (struct vm_hints){ 0 });

	assert_near(share.share, 0.25);
	assert_near(share.load_low, 0);
	assert_near(share.load_high, 1);
	share = share_of(8, 32, (struct vm_hints){ 64, 0.2, 0.6 });
	assert_near(share.share, 0.125);
	assert_near(share.load_low, 0.2);
	assert_near(share.load_high, 0.6);
	assert_near(share_of(8, 4, (struct vm_hints){ 0 }).share, 1);
	assert_near(share_of(8, 0, (struct vm_hints){ 0 }).share, 1);
}

/* k is the host's load over the machine's part of it. */
static void test_ratio(void **state)
{
	struct vm_share share = share_of(8, 32, (struct vm_hints){ 0 });

	assert_near(vm_share_ratio(&share, 0.5, 0), 1); /* it is alone */
	assert_near(vm_share_ratio(&share, 0.5, LAST), (0.25 * 0.5 + 0.75) / (0.25 * 0.5));
	assert_near(vm_share_ratio(&share, 0.5, MIDDLE), (0.25 * 0.5 + 0.375) / (0.25 * 0.5));
	/* The host is as busy as the machine where the neighbours are. */
	share = share_of(8, 32, (struct vm_hints){ 0, 0.5, 0.5 });
	assert_near(vm_share_ratio(&share, 0.5, 3) * 0.25 * 0.5, 0.5);
	/* A full host does nothing but what is done. */
	assert_near(vm_share_ratio(&share, 0.5, FULL) * 0.25 * 0.5, 1);
	share = share_of(32, 32, (struct vm_hints){ 0 });
	assert_near(vm_share_ratio(&share, 0.5, LAST), 1); /* no neighbours */
}

/* Points in any order: the median, and what 19 of 21 are within. At one load nothing changes. */
static void test_loads_of_neighbours(void **state)
{
	struct vm_share share = share_of(8, 32, (struct vm_hints){ 0, 0.5, 0.5 });
	struct vm_point points[VM_SHARE_LOADS], both;

	for (size_t i = 0; i < FULL; i++)
		points[i] = (struct vm_point){ 10 + (double)(i * 8 % FULL), 0 };
	points[FULL] = (struct vm_point){ 1000, (double)NAN }; /* it cannot be */
	vm_share_combine(&share, points, &both);
	assert_near(both.watts, 20);
	assert_true(both.bound_w >= 9 && both.bound_w < 9.01);
	points[LAST].bound_w = (double)NAN;
	vm_share_combine(&share, points, &both);
	assert_near(both.watts, 20);
	assert_true(isnan(both.bound_w));
}

/* The more likely it is that the host is full, the nearer is its power. */
static void test_full_host(void **state)
{
	struct vm_share share = share_of(8, 32, (struct vm_hints){ 0 });
	struct vm_point points[VM_SHARE_LOADS], both;
	double before = 21;

	for (size_t i = 0; i < VM_SHARE_LOADS; i++)
		points[i] = (struct vm_point){ 31 - (double)i, 0 };
	for (int percent = 0; percent <= 100; percent += 10) {
		share.full = percent / 100.0;
		vm_share_combine(&share, points, &both);
		assert_true(both.watts <= before);
		before = both.watts;
	}
	assert_near(before, 10);
	assert_true(both.bound_w < 0.01);
}

static double load_of(const struct vm_share *share, size_t index)
{
	return share->load_low + (share->load_high - share->load_low) * (double)index / LAST;
}

/* A host whose curve bends; all are above a full one, which is asked for more than it has. */
static double watts_at(double load)
{
	return 40 / (1 + 4 * load);
}

/* Uniform numbers in 0..1, the same in each run. */
static double next_uniform(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005U + 1442695040888963407U;
	return ((double)(*seed >> 11) + 0.5) / (double)(1ULL << 53);
}

static double next_normal(uint64_t *seed)
{
	double radius = sqrt(-2 * log(next_uniform(seed)));

	return radius * cos(2 * M_PI * next_uniform(seed));
}

/* How many of @draws are within the bound; neighbours change from one to the next. */
static double coverage(const struct vm_share *share, const struct vm_point *points, int draws)
{
	struct vm_point both;
	uint64_t seed = 42;
	int inside = 0;

	vm_share_combine(share, points, &both);
	for (int i = 0; i < draws; i++) {
		bool is_full = next_uniform(&seed) < share->full;
		size_t index = is_full ? FULL : (size_t)(next_uniform(&seed) * FULL);
		double change = is_full ? 0 : VM_NEIGHBOUR_CHANGE * next_normal(&seed);
		double watts = is_full ? points[FULL].watts
				       : watts_at(load_of(share, index) * (1 + change));

		watts += points[index].bound_w / 1.645 * next_normal(&seed);
		inside += fabs(watts - both.watts) <= both.bound_w;
	}
	return (double)inside / draws;
}

/*
 * Nine of ten, whatever part the loads, the model and a full host have in it, and where the load is
 * known, so that what neighbours change is a large part of it.
 */
static void test_the_bound_covers_nine_of_ten(void **state)
{
	static const double bounds[] = { 0.05, 0.3, 1.2 }, fulls[] = { 0, 0.5, 0.97 };
	static const struct vm_hints hints[] = { { 0 }, { 0, 0.5, 0.6 } };

	for (size_t i = 0; i < 2 * ARRAY_SIZE(bounds) * ARRAY_SIZE(fulls); i++) {
		struct vm_share share = share_of(8, 32, hints[i % 2]);
		struct vm_point points[VM_SHARE_LOADS];

		share.full = fulls[i / 2 % ARRAY_SIZE(fulls)];
		for (size_t k = 0; k < VM_SHARE_LOADS; k++) {
			points[k].watts = watts_at(k == FULL ? 1.05 : load_of(&share, k));
			points[k].bound_w = points[k].watts * bounds[i / 2 / ARRAY_SIZE(fulls)];
		}
		assert_true(fabs(coverage(&share, points, 40000) - 0.9) < 0.03);
	}
}

/* A straight line costs the same whatever the neighbours do. */
static void test_no_spread_on_a_line(void **state)
{
	struct vm_share share = share_of(4, 64, (struct vm_hints){ 0 });
	struct vm_point points[VM_SHARE_LOADS], both;

	for (size_t i = 0; i < VM_SHARE_LOADS; i++) {
		double ratio = vm_share_ratio(&share, 0.3, i);

		points[i] = (struct vm_point){ 400 * share.share * 0.3 * ratio / ratio, 0 };
	}
	vm_share_combine(&share, points, &both);
	assert_near(both.watts, 400 * 4.0 / 64 * 0.3);
	assert_near(both.bound_w, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_ratio),
		cmocka_unit_test(test_loads_of_neighbours),
		cmocka_unit_test(test_full_host),
		cmocka_unit_test(test_the_bound_covers_nine_of_ten),
		cmocka_unit_test(test_no_spread_on_a_line),
	};

	return unit_run(tests);
}

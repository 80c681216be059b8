// SPDX-License-Identifier: Apache-2.0
/*
 * A guest of 4 CPUs for minutes of 5 s intervals, on a host that serves a part of whatever it
 * wants, or under a limit. What it wants changes every fourth interval.
 */
#include "model/vm_full.h"

#include "base/num.h"
#include "tests/unit/unit.h"

#define INTERVAL_NS (5 * NSEC_PER_SEC)
#define CPUS        4
#define SMALL       0.001 /* of the host's CPUs: what it does makes no difference to its host */
#define LOADS       12

struct guest {
	double limit;  /* of its CPUs' time */
	double served; /* of what it wants within the limit */
	double active; /* this part of an interval it is ready to run, and then the more */
};

static const double loads[LOADS] = {
	0.9, 0.35, 0.6, 0.15, 1.0, 0.75, 0.2, 0.5, 0.95, 0.8, 0.3, 0.65
};

static double add(struct vm_full *full, const struct guest *guest, double own)
{
	double active = fmax(guest->active, own);
	double ran = active * fmin(own / active, guest->limit) * guest->served;
	struct vm_waiting waiting = { INTERVAL_NS, (uint64_t)(ran * CPUS * INTERVAL_NS),
				      (uint64_t)((own - ran) * CPUS * INTERVAL_NS), CPUS, SMALL };

	return vm_full_add(full, &waiting);
}

/* The mean probability in the last minute of four in which the guest is held back. */
static double mean_probability(struct vm_full *full, const struct guest *guest)
{
	double sum = 0;

	for (size_t i = 0; i < 4 * LOADS; i++) {
		double probability = add(full, guest, loads[i / 4]);

		sum += i >= 3 * LOADS ? probability : 0;
	}
	return sum / LOADS;
}

static void test_no_waiting_proves_nothing(void **state)
{
	const struct guest guest = { 1, 1, 1 };
	struct vm_full full = { 0 };

	assert_true(mean_probability(&full, &guest) <= 0);
	assert_true(vm_full_add(&full, &(struct vm_waiting){ INTERVAL_NS, 0, 0, CPUS, SMALL }) <=
		    0);
	assert_true(vm_full_add(&full, &(struct vm_waiting){ 0, 5, 5, CPUS, SMALL }) <= 0);
}

static void test_a_host_that_serves_a_part_of_everything_is_full(void **state)
{
	static const struct guest guests[] = { { 1, 0.7, 1 }, { 1, 0.9, 1 }, { 1, 0.7, 0.5 } };

	for (size_t i = 0; i < ARRAY_SIZE(guests); i++) {
		struct vm_full full = { 0 };

		assert_true(mean_probability(&full, &guests[i]) > 0.95);
	}
}

/* It is held back in some of the intervals only, always to the same time. */
static void test_a_limit_is_not_taken_for_a_full_host(void **state)
{
	static const struct guest guests[] = {
		{ 0.5, 1, 1 }, { 0.25, 1, 1 }, { 0.4, 1, 0.6 }, { 0.7, 1, 0.6 }
	};

	for (size_t i = 0; i < ARRAY_SIZE(guests); i++) {
		struct vm_full full = { 0 };

		assert_true(mean_probability(&full, &guests[i]) < 0.2);
	}
}

/*
 * Half of the host's CPUs are ours, and neighbours ask for 1.4 times the other half: it is full
 * where the machine wants much, serves less the more it wants, and has room where it wants little.
 */
static void test_the_machine_itself_fills_the_host(void **state)
{
	struct vm_full full = { 0 };
	double probability, lowest = 1;

	for (size_t i = 0; i < 4 * LOADS; i++) {
		double own = loads[i / 4], demand = 0.5 * own + 0.5 * 1.4;
		double ran = own / fmax(1, demand);
		struct vm_waiting waiting = { INTERVAL_NS, (uint64_t)(ran * CPUS * INTERVAL_NS),
					      (uint64_t)((own - ran) * CPUS * INTERVAL_NS), CPUS,
					      0.5 };

		probability = vm_full_add(&full, &waiting);
		assert_true(demand > 1 || probability <= 0);
		if (demand > 1 && i >= 2 * LOADS)
			lowest = fmin(lowest, probability);
	}
	assert_true(lowest > 0.9);
}

/* One interval leaves it open, and so do many that are alike. */
static void test_a_constant_load_leaves_it_open(void **state)
{
	const struct guest guest = { 0.5, 1, 1 };
	struct vm_full full = { 0 };

	for (int i = 0; i < 100; i++)
		assert_true(fabs(add(&full, &guest, 1) - 0.5) < 1e-6);
}

/* However short they are, and however many: evidence comes with time. */
static void test_short_intervals_are_as_good_together(void **state)
{
	struct vm_full coarse = { 0 }, fine = { 0 };
	double of_coarse = 0, of_fine = 0;

	for (unsigned i = 0; i < 4; i++) {
		uint64_t ran_ns = (i % 2 ? 1 : 3) * NSEC_PER_SEC;

		of_coarse = vm_full_add(&coarse, &(struct vm_waiting){ INTERVAL_NS, ran_ns,
								       ran_ns / 5, CPUS, SMALL });
		for (int k = 0; k < 50; k++)
			of_fine = vm_full_add(&fine,
					      &(struct vm_waiting){ INTERVAL_NS / 50, ran_ns / 50,
								    ran_ns / 250, CPUS, SMALL });
	}
	assert_true(of_coarse > 0.9 && of_coarse < 0.95);
	assert_true(fabs(of_coarse - of_fine) < 0.01);
	for (unsigned k = 0; k < 100000; k++)
		of_fine = vm_full_add(&fine,
				      &(struct vm_waiting){ 1000, 500 + k % 500, 100, 1, SMALL });
	assert_true(of_fine >= 0 && of_fine <= 1);
}

/* A host that fills up is found within minutes, whatever was before. */
static void test_old_intervals_are_forgotten(void **state)
{
	const struct guest limited = { 0.3, 1, 1 }, served = { 1, 0.6, 1 };
	struct vm_full full = { 0 };

	(void)mean_probability(&full, &limited);
	for (int i = 0; i < 3; i++)
		(void)mean_probability(&full, &served);
	assert_true(mean_probability(&full, &served) > 0.9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_waiting_proves_nothing),
		cmocka_unit_test(test_a_host_that_serves_a_part_of_everything_is_full),
		cmocka_unit_test(test_a_limit_is_not_taken_for_a_full_host),
		cmocka_unit_test(test_the_machine_itself_fills_the_host),
		cmocka_unit_test(test_a_constant_load_leaves_it_open),
		cmocka_unit_test(test_short_intervals_are_as_good_together),
		cmocka_unit_test(test_old_intervals_are_forgotten),
	};

	return unit_run(tests);
}

// SPDX-License-Identifier: Apache-2.0
#include "trainers/online_clocks.h"

#include "tests/unit/unit.h"

static struct online_clocks clocks;

static void set(const char *name, double until_s)
{
	online_clocks_find(&clocks, name, 0)->until_s = until_s;
}

static void assert_begins_at(double expected_s)
{
	assert_true(fabs(online_clocks_begin(&clocks, 300, 7) - expected_s) < 1e-9);
}

static void each_node_has_its_own_clock(void **state)
{
	clocks.count = 0;
	assert_begins_at(7);
	assert_true(fabs(online_clocks_find(&clocks, "a", 900)->until_s - 900) < 1e-9);
	set("a", 1000);
	set("b", 800);
	assert_true(fabs(online_clocks_find(&clocks, "a", 5)->until_s - 1000) < 1e-9);
	assert_begins_at(800); /* the points of b come later than the points of a */
	set("b", 699);
	assert_begins_at(1000); /* b is away */
}

static void no_clock_is_ahead_of_the_time(void **state)
{
	clocks.count = 0;
	set("a", 1000);
	set("b", 30 * 86400);
	online_clocks_limit(&clocks, 1010);
	assert_begins_at(1000);
	assert_true(fabs(online_clocks_find(&clocks, "b", 0)->until_s - 1010) < 1e-9);
}

static void nodes_without_end_have_a_limit(void **state)
{
	char name[16];

	clocks.count = 0;
	for (int i = 0; i < 3 * ONLINE_NODES_MAX; i++) {
		(void)snprintf(name, sizeof(name), "node%d", i);
		set(name, 1000 + i);
	}
	assert_int_equal(clocks.count, ONLINE_NODES_MAX);
	assert_begins_at(1000 + 2 * ONLINE_NODES_MAX); /* the newest ones are there */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_node_has_its_own_clock),
		cmocka_unit_test(no_clock_is_ahead_of_the_time),
		cmocka_unit_test(nodes_without_end_have_a_limit),
	};

	return unit_run(tests);
}

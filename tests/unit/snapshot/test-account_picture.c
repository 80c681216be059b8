// SPDX-License-Identifier: Apache-2.0
#include "snapshot/account_picture.h"

#include "tests/unit/unit.h"

#define MS    1000000ULL
#define ZONES 3
#define DRAM  1

/* Two packages, 45 and 15 W dynamic, 5 W idle each, and a dram. */
struct node {
	struct zone kinds[ZONES];
	struct layout layout;
	struct snapshot_zone zones[ZONES];
};

static void set_up(struct node *node)
{
	*node = (struct node){ 0 };
	assert_int_equal(layout_init(&node->layout, false), 0);
	for (uint32_t z = 0; z < ZONES; z++) {
		node->kinds[z] = (struct zone){ .kind = z == 1 ? ZONE_DRAM : ZONE_PACKAGE,
						.source = "told" };
		assert_int_equal(layout_reserve(&node->layout, 1 + MODE_COUNT * (z + 1)), 0);
		layout_add_zone(&node->layout, &node->kinds[z]);
		node->zones[z] = (struct snapshot_zone){ .state = ZONE_UP,
							 .has_begun = true,
							 .rows_have_mode = { true, false },
							 .watts = { z ? 15 : 45, 5 },
							 .span_ns = 1000 * MS };
	}
}

static uint64_t packages_span(const struct node *node)
{
	return account_span_ns(&node->layout, 0, node->zones);
}

/* So that rows' watts equal the zones': (50 W × 1.00 s + 20 W × 1.07 s) / 70 W = 1.02 s. */
static void a_span_is_the_mean_by_energy(void **state)
{
	struct node node;

	set_up(&node);
	assert_int_equal(packages_span(&node), 1000 * MS);
	node.zones[2].span_ns = 1070 * MS;
	assert_int_equal(packages_span(&node), 1020 * MS);
	node.zones[0].watts[MODE_IDLE] = node.zones[2].watts[MODE_IDLE] = (double)NAN;
	node.zones[0].watts[MODE_DYNAMIC] = node.zones[2].watts[MODE_DYNAMIC] = 0;
	assert_int_equal(packages_span(&node), 1070 * MS);
	assert_int_equal(account_span_ns(&node.layout, 1, node.zones), 1000 * MS);
	layout_release(&node.layout);
}

/* A row's energy of a minute and of a second cannot be told apart in one sum. */
static void spans_that_differ_tell_no_power(void **state)
{
	struct node node;

	set_up(&node);
	node.zones[2].span_ns = 60000 * MS;
	assert_int_equal(packages_span(&node), 0);
	node.zones[2].span_ns = 1101 * MS;
	assert_int_equal(packages_span(&node), 0);
	node.zones[2].span_ns = 1100 * MS;
	assert_int_not_equal(packages_span(&node), 0);
	layout_release(&node.layout);
}

static void a_zone_without_a_span_hides_the_sum_while_it_counts(void **state)
{
	struct node node;

	set_up(&node);
	node.zones[2].span_ns = 0;
	assert_int_equal(packages_span(&node), 0);
	node.zones[2].state = ZONE_ERROR;
	assert_int_equal(packages_span(&node), 0);
	node.zones[2].state = ZONE_ABSENT; /* gone */
	assert_int_equal(packages_span(&node), 1000 * MS);
	node.zones[2].state = ZONE_UP;
	node.zones[2].has_begun = false; /* new, and shows 0 for a while */
	assert_int_equal(packages_span(&node), 1000 * MS);
	node.zones[2].has_begun = node.zones[2].ended = true;
	assert_int_equal(packages_span(&node), 1000 * MS);
	node.zones[0].ended = true;
	node.zones[0].span_ns = 0;
	assert_int_equal(packages_span(&node), 0);
	layout_release(&node.layout);
}

/*
 * Each mode has series of its own, so it has a mean of its own: (45 W × 1.00 s + 15 W × 1.08 s) /
 * 60 W of the dynamic energy, half of each of the idle energy.
 */
static void each_mode_has_its_own_mean(void **state)
{
	struct snapshot_account accounts[2];
	struct node node;

	set_up(&node);
	node.zones[2].span_ns = 1080 * MS;
	account_pictures(&node.layout, node.zones, accounts);
	assert_int_equal(accounts[0].mode_span_ns[MODE_DYNAMIC], 1020 * MS);
	assert_int_equal(accounts[0].mode_span_ns[MODE_IDLE], 1040 * MS);
	node.zones[2].span_ns = 1200 * MS;
	account_pictures(&node.layout, node.zones, accounts);
	assert_int_equal(accounts[0].mode_span_ns[MODE_DYNAMIC], 0);
	assert_int_equal(accounts[0].mode_span_ns[MODE_IDLE], 0);
	assert_true(accounts[0].lacks_power);
	layout_release(&node.layout);
}

/* A series of a sum is there once one of its zones has it. */
static void rows_have_what_one_zone_has(void **state)
{
	struct snapshot_account accounts[2];
	struct node node;

	set_up(&node);
	layout_bear_idle(&node.layout);
	node.zones[2].rows_have_mode[MODE_IDLE] = true;
	account_pictures(&node.layout, node.zones, accounts);
	assert_true(accounts[0].rows_have_mode[MODE_DYNAMIC]);
	assert_true(accounts[0].rows_have_mode[MODE_IDLE]);
	assert_true(accounts[DRAM].rows_have_mode[MODE_DYNAMIC]);
	assert_false(accounts[DRAM].rows_have_mode[MODE_IDLE]);
	assert_int_equal(accounts[DRAM].first_zone, 1);
	assert_int_equal(accounts[DRAM].span_ns, 1000 * MS);
	assert_int_equal(accounts[0].column[MODE_IDLE], layout_column(&node.layout, 2, MODE_IDLE));
	layout_release(&node.layout);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_span_is_the_mean_by_energy),
		cmocka_unit_test(spans_that_differ_tell_no_power),
		cmocka_unit_test(a_zone_without_a_span_hides_the_sum_while_it_counts),
		cmocka_unit_test(each_mode_has_its_own_mean),
		cmocka_unit_test(rows_have_what_one_zone_has),
	};

	return unit_run(tests);
}

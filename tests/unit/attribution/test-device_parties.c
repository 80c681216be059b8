// SPDX-License-Identifier: Apache-2.0
#include "attribution/device_parties.h"

#include "tests/unit/unit.h"

static void each_device_has_its_own(void **state)
{
	struct device_parties parties = { 0 };
	struct domain_work work;

	device_parties_begin(&parties);
	assert_int_equal(device_parties_add(&parties, 3, 7, 1, 30, 0), 0);
	assert_int_equal(device_parties_add(&parties, 0, 8, 2, 10, 0), 0);
	assert_int_equal(device_parties_add(&parties, 3, 9, 1, 50, 0), 0);
	assert_int_equal(device_parties_add(&parties, DEVICES_MAX - 1, 7, 1, 5, 0), 0);
	device_parties_add_dropped(&parties, 3, 4);
	device_parties_add_unseen(&parties, 1, 6);
	assert_int_equal(device_parties_close(&parties, IDLE_SHARE_USAGE), 0);

	work = device_parties_work(&parties, 3);
	assert_int_equal(work.input.count, 2);
	assert_int_equal(work.party[0].process, 7);
	assert_int_equal(work.party[1].process, 9);
	assert_int_equal(work.input.dynamic_weights[0], 30);
	assert_int_equal(work.input.idle_weights[1], 50);
	assert_int_equal(work.input.dropped_weight, 4);
	assert_int_equal(work.input.unseen_weight, 0);

	work = device_parties_work(&parties, 0);
	assert_int_equal(work.input.count, 1);
	assert_int_equal(work.party[0].container, 2);
	work = device_parties_work(&parties, DEVICES_MAX - 1);
	assert_int_equal(work.input.count, 1);
	work = device_parties_work(&parties, 1);
	assert_int_equal(work.input.count, 0);
	assert_int_equal(work.input.unseen_weight, 6);
	device_parties_release(&parties);
}

static void nothing_is_left_of_the_last_interval(void **state)
{
	struct device_parties parties = { 0 };
	struct domain_work work;

	device_parties_begin(&parties);
	assert_int_equal(device_parties_add(&parties, 2, 7, 1, 30, 0), 0);
	device_parties_add_dropped(&parties, 2, 4);
	device_parties_add_unseen(&parties, 2, 5);
	assert_int_equal(device_parties_close(&parties, IDLE_SHARE_NODE), 0);
	device_parties_begin(&parties);
	assert_int_equal(device_parties_close(&parties, IDLE_SHARE_NODE), 0);
	work = device_parties_work(&parties, 2);
	assert_int_equal(work.input.count, 0);
	device_parties_release(&parties);
}

static void equal_shares_are_of_those_that_used_it(void **state)
{
	struct device_parties parties = { 0 };
	struct domain_work work;

	device_parties_begin(&parties);
	assert_int_equal(device_parties_add(&parties, 0, 7, 1, 30, 0), 0);
	assert_int_equal(device_parties_add(&parties, 0, 8, 1, 900, 0), 0);
	assert_int_equal(device_parties_close(&parties, IDLE_SHARE_EQUAL), 0);
	work = device_parties_work(&parties, 0);
	assert_int_equal(work.input.idle_weights[0], 1);
	assert_int_equal(work.input.idle_weights[1], 1);
	assert_int_equal(work.input.dynamic_weights[1], 900);
	device_parties_release(&parties);
}

static void holders_share_by_what_they_hold(void **state)
{
	struct device_parties parties = { 0 };
	struct domain_work work;

	device_parties_begin(&parties);
	assert_int_equal(device_parties_add(&parties, 0, 7, 1, 30, 0), 0);
	assert_int_equal(device_parties_add(&parties, 0, 8, 1, 900, 1), 0);
	assert_int_equal(device_parties_add(&parties, 0, 9, 1, 0, 3), 0);
	assert_int_equal(device_parties_add(&parties, 1, 7, 1, 30, 0), 0);
	assert_int_equal(device_parties_close(&parties, IDLE_SHARE_HOLDER), 0);
	work = device_parties_work(&parties, 0);
	assert_int_equal(work.input.idle_share, IDLE_SHARE_HOLDER);
	assert_int_equal(work.input.idle_weights[0], 0);
	assert_int_equal(work.input.idle_weights[1], 1);
	assert_int_equal(work.input.idle_weights[2], 3);
	work = device_parties_work(&parties, 1);
	assert_int_equal(work.input.idle_share, IDLE_SHARE_USAGE);
	assert_int_equal(work.input.idle_weights[0], 30);
	/* By another policy a holder is what it uses. */
	assert_int_equal(device_parties_close(&parties, IDLE_SHARE_EQUAL), 0);
	work = device_parties_work(&parties, 0);
	assert_int_equal(work.input.idle_weights[0], 1);
	assert_int_equal(work.input.idle_weights[2], 0);
	device_parties_begin(&parties);
	assert_int_equal(device_parties_close(&parties, IDLE_SHARE_HOLDER), 0);
	work = device_parties_work(&parties, 0);
	assert_int_equal(work.input.idle_share, IDLE_SHARE_USAGE);
	device_parties_release(&parties);
}

static uint64_t weight_of(const struct domain_work *work, uint32_t process, uint32_t container)
{
	uint64_t weight = 0;

	for (size_t i = 0; i < work->input.count; i++) {
		if (work->party[i].process == process && work->party[i].container == container)
			weight += work->input.idle_weights[i];
	}
	return weight;
}

/* Container 1 has three ids and two processes, 2 has one id and no process, 3 only looks on. */
static void containers_share_by_their_allocations(void **state)
{
	struct device_parties parties = { 0 };
	struct domain_work work;

	device_parties_begin(&parties);
	assert_int_equal(device_parties_add(&parties, 4, 7, 1, 0, true), 0);
	assert_int_equal(device_parties_add(&parties, 4, 8, 1, 20, true), 0);
	assert_int_equal(device_parties_add(&parties, 4, 6, 1, 30, false), 0);
	assert_int_equal(device_parties_add(&parties, 4, 9, 3, 500, true), 0);
	assert_int_equal(device_parties_add(&parties, 5, 9, 3, 0, true), 0);
	assert_int_equal(device_parties_allocate(&parties, 4, 2, DEVICE_WHOLE), 0);
	assert_int_equal(device_parties_allocate(&parties, 4, 1, 2 * DEVICE_WHOLE), 0);
	assert_int_equal(device_parties_allocate(&parties, 4, 1, DEVICE_WHOLE), 0);
	for (int twice = 0; twice < 2; twice++) {
		assert_int_equal(device_parties_close(&parties, IDLE_SHARE_HOLDER), 0);
		work = device_parties_work(&parties, 4);
		assert_int_equal(work.input.idle_share, IDLE_SHARE_ALLOCATION);
		assert_int_equal(work.input.idle_dropped_weight, 0);
		assert_int_equal(weight_of(&work, 7, 1), 3 * DEVICE_WHOLE / 2);
		assert_int_equal(weight_of(&work, 8, 1), 3 * DEVICE_WHOLE / 2);
		assert_int_equal(weight_of(&work, 6, 1), 0);
		assert_int_equal(weight_of(&work, 9, 3), 0);
		assert_int_equal(weight_of(&work, LEDGER_NONE, 2), DEVICE_WHOLE);
		work = device_parties_work(&parties, 5);
		assert_int_equal(work.input.idle_share, IDLE_SHARE_HOLDER);
		assert_int_equal(weight_of(&work, 9, 3), 1);
	}
	device_parties_begin(&parties);
	assert_int_equal(device_parties_add(&parties, 4, 9, 3, 0, true), 0);
	assert_int_equal(device_parties_close(&parties, IDLE_SHARE_HOLDER), 0);
	work = device_parties_work(&parties, 4);
	assert_int_equal(work.input.idle_share, IDLE_SHARE_HOLDER);
	assert_int_equal(weight_of(&work, 9, 3), 1);
	device_parties_release(&parties);
}

/* To the last of it, however many processes there are. */
static void parts_of_processes_are_all_of_their_container(void **state)
{
	struct device_parties parties = { 0 };
	struct domain_work work;
	uint64_t sum = 0;

	device_parties_begin(&parties);
	for (uint32_t process = 0; process < 7; process++)
		assert_int_equal(device_parties_add(&parties, 0, process, 1, 0, true), 0);
	assert_int_equal(device_parties_allocate(&parties, 0, 1, DEVICE_WHOLE), 0);
	device_parties_allocate_nameless(&parties, 0, 3 * DEVICE_WHOLE);
	assert_int_equal(device_parties_close(&parties, IDLE_SHARE_HOLDER), 0);
	work = device_parties_work(&parties, 0);
	assert_int_equal(work.input.count, 7);
	for (size_t i = 0; i < work.input.count; i++) {
		assert_in_range(work.input.idle_weights[i], DEVICE_WHOLE / 7, DEVICE_WHOLE / 7 + 1);
		sum += work.input.idle_weights[i];
	}
	assert_int_equal(sum, DEVICE_WHOLE);
	assert_int_equal(work.input.idle_dropped_weight, 3 * DEVICE_WHOLE);
	device_parties_release(&parties);
}

/* Energy allocated to containers, if none is known, has the rule of processes. */
static void the_nameless_alone_are_no_holders(void **state)
{
	struct device_parties parties = { 0 };
	struct domain_work work;

	device_parties_begin(&parties);
	assert_int_equal(device_parties_add(&parties, 0, 7, 1, 30, true), 0);
	device_parties_allocate_nameless(&parties, 0, 3 * DEVICE_WHOLE);
	assert_int_equal(device_parties_close(&parties, IDLE_SHARE_HOLDER), 0);
	work = device_parties_work(&parties, 0);
	assert_int_equal(work.input.idle_share, IDLE_SHARE_HOLDER);
	assert_int_equal(weight_of(&work, 7, 1), 1);
	/* Another policy knows no allocations. */
	assert_int_equal(device_parties_allocate(&parties, 0, 2, DEVICE_WHOLE), 0);
	assert_int_equal(device_parties_close(&parties, IDLE_SHARE_USAGE), 0);
	work = device_parties_work(&parties, 0);
	assert_int_equal(weight_of(&work, 7, 1), 30);
	assert_int_equal(weight_of(&work, LEDGER_NONE, 2), 0);
	device_parties_release(&parties);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_device_has_its_own),
		cmocka_unit_test(nothing_is_left_of_the_last_interval),
		cmocka_unit_test(equal_shares_are_of_those_that_used_it),
		cmocka_unit_test(holders_share_by_what_they_hold),
		cmocka_unit_test(containers_share_by_their_allocations),
		cmocka_unit_test(parts_of_processes_are_all_of_their_container),
		cmocka_unit_test(the_nameless_alone_are_no_holders),
	};

	return unit_run(tests);
}

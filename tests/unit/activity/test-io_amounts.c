// SPDX-License-Identifier: Apache-2.0
#include "activity/io_amounts.h"

#include "tests/unit/unit.h"

#define CPUS 2
#define ALL  UINT32_MAX

static struct io_amounts amounts;

static int setup(void **state)
{
	io_amounts_init(&amounts);
	return 0;
}

static int teardown(void **state)
{
	io_amounts_release(&amounts);
	return 0;
}

/* Takes sums of bytes, one of each CPU. */
static int take(uint64_t cgroup_id, uint64_t first, uint64_t second, uint32_t signals)
{
	struct kepler_io sums[CPUS] = { 0 };

	sums[0].amount[KEPLER_IO_NET_BYTES] = first;
	sums[1].amount[KEPLER_IO_NET_BYTES] = second;
	return io_amounts_take(&amounts, cgroup_id, sums, CPUS, signals);
}

static void assert_change(size_t i, uint64_t cgroup_id, uint64_t bytes)
{
	assert_true(i < amounts.change_count);
	assert_int_equal(amounts.changes[i].cgroup_id, cgroup_id);
	assert_int_equal(amounts.changes[i].amount[SIGNAL_NET_BYTES], bytes);
	assert_int_equal(amounts.changes[i].amount[SIGNAL_BLOCK_BYTES], 0);
}

static void test_amounts_of_an_interval(void **state)
{
	io_amounts_begin(&amounts);
	assert_int_equal(take(7, 100, 20, ALL), 0);
	assert_int_equal(take(8, 0, 5, ALL), 0);
	assert_int_equal(amounts.change_count, 2);
	assert_change(0, 7, 120);
	assert_change(1, 8, 5);
	io_amounts_begin(&amounts);
	assert_int_equal(amounts.change_count, 0);
	assert_int_equal(take(8, 0, 5, ALL), 0); /* nothing new */
	assert_int_equal(take(7, 101, 22, ALL), 0);
	assert_int_equal(amounts.change_count, 1);
	assert_change(0, 7, 3);
}

/* Each amount of the kernel side is one signal, and no two are the same. */
static void test_each_amount_is_a_signal(void **state)
{
	struct kepler_io sums[CPUS] = { 0 };
	uint32_t seen = 0;

	for (int i = 0; i < KEPLER_IO_COUNT; i++) {
		enum signal signal = io_amounts_signal((enum kepler_io_amount)i);

		assert_false(seen & SIGNAL_BIT(signal));
		seen |= SIGNAL_BIT(signal);
		sums[1].amount[i] = 10U + (unsigned int)i;
	}
	io_amounts_begin(&amounts);
	assert_int_equal(io_amounts_take(&amounts, 1, sums, CPUS, ALL), 0);
	assert_int_equal(amounts.changes[0].amount[SIGNAL_NET_TX_IRQ], 10 + KEPLER_IO_NET_TX);
	assert_int_equal(amounts.changes[0].amount[SIGNAL_NET_RX_IRQ], 10 + KEPLER_IO_NET_RX);
	assert_int_equal(amounts.changes[0].amount[SIGNAL_BLOCK_IRQ], 10 + KEPLER_IO_BLOCK);
	assert_int_equal(amounts.changes[0].amount[SIGNAL_SOFTIRQ_TIME], 10 + KEPLER_IO_SOFTIRQ_NS);
	assert_int_equal(amounts.changes[0].amount[SIGNAL_BLOCK_BYTES], 10 + KEPLER_IO_BLOCK_BYTES);
	assert_int_equal(amounts.changes[0].amount[SIGNAL_PAGE_CACHE_HITS],
			 10 + KEPLER_IO_PAGE_CACHE);
}

/* A counter that is incomplete, because a program is missing, is not shown. */
static void test_unknown_signals_are_left_out(void **state)
{
	io_amounts_begin(&amounts);
	assert_int_equal(take(7, 100, 20, SIGNAL_BIT(SIGNAL_BLOCK_BYTES)), 0);
	assert_int_equal(amounts.change_count, 0);
}

static void test_a_cgroup_without_work_is_to_be_removed(void **state)
{
	for (unsigned int i = 0; i <= IO_AMOUNTS_IDLE; i++) {
		io_amounts_begin(&amounts);
		assert_int_equal(take(7, 100, 0, ALL), i == IO_AMOUNTS_IDLE);
		assert_int_equal(take(8, i, 0, ALL), 0); /* idle in the first only */
		assert_int_equal(take(9, 1, i == 9, ALL), 0);
	}
	/* Where it could not be removed its sums are still those that have been taken. */
	io_amounts_begin(&amounts);
	assert_int_equal(take(7, 103, 0, ALL), 0);
	assert_change(0, 7, 3);
}

static void test_a_forgotten_cgroup_begins_again(void **state)
{
	io_amounts_begin(&amounts);
	for (uint64_t id = 1; id <= 5; id++)
		assert_int_equal(take(id, id * 100, 0, ALL), 0);
	io_amounts_forget(&amounts, 2);
	io_amounts_forget(&amounts, 5); /* the last row has taken the place of the first gap */
	io_amounts_forget(&amounts, 77);
	io_amounts_begin(&amounts);
	for (uint64_t id = 1; id <= 5; id++)
		assert_int_equal(take(id, id == 2 || id == 5 ? id : id * 100 + id, 0, ALL), 0);
	assert_int_equal(amounts.change_count, 5);
	for (uint64_t id = 1; id <= 5; id++)
		assert_change(id - 1, id, id);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_amounts_of_an_interval, setup, teardown),
		cmocka_unit_test_setup_teardown(test_each_amount_is_a_signal, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown_signals_are_left_out, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_cgroup_without_work_is_to_be_removed, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_forgotten_cgroup_begins_again, setup,
						teardown),
	};

	return unit_run(tests);
}

// SPDX-License-Identifier: Apache-2.0
/* Energy and units of the same time: gaps, resets, pods that end, columns that are added. */
#include "attribution/unit_accounts.h"

#include "new_ledger.h"
#include "tests/rig/test_owner.h"
#include "tests/unit/unit.h"

#define ENERGY 1U /* a column of energy in new_ledger() */

static const struct test_owner web = { .names.text[LABEL_CONTAINER_ID] = "c1",
				       .names.text[LABEL_CONTAINER_NAME] = "web",
				       .names.text[LABEL_NAMESPACE] = "shop",
				       .names.text[LABEL_POD_NAME] = "web-1",
				       .names.text[LABEL_POD_ID] = "p1" };

struct rig {
	struct ledger *ledger;
	struct unit_accounts accounts;
	uint32_t container;
	uint64_t now_ns;
};

static void setup(struct rig *rig)
{
	*rig = (struct rig){ .ledger = new_ledger(10, 10, 2) };
}

static void release(struct rig *rig)
{
	unit_accounts_release(&rig->accounts);
	ledger_free(rig->ledger);
}

/* An interval in which the pod uses @energy_uj. */
static void use(struct rig *rig, uint64_t energy_uj)
{
	ledger_begin(rig->ledger, ++rig->now_ns);
	rig->container = enter_owner(rig->ledger, &web);
	ledger_charge_container(rig->ledger, rig->container, ENERGY, energy_uj);
	ledger_close(rig->ledger);
}

static void read_units(struct rig *rig, uint64_t increase, bool is_first)
{
	const struct unit_reading reading = { .increase_micro = increase,
					      .is_first = is_first,
					      .pod_id = "p1" };

	unit_accounts_read(&rig->accounts, rig->ledger, &reading, 1000);
}

static const struct unit_account *only(const struct rig *rig)
{
	assert_int_equal(rig->accounts.count, 1);
	return &rig->accounts.accounts[0];
}

static void assert_sums(const struct rig *rig, bool is_shown, uint64_t energy_uj, uint64_t amount)
{
	const struct unit_account *account = only(rig);

	assert_int_equal(account->is_shown, is_shown);
	assert_int_equal(account->values[ENERGY], energy_uj);
	assert_int_equal(account->amount_micro, amount);
}

/* A round that begins now and succeeds. */
static void round_of(struct rig *rig, uint64_t increase)
{
	unit_accounts_mark(&rig->accounts, rig->ledger);
	read_units(rig, increase, false);
	unit_accounts_end(&rig->accounts);
}

static void begin(struct rig *rig)
{
	setup(rig);
	use(rig, 1000); /* before anything was read */
	unit_accounts_mark(&rig->accounts, rig->ledger);
	read_units(rig, 0, true);
	unit_accounts_end(&rig->accounts);
	assert_false(only(rig)->is_shown); /* it was not marked */
	use(rig, 500);
	unit_accounts_mark(&rig->accounts, rig->ledger);
	use(rig, 30); /* while it is read */
	read_units(rig, 7, false);
	unit_accounts_end(&rig->accounts);
	assert_sums(rig, true, 0, 0);
}

static void test_energy_is_that_between_two_marks(void **state)
{
	struct rig rig;

	begin(&rig);
	use(&rig, 4);
	round_of(&rig, 3);
	assert_sums(&rig, true, 34, 3);
	use(&rig, 5);
	unit_accounts_mark(&rig.accounts, rig.ledger);
	use(&rig, 600);
	read_units(&rig, 2, false);
	read_units(&rig, 2, false); /* the same pod again */
	assert_int_equal(unit_accounts_shown(&rig.accounts, 0), 1);
	unit_accounts_end(&rig.accounts);
	assert_sums(&rig, true, 39, 5);
	release(&rig);
}

static void test_gap_counts_neither(void **state)
{
	struct rig rig;

	begin(&rig);
	use(&rig, 4);
	round_of(&rig, 3);
	use(&rig, 100);
	unit_accounts_mark(&rig.accounts, rig.ledger);
	unit_accounts_end(&rig.accounts); /* not read */
	assert_sums(&rig, false, 34, 3);
	use(&rig, 200);
	round_of(&rig, 1000);
	assert_sums(&rig, true, 34, 3);
	use(&rig, 1);
	round_of(&rig, 2);
	assert_sums(&rig, true, 35, 5);
	/* The reader has forgotten what it knew: the same. */
	use(&rig, 300);
	unit_accounts_mark(&rig.accounts, rig.ledger);
	read_units(&rig, 0, true);
	unit_accounts_end(&rig.accounts);
	assert_sums(&rig, true, 35, 5);
	release(&rig);
}

static void test_units_are_of_one_pod(void **state)
{
	const struct unit_reading other = { .increase_micro = 5, .pod_id = "p2" };
	const struct unit_reading named = {
		.unit = 1, .pod_id = "", .namespace_ = "shop", .pod = "web-1"
	};
	struct rig rig;

	begin(&rig);
	unit_accounts_read(&rig.accounts, rig.ledger, &other, 1);
	assert_int_equal(rig.accounts.count, 1); /* no such pod here */
	unit_accounts_read(&rig.accounts, rig.ledger, &named, 1);
	assert_int_equal(rig.accounts.count, 2); /* another unit of the same pod */
	assert_int_equal(rig.accounts.accounts[1].row, rig.accounts.accounts[0].row);
	release(&rig);
}

static void test_account_ends_with_its_pod(void **state)
{
	struct rig rig;
	uint32_t pod;

	begin(&rig);
	pod = only(&rig)->row;
	ledger_release(rig.ledger, LEVEL_CONTAINER, rig.container);
	ledger_release(rig.ledger, LEVEL_POD, pod);
	unit_accounts_mark(&rig.accounts, rig.ledger);
	assert_int_equal(rig.accounts.count, 0);
	/* The pod's row is made again, and counts from 0. */
	use(&rig, 50);
	read_units(&rig, 3, false);
	unit_accounts_end(&rig.accounts);
	round_of(&rig, 3);
	assert_sums(&rig, true, 0, 0);
	release(&rig);
}

static void test_new_columns_begin_at_zero(void **state)
{
	struct rig rig;
	uint32_t column;

	begin(&rig);
	assert_int_equal(test_add_zones(rig.ledger, 3), 0);
	column = ledger_column(rig.ledger, 2, MODE_DYNAMIC);
	assert_true(column >= only(&rig)->columns);
	ledger_begin(rig.ledger, ++rig.now_ns);
	ledger_charge_container(rig.ledger, enter_owner(rig.ledger, &web), column, 9);
	ledger_close(rig.ledger);
	round_of(&rig, 1);
	assert_int_equal(only(&rig)->values[column], 9);
	assert_int_equal(only(&rig)->values[ENERGY], 30);
	release(&rig);
}

static void test_accounts_are_bounded(void **state)
{
	struct rig rig;

	begin(&rig);
	for (uint32_t unit = 1; unit <= UNIT_ACCOUNTS_MAX; unit++) {
		const struct unit_reading reading = { .unit = unit, .pod_id = "p1" };

		unit_accounts_read(&rig.accounts, rig.ledger, &reading, 1);
	}
	assert_int_equal(rig.accounts.count, UNIT_ACCOUNTS_MAX);
	assert_int_equal(rig.accounts.beyond, 1);
	release(&rig);
}

/* Series have a budget, and units a part of it. */
static void test_a_lower_limit_holds(void **state)
{
	struct rig rig;

	begin(&rig);
	rig.accounts.limit = 3;
	for (uint32_t unit = 1; unit < 6; unit++) {
		const struct unit_reading reading = { .unit = unit, .pod_id = "p1" };

		unit_accounts_read(&rig.accounts, rig.ledger, &reading, 1);
	}
	assert_int_equal(rig.accounts.count, 3);
	assert_int_equal(rig.accounts.beyond, 3);
	release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_energy_is_that_between_two_marks),
		cmocka_unit_test(test_gap_counts_neither),
		cmocka_unit_test(test_units_are_of_one_pod),
		cmocka_unit_test(test_account_ends_with_its_pod),
		cmocka_unit_test(test_new_columns_begin_at_zero),
		cmocka_unit_test(test_accounts_are_bounded),
		cmocka_unit_test(test_a_lower_limit_holds),
	};

	return unit_run(tests);
}

// SPDX-License-Identifier: Apache-2.0
#include "attribution/counters.h"

#include "new_ledger.h"
#include "tests/rig/test_owner.h"

#define SECOND_NS 1000000000ULL
#define SETTLE_NS (15 * SECOND_NS)
#define KNOWN     (SIGNAL_BIT(SIGNAL_INSTRUCTIONS) | SIGNAL_BIT(SIGNAL_NET_BYTES))

static const struct test_owner web = { .names.text = { [LABEL_CONTAINER_ID] = "web",
						       [LABEL_CONTAINER_NAME] = "web",
						       [LABEL_NAMESPACE] = "prod" } };

struct made {
	struct ledger *ledger;
	struct parties parties;
	uint32_t container, process;
};

static void make(struct made *made)
{
	*made = (struct made){ .ledger = new_ledger(10, 10, 1) };
}

static void release(struct made *made)
{
	parties_release(&made->parties);
	ledger_free(made->ledger);
}

/*
 * An interval of a process that retired 100 instructions and of a container that got 7 bytes,
 * while the node counted 120 and 9.
 */
static void interval(struct made *made, uint32_t known, bool first, uint64_t time_s)
{
	uint64_t node[SIGNAL_COUNT] = { [SIGNAL_INSTRUCTIONS] = 120, [SIGNAL_NET_BYTES] = 9 };
	uint64_t now_ns = time_s * SECOND_NS;

	assert_int_equal(counters_follow(made->ledger, known, first, now_ns), 0);
	ledger_begin(made->ledger, now_ns);
	made->container = enter_owner(made->ledger, &web);
	made->process = ledger_process(made->ledger, 5, 50, "nginx", made->container);
	parties_begin(&made->parties, 0);
	parties_know(&made->parties, known);
	assert_int_equal(parties_reserve(&made->parties, 2), 0);
	parties_add(&made->parties, made->process, made->container, 1, NULL);
	if (known & SIGNAL_BIT(SIGNAL_INSTRUCTIONS))
		parties_add_signal(&made->parties, SIGNAL_INSTRUCTIONS, 100);
	parties_add(&made->parties, LEDGER_NONE, made->container, 0, NULL);
	if (known & SIGNAL_BIT(SIGNAL_NET_BYTES))
		parties_add_signal(&made->parties, SIGNAL_NET_BYTES, 7);
	counters_book(made->ledger, &made->parties, node, now_ns, SETTLE_NS);
	ledger_close(made->ledger);
}

static uint32_t column_of(const struct made *made, enum signal signal)
{
	return layout_find(ledger_layout(made->ledger), &signal_info[signal]);
}

static const struct ledger_sum *sum_of(const struct made *made, enum signal signal)
{
	return ledger_sum(made->ledger, column_of(made, signal));
}

static uint64_t counted(const struct made *made, enum level level, enum signal signal)
{
	uint32_t column = column_of(made, signal);
	uint32_t row = level == LEVEL_PROCESS ? made->process : made->container;

	assert_int_not_equal(column, COLUMN_NONE);
	return ledger_values(made->ledger, level, row)[column];
}

static void known_from_the_start_they_count_at_once(void **state)
{
	struct made made;

	(void)state;
	make(&made);
	interval(&made, KNOWN, true, 100);
	interval(&made, KNOWN, false, 101);
	assert_int_equal(counted(&made, LEVEL_PROCESS, SIGNAL_INSTRUCTIONS), 200);
	assert_int_equal(counted(&made, LEVEL_CONTAINER, SIGNAL_INSTRUCTIONS), 200);
	assert_int_equal(counted(&made, LEVEL_PROCESS, SIGNAL_NET_BYTES), 0);
	assert_int_equal(counted(&made, LEVEL_CONTAINER, SIGNAL_NET_BYTES), 14);
	assert_int_equal(sum_of(&made, SIGNAL_INSTRUCTIONS)->node, 240);
	assert_int_equal(sum_of(&made, SIGNAL_INSTRUCTIONS)->unattributed, 40);
	assert_int_equal(sum_of(&made, SIGNAL_NET_BYTES)->unattributed, 4);
	release(&made);
}

/* Groups have them as their containers do. */
static void groups_add_them_up(void **state)
{
	struct made made;
	uint32_t group;

	(void)state;
	make(&made);
	interval(&made, KNOWN, true, 100);
	group = ledger_group_of(ledger_container_at(made.ledger, made.container), LEVEL_NAMESPACE);
	assert_int_equal(ledger_values(made.ledger, LEVEL_NAMESPACE,
				       group)[column_of(&made, SIGNAL_NET_BYTES)],
			 7);
	release(&made);
}

/* Their series are new on rows that are shown: they show 0 first, as any that is born does. */
static void known_late_they_settle_first(void **state)
{
	struct made made;

	(void)state;
	make(&made);
	interval(&made, 0, true, 100);
	interval(&made, KNOWN, false, 110);
	interval(&made, KNOWN, false, 124);
	assert_int_equal(counted(&made, LEVEL_PROCESS, SIGNAL_INSTRUCTIONS), 0);
	assert_int_equal(sum_of(&made, SIGNAL_INSTRUCTIONS)->node, 0);
	assert_int_equal(sum_of(&made, SIGNAL_INSTRUCTIONS)->unattributed, 0);
	interval(&made, KNOWN, false, 125);
	assert_int_equal(counted(&made, LEVEL_PROCESS, SIGNAL_INSTRUCTIONS), 100);
	assert_int_equal(sum_of(&made, SIGNAL_INSTRUCTIONS)->node, 120);
	release(&made);
}

/* Even where series do not settle the first that is shown is 0: else it is never seen to rise. */
static void the_first_value_is_0_at_least(void **state)
{
	const uint64_t node[SIGNAL_COUNT] = { [SIGNAL_INSTRUCTIONS] = 120 };
	struct made made;

	(void)state;
	make(&made);
	interval(&made, 0, true, 100);
	assert_int_equal(counters_follow(made.ledger, KNOWN, false, 7), 0);
	parties_begin(&made.parties, 0);
	parties_know(&made.parties, KNOWN);
	counters_book(made.ledger, &made.parties, node, 7, 0);
	assert_int_equal(sum_of(&made, SIGNAL_INSTRUCTIONS)->node, 0);
	counters_book(made.ledger, &made.parties, node, 8, 0);
	assert_int_equal(sum_of(&made, SIGNAL_INSTRUCTIONS)->node, 120);
	release(&made);
}

static void one_that_is_lost_stands_still(void **state)
{
	struct made made;

	(void)state;
	make(&made);
	interval(&made, KNOWN, true, 100);
	interval(&made, SIGNAL_BIT(SIGNAL_NET_BYTES), false, 101);
	assert_int_equal(counted(&made, LEVEL_PROCESS, SIGNAL_INSTRUCTIONS), 100);
	assert_int_equal(sum_of(&made, SIGNAL_INSTRUCTIONS)->node, 120);
	assert_int_equal(counted(&made, LEVEL_CONTAINER, SIGNAL_NET_BYTES), 14);
	interval(&made, KNOWN, false, 102);
	assert_int_equal(counted(&made, LEVEL_PROCESS, SIGNAL_INSTRUCTIONS), 200);
	release(&made);
}

/* Times, levels and shares are no counters; and without any a row costs no more than before. */
static void only_counts_have_columns(void **state)
{
	struct made made;
	uint32_t columns;

	(void)state;
	make(&made);
	columns = ledger_columns(made.ledger);
	interval(&made,
		 SIGNAL_BIT(SIGNAL_COUNTED_TIME) | SIGNAL_BIT(SIGNAL_RESIDENT) |
			 SIGNAL_BIT(SIGNAL_MEMORY_TRAFFIC) | SIGNAL_BIT(SIGNAL_SOFTIRQ_TIME),
		 true, 100);
	assert_int_equal(ledger_columns(made.ledger), columns);
	interval(&made, KNOWN, false, 101);
	assert_int_equal(ledger_columns(made.ledger), columns + 2);
	release(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_from_the_start_they_count_at_once),
		cmocka_unit_test(groups_add_them_up),
		cmocka_unit_test(known_late_they_settle_first),
		cmocka_unit_test(the_first_value_is_0_at_least),
		cmocka_unit_test(one_that_is_lost_stands_still),
		cmocka_unit_test(only_counts_have_columns),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

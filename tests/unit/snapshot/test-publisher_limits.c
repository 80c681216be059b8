// SPDX-License-Identifier: Apache-2.0
/*
 * More owners and processes than the ledger has rows: the smallest are in "other" of their
 * container or namespace, counted, and every sum is exact.
 */
#include "stage.h"
#include "tests/rig/test_owner.h"

#include <stdio.h>
#include <string.h>

#define NAMESPACES 10

/* ---- a node beyond the default limits ---- */

#define MAX_PROCESSES  20000
#define MAX_CONTAINERS 1000
#define CONTAINERS     1500
#define PER_CONTAINER  20

struct node {
	struct stage stage;
	uint64_t used_uj[NAMESPACES];
};

static void namespace_name(char name[static 16], uint32_t container)
{
	(void)snprintf(name, 16, "ns-%u", container % NAMESPACES);
}

static void run_process(struct node *node, uint32_t container, uint32_t number)
{
	struct ledger *ledger = node->stage.ledger;
	uint32_t pid = 1 + container * PER_CONTAINER + number;
	uint64_t amount_uj = pid % 100 ? 1 + pid % 7 : 10 * MIN_UJ;
	char id[16], name[16];
	const struct test_owner owner = { .names.text[LABEL_CONTAINER_ID] = id,
					  .names.text[LABEL_CONTAINER_NAME] = id,
					  .names.text[LABEL_NAMESPACE] = name };
	uint32_t row, process;

	(void)snprintf(id, sizeof(id), "c-%u", container);
	namespace_name(name, container);
	row = enter_owner(ledger, &owner);
	process = ledger_process(ledger, pid, pid, "work", row);
	if (process == LEDGER_NONE)
		ledger_charge_container(ledger, row, ENERGY, amount_uj);
	else
		ledger_charge(ledger, process, ENERGY, amount_uj);
	ledger_charge_container(ledger, row, COLUMN_CPU, 1);
	ledger_node(ledger, 0, MODE_DYNAMIC, amount_uj);
	node->used_uj[container % NAMESPACES] += amount_uj;
}

static void run_containers(struct node *node, uint32_t first, uint32_t end)
{
	for (uint32_t container = first; container < end; container++) {
		for (uint32_t number = 0; number < PER_CONTAINER; number++)
			run_process(node, container, number);
	}
}

static uint64_t sum_of_namespace(const struct snapshot *snapshot, size_t level, const char *name)
{
	const struct snapshot_table *table = &snapshot->level[level];
	uint64_t sum = 0;

	for (size_t i = 0; i < table->count; i++) {
		if (strcmp(table->rows[i].labels->names->text[LABEL_NAMESPACE], name) == 0)
			sum += table->values[i * snapshot->columns + ENERGY];
	}
	for (size_t i = 0; i < table->retired_count; i++) {
		if (strcmp(table->retired[i].labels->names->text[LABEL_NAMESPACE], name) == 0)
			sum += table->retired_values[i * snapshot->columns + ENERGY];
	}
	return sum;
}

static void check_sums(const struct node *node)
{
	static const enum level levels[] = { LEVEL_PROCESS, LEVEL_CONTAINER, LEVEL_NAMESPACE };
	char name[16];

	for (size_t level = 0; level < 3; level++) {
		assert_int_equal(node->stage.snapshot->level[levels[level]].pending[ENERGY], 0);
		for (uint32_t i = 0; i < NAMESPACES; i++) {
			namespace_name(name, i);
			assert_int_equal(
				sum_of_namespace(node->stage.snapshot, levels[level], name),
				node->used_uj[i]);
		}
	}
}

/* The container's shown value, or NOT_SHOWN; "" is the "other" of the namespace. */
static uint64_t shown_container(const struct snapshot *snapshot, const char *id,
				const char *container_namespace)
{
	const struct snapshot_table *table = &snapshot->level[LEVEL_CONTAINER];

	for (size_t i = 0; i < table->count; i++) {
		const struct series_labels *labels = table->rows[i].labels;

		if (strcmp(labels->names->text[LABEL_CONTAINER_ID], id) == 0 &&
		    strcmp(labels->names->text[LABEL_NAMESPACE], container_namespace) == 0)
			return table->values[i * snapshot->columns + ENERGY];
	}
	return NOT_SHOWN;
}

static void check_others(const struct node *node)
{
	char name[16];

	for (uint32_t i = 0; i < NAMESPACES; i++) {
		uint64_t value;

		namespace_name(name, i);
		value = shown_container(node->stage.snapshot, "", name);
		assert_true(value != NOT_SHOWN && value > 0 && value < node->used_uj[i]);
	}
}

static void test_node_beyond_the_default_limits(void **state)
{
	struct publisher_options options = default_options();
	struct node node = { 0 };
	struct stage *s = &node.stage;

	(void)state;
	options.settle_ns = 0;
	options.max_rows = 10000;
	open_stage_for(s, &options, MAX_PROCESSES, MAX_CONTAINERS);
	run_containers(&node, 0, CONTAINERS);
	publish(s, 1);
	check_sums(&node);
	check_others(&node);
	assert_int_equal(ledger_overflows(s->ledger, LEVEL_PROCESS),
			 CONTAINERS * PER_CONTAINER - MAX_PROCESSES);
	assert_true(ledger_overflows(s->ledger, LEVEL_CONTAINER) >=
		    CONTAINERS - MAX_CONTAINERS + 1);
	assert_int_equal(s->snapshot->level[LEVEL_CONTAINER].count, MAX_CONTAINERS + NAMESPACES);
	assert_int_equal(s->snapshot->level[LEVEL_CONTAINER].merged, 0); /* all of them ran */

	run_containers(&node, CONTAINERS - 100, CONTAINERS);
	publish(s, 1);
	check_sums(&node);
	run_containers(&node, CONTAINERS - 100, CONTAINERS);
	publish(s, 1);
	check_sums(&node);
	assert_int_equal(s->snapshot->level[LEVEL_CONTAINER].merged, LEDGER_REFUSED_MAX);
	publish(s, 1);
	check_sums(&node);
	assert_true(shown_container(s->snapshot, "c-1400", "ns-0") != NOT_SHOWN);
	assert_int_equal(s->snapshot->level[LEVEL_CONTAINER].merged, 100);
	assert_true(ledger_find_process(s->ledger, 1 + 1400 * PER_CONTAINER,
					1 + 1400 * PER_CONTAINER) != LEDGER_NONE);
	assert_true(s->snapshot->level[LEVEL_CONTAINER].count <= MAX_CONTAINERS + NAMESPACES);
	close_stage(s);
}

static size_t all_rows(const struct snapshot *snapshot)
{
	size_t rows = 0;

	for (size_t level = 0; level < LEVEL_COUNT; level++)
		rows += snapshot->level[level].count + snapshot->level[level].retired_count;
	return rows;
}

static void run_all(struct node *node, int intervals)
{
	for (int i = 0; i < intervals; i++) {
		run_containers(node, 0, 300);
		publish(&node->stage, 1);
		check_sums(node);
	}
}

static void test_rows_of_owners_count(void **state)
{
	struct publisher_options options = default_options();
	struct node node = { 0 };
	struct stage *s = &node.stage;
	const struct snapshot_table *containers;

	(void)state;
	options.settle_ns = 0;
	options.max_rows = 400;
	open_stage_for(s, &options, MAX_PROCESSES, MAX_CONTAINERS);
	for (int i = 0; i < 20; i++) {
		run_all(&node, 1);
		assert_true(all_rows(s->snapshot) <= options.max_rows);
	}
	containers = &s->snapshot->level[LEVEL_CONTAINER];
	assert_true(containers->count > 50);
	assert_true(ledger_overflows(s->ledger, LEVEL_CONTAINER) > 0);

	options.max_rows = 250; /* the smallest containers go, though they run */
	publisher_set_options(s->publisher, &options);
	run_all(&node, 5);
	containers = &s->snapshot->level[LEVEL_CONTAINER];
	assert_true(all_rows(s->snapshot) <= options.max_rows);
	assert_true(containers->merged > 0 && containers->count > 20);

	options.max_rows = 10000; /* all come back */
	publisher_set_options(s->publisher, &options);
	run_all(&node, 2);
	containers = &s->snapshot->level[LEVEL_CONTAINER];
	assert_true(containers->count >= 300);
	assert_true(s->snapshot->level[LEVEL_PROCESS].count > containers->count);
	close_stage(s);
}

/* ---- processes, one by one ---- */

/* A process that finds no row. */
static void use_without_row(struct stage *s, uint32_t pid, uint64_t amount_uj)
{
	assert_int_equal(ledger_process(s->ledger, pid, pid, "late", 0), LEDGER_NONE);
	ledger_charge_container(s->ledger, 0, ENERGY, amount_uj);
	ledger_node(s->ledger, 0, MODE_DYNAMIC, amount_uj);
}

static bool is_known(const struct stage *s, uint32_t pid)
{
	return ledger_find_process(s->ledger, pid, pid) != LEDGER_NONE;
}

static void test_smallest_sleeper_makes_room(void **state)
{
	const struct publisher_options options = default_options();
	struct stage s;

	(void)state;
	open_stage_for(&s, &options, 4, 10);
	use(&s, 1, 1, "series", 900);
	use(&s, 2, 2, "small", 50);
	use(&s, 3, 3, "tiny", 20);
	use(&s, 4, 4, "active", 1);
	publish(&s, 1);
	use(&s, 4, 4, "active", 1);
	use_without_row(&s, 5, 30);
	assert_int_equal(ledger_refused(s.ledger, LEVEL_PROCESS), 1);
	publish(&s, 1);
	assert_false(is_known(&s, 3));
	assert_true(is_known(&s, 1) && is_known(&s, 2) && is_known(&s, 4));
	assert_int_equal(other(&s), 50 + 20 + 2 + 30);
	assert_int_equal(shown(&s, 1, "series"), 900);
	assert_int_equal(ledger_refused(s.ledger, LEVEL_PROCESS), 0);

	use(&s, 5, 5, "late", MIN_UJ); /* has a row now, and a series */
	publish(&s, 15);
	use(&s, 5, 5, "late", 1);
	publish(&s, 1);
	assert_int_equal(shown(&s, 5, "late"), MIN_UJ + 1);
	assert_int_equal(other(&s), 50 + 20 + 2 + 30);
	close_stage(&s);
}

/* With a share of idle energy for everybody, every row is charged in each interval. */
static void test_idle_energy_keeps_nothing_in_a_row(void **state)
{
	const struct publisher_options options = default_options();
	struct stage s;
	uint32_t idle;

	(void)state;
	open_stage_for(&s, &options, 3, 10);
	idle = ledger_column(s.ledger, 0, MODE_IDLE);
	use(&s, 1, 1, "small", 50);
	use(&s, 2, 2, "tiny", 20);
	use(&s, 3, 3, "active", 1);
	publish(&s, 1);
	use(&s, 3, 3, "active", 1);
	use_without_row(&s, 4, 30);
	for (uint32_t pid = 1; pid <= 3; pid++)
		ledger_charge(s.ledger, ledger_find_process(s.ledger, pid, pid), idle, 5);
	ledger_node(s.ledger, 0, MODE_IDLE, 15);
	publish(&s, 1);
	assert_false(is_known(&s, 2));
	assert_true(is_known(&s, 1) && is_known(&s, 3));
	assert_int_equal(other(&s), 50 + 20 + 2 + 30);
	close_stage(&s);
}

static void test_series_are_not_forgotten(void **state)
{
	const struct publisher_options options = default_options();
	struct stage s;

	(void)state;
	open_stage_for(&s, &options, 2, 10);
	use(&s, 1, 1, "one", 900);
	use(&s, 2, 2, "two", 800);
	publish(&s, 1);
	use_without_row(&s, 3, 5000);
	publish(&s, 1);
	assert_int_equal(shown(&s, 1, "one"), 900);
	assert_int_equal(shown(&s, 2, "two"), 800);
	assert_int_equal(other(&s), 5000);
	assert_int_equal(s.snapshot->level[LEVEL_PROCESS].merged, 0);
	close_stage(&s);
}

/* Its last row shows that a process lives in it. */
static void test_last_row_of_a_container_stays(void **state)
{
	const struct publisher_options options = default_options();
	const struct test_owner owner = { .names.text[LABEL_CONTAINER_ID] = "job",
					  .names.text[LABEL_NAMESPACE] = "batch" };
	struct stage s;
	uint32_t container;

	(void)state;
	open_stage_for(&s, &options, 2, 10);
	container = enter_owner(s.ledger, &owner);
	(void)ledger_process(s.ledger, 1, 1, "sleeper", container);
	use(&s, 2, 2, "active", 7);
	publish(&s, 1);
	use(&s, 2, 2, "active", 7);
	use_without_row(&s, 3, 7);
	publish(&s, 1);
	assert_int_equal(ledger_container_at(s.ledger, container)->living, 1);
	assert_int_equal(other(&s), 21);
	close_stage(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_node_beyond_the_default_limits),
		cmocka_unit_test(test_rows_of_owners_count),
		cmocka_unit_test(test_smallest_sleeper_makes_room),
		cmocka_unit_test(test_idle_energy_keeps_nothing_in_a_row),
		cmocka_unit_test(test_series_are_not_forgotten),
		cmocka_unit_test(test_last_row_of_a_container_stays),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

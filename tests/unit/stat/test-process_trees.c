// SPDX-License-Identifier: Apache-2.0
#include "stat/process_trees.h"

#include <math.h>
#include <stdio.h>

#include "tests/rig/test_owner.h"
#include "tests/rig/test_zones.h"
#include "tests/unit/unit.h"

#define SECOND 1000000000ULL
#define ROOT   100U
#define BEGAN  (50 * SECOND)

static const struct test_owner owner = {
	.names.text = { [LABEL_CONTAINER_ID] = "shell.scope", [LABEL_NAMESPACE] = "system" },
};

struct stage {
	struct process_trees *trees;
	struct ledger *ledger;
	uint64_t now_ns, read_ns; /* read_ns: 0: the meter is read in each interval */
	uint32_t container, column;
};

static void begin_interval(struct stage *stage)
{
	stage->now_ns += SECOND;
	ledger_begin(stage->ledger, stage->now_ns);
	stage->container = enter_owner(stage->ledger, &owner);
	stage->column = ledger_column(stage->ledger, 0, MODE_DYNAMIC);
}

static void end_interval(struct stage *stage)
{
	static const double error[ZONE_KIND_COUNT] = { 0.25 };
	static const bool in_total[ZONE_KIND_COUNT] = { true };
	const uint64_t read_ns[ZONE_KIND_COUNT] = { stage->read_ns ? stage->read_ns
								   : stage->now_ns - 1 };
	const struct tree_interval interval = { stage->now_ns, stage->now_ns, SECOND,
						error,         in_total,      read_ns };

	process_trees_book(stage->trees, stage->ledger, &interval);
}

static struct stage new_stage(void)
{
	const struct ledger_options options = { .max_processes = 1000, .max_containers = 10 };
	struct stage stage = { .now_ns = BEGAN };
	const struct tree_id root = { ROOT, BEGAN - 3 };

	assert_int_equal(process_trees_new(&stage.trees), 0);
	assert_int_equal(ledger_new(&options, &stage.ledger), 0);
	assert_int_equal(ledger_add_zone(stage.ledger, &test_zones[0]), 0);
	assert_int_equal(process_trees_begin(stage.trees, &root, BEGAN), 0);
	return stage;
}

static void free_stage(struct stage *stage)
{
	process_trees_free(stage->trees);
	ledger_free(stage->ledger);
}

/* A process that began a nanosecond per pid after the tree; the root's start is off by a tick. */
static uint64_t start_of(uint32_t pid)
{
	return pid == ROOT ? BEGAN - 5 : BEGAN + pid;
}

static void see(struct stage *stage, uint32_t pid, uint32_t parent, const char *comm, bool ended)
{
	const struct tree_process process = {
		.id = { pid, start_of(pid) },
		.parent = { parent, parent ? start_of(parent) : 0 },
		.comm = comm,
		.has_ended = ended,
	};

	process_trees_see(stage->trees, &process, stage->now_ns);
}

static void charge(struct stage *stage, uint32_t pid, const char *comm, uint64_t energy_uj)
{
	uint32_t row = ledger_process(stage->ledger, pid, start_of(pid), comm, stage->container);

	ledger_charge(stage->ledger, row, stage->column, energy_uj);
	ledger_charge(stage->ledger, row, COLUMN_CPU, energy_uj * 10);
}

static const struct process_tree *tree(const struct stage *stage, uint32_t number)
{
	return process_trees_at(stage->trees, number);
}

static uint64_t energy_of(const struct stage *stage, uint32_t number)
{
	return tree(stage, number)->accounts[0].energy_uj[MODE_DYNAMIC];
}

/* 5 is the command, 6 and 7 are its descendants; 8 was started by another process. */
static void the_descendants_of_a_root_are_its_tree(void **state)
{
	struct stage stage = new_stage();

	begin_interval(&stage);
	see(&stage, 7, 6, "cc1", true);
	see(&stage, 6, 5, "gcc", true);
	see(&stage, 5, ROOT, "make", false);
	see(&stage, 8, 5000, "other", false);
	see(&stage, ROOT, 1, "kepler", false);
	charge(&stage, 7, "cc1", 700);
	charge(&stage, 6, "gcc", 60);
	charge(&stage, 5, "make", 5);
	charge(&stage, 8, "other", 10000);
	charge(&stage, ROOT, "kepler", 20000);
	end_interval(&stage);
	assert_int_equal(energy_of(&stage, 0), 765);
	assert_int_equal(tree(&stage, 0)->cpu_ns, 7650);
	assert_int_equal(tree(&stage, 0)->processes, 3);
	assert_int_equal(tree(&stage, 0)->short_processes, 2);
	assert_int_equal(tree(&stage, 0)->command_count, 3);
	assert_int_equal(tree(&stage, 0)->commands[0].processes, 1);
	assert_true(fabs(tree(&stage, 0)->accounts[0].error_uj - 765 * 0.25) < 1e-9);
	free_stage(&stage);
}

/* The kernel reports a process when it is freed, and children may be freed before their parent. */
static void a_child_waits_for_its_parent(void **state)
{
	struct stage stage = new_stage();

	begin_interval(&stage);
	see(&stage, 7, 6, "true", true);
	charge(&stage, 7, "true", 70);
	end_interval(&stage);
	assert_int_equal(energy_of(&stage, 0), 0);
	begin_interval(&stage);
	see(&stage, 6, ROOT, "sh", true);
	charge(&stage, 6, "sh", 6);
	end_interval(&stage);
	assert_int_equal(energy_of(&stage, 0), 76);
	assert_int_equal(tree(&stage, 0)->missed, 0);
	free_stage(&stage);
}

static void an_unknown_parent_is_counted(void **state)
{
	struct stage stage = new_stage();

	begin_interval(&stage);
	see(&stage, 7, 6, "true", true);
	charge(&stage, 7, "true", 70);
	end_interval(&stage);
	for (int i = 0; i < 7; i++) {
		begin_interval(&stage);
		end_interval(&stage);
	}
	assert_int_equal(tree(&stage, 0)->missed, 1);
	assert_int_equal(energy_of(&stage, 0), 0);
	free_stage(&stage);
}

/* A daemon loses its parent, and a subreaper becomes the new one. */
static void a_process_stays_where_it_was_found(void **state)
{
	struct stage stage = new_stage();
	struct tree_left left[4];

	begin_interval(&stage);
	see(&stage, 5, ROOT, "sh", true);
	see(&stage, 6, 5, "daemon", false);
	end_interval(&stage);
	begin_interval(&stage);
	see(&stage, 6, 4000, "daemon2", false);
	charge(&stage, 6, "daemon2", 9);
	end_interval(&stage);
	assert_int_equal(energy_of(&stage, 0), 9);
	assert_int_equal(tree(&stage, 0)->processes, 2);
	assert_int_equal(process_trees_left(stage.trees, 0, left, 4), 1);
	assert_int_equal(left[0].pid, 6);
	assert_string_equal(left[0].comm, "daemon2");
	free_stage(&stage);
}

/* `kepler stat -- sh -c 'kepler stat -- true'`: what is in the inner tree is in the outer one. */
static void trees_lie_inside_each_other(void **state)
{
	struct stage stage = new_stage();
	const struct tree_id inner = { 5, start_of(5) };

	assert_int_equal(process_trees_begin(stage.trees, &inner, BEGAN + 6), 1);
	begin_interval(&stage);
	see(&stage, 5, ROOT, "kepler", false);
	see(&stage, 6, 5, "true", false);
	charge(&stage, 5, "kepler", 5);
	charge(&stage, 6, "true", 6);
	end_interval(&stage);
	assert_int_equal(energy_of(&stage, 0), 11);
	assert_int_equal(energy_of(&stage, 1), 6);
	process_trees_end(stage.trees, 1);
	begin_interval(&stage);
	charge(&stage, 6, "true", 6);
	end_interval(&stage);
	assert_int_equal(energy_of(&stage, 0), 17);
	free_stage(&stage);
}

/* The idle energy of the node, for the half of the interval that the tree existed. */
static void idle_energy_is_shared_by_time(void **state)
{
	struct stage stage = new_stage();
	const struct tree_id late = { 900, BEGAN };

	stage.now_ns = BEGAN;
	assert_int_equal(process_trees_begin(stage.trees, &late, BEGAN + SECOND / 2), 1);
	begin_interval(&stage);
	ledger_node(stage.ledger, 0, MODE_IDLE, 1000);
	end_interval(&stage);
	assert_int_equal(tree(&stage, 0)->accounts[0].node_idle_uj, 1000);
	assert_int_equal(tree(&stage, 1)->accounts[0].node_idle_uj, 500);
	free_stage(&stage);
}

static void nothing_is_held_while_meters_are_read(void **state)
{
	const struct tree_id child = { 200, start_of(200) };
	struct stage stage = new_stage();
	struct tree_id due;

	begin_interval(&stage);
	see(&stage, 200, ROOT, "cc", true);
	end_interval(&stage);
	assert_false(process_trees_hold(stage.trees, &child));
	assert_false(process_trees_next_due(stage.trees, stage.now_ns, &due));
	free_stage(&stage);
}

/* A process of the tree is held until the meter has been read; one of another parent is not. */
static void an_end_waits_for_its_energy(void **state)
{
	const struct tree_id child = { 200, start_of(200) }, other = { 300, start_of(300) };
	struct stage stage = new_stage();
	struct tree_id due;

	begin_interval(&stage);
	end_interval(&stage);
	stage.read_ns = stage.now_ns - 1;
	begin_interval(&stage);
	see(&stage, 200, ROOT, "cc", true);
	process_trees_see(stage.trees,
			  &(struct tree_process){ other, { 1, BEGAN - SECOND }, "cron", true },
			  stage.now_ns);
	end_interval(&stage);
	assert_true(process_trees_hold(stage.trees, &child));
	assert_false(process_trees_hold(stage.trees, &other));
	assert_false(process_trees_next_due(stage.trees, stage.now_ns, &due));
	assert_true(tree(&stage, 0)->accounts[0].read_ns == stage.read_ns);
	stage.read_ns = 0;
	begin_interval(&stage);
	end_interval(&stage);
	assert_true(process_trees_next_due(stage.trees, stage.now_ns, &due));
	assert_true(due.pid == child.pid && due.start_ns == child.start_ns);
	assert_false(process_trees_next_due(stage.trees, stage.now_ns, &due));
	assert_false(tree(&stage, 0)->accounts[0].is_lost);
	free_stage(&stage);
}

/* Without a reading for long, the energy is marked as lost, and the row is given back. */
static void an_end_does_not_wait_for_ever(void **state)
{
	const struct tree_id child = { 200, start_of(200) };
	struct stage stage = new_stage();
	struct tree_id due;
	uint32_t waited = 0;

	stage.read_ns = BEGAN - 1;
	begin_interval(&stage);
	begin_interval(&stage);
	see(&stage, 200, ROOT, "cc", true);
	end_interval(&stage);
	assert_true(process_trees_hold(stage.trees, &child));
	while (!process_trees_next_due(stage.trees, stage.now_ns, &due)) {
		assert_false(tree(&stage, 0)->accounts[0].is_lost);
		begin_interval(&stage);
		end_interval(&stage);
		waited++;
	}
	assert_int_equal(waited, 20);
	assert_true(tree(&stage, 0)->accounts[0].is_lost);
	free_stage(&stage);
}

/* Ends that are held when the last tree ends are due at once. */
static void ends_outlive_their_trees(void **state)
{
	const struct tree_id child = { 200, start_of(200) };
	struct stage stage = new_stage();
	struct tree_id due;

	stage.read_ns = BEGAN - 1;
	begin_interval(&stage);
	begin_interval(&stage);
	see(&stage, 200, ROOT, "cc", true);
	end_interval(&stage);
	assert_true(process_trees_hold(stage.trees, &child));
	process_trees_end(stage.trees, 0);
	assert_true(process_trees_next_due(stage.trees, stage.now_ns, &due));
	assert_int_equal(due.pid, 200);
	free_stage(&stage);
}

static void further_commands_are_one(void **state)
{
	struct stage stage = new_stage();
	char comm[16];

	begin_interval(&stage);
	for (uint32_t pid = 200; pid < 200 + 2 * TREE_COMMANDS_MAX; pid++) {
		(void)snprintf(comm, sizeof(comm), "c%u", pid);
		see(&stage, pid, ROOT, comm, false);
		charge(&stage, pid, comm, 1);
	}
	end_interval(&stage);
	assert_int_equal(tree(&stage, 0)->command_count, TREE_COMMANDS_MAX);
	assert_string_equal(tree(&stage, 0)->commands[TREE_COMMANDS_MAX - 1].comm, "other");
	assert_int_equal(energy_of(&stage, 0), 2 * TREE_COMMANDS_MAX);
	free_stage(&stage);
}

static void there_are_so_many_trees(void **state)
{
	struct stage stage = new_stage();
	const struct tree_id root = { 9, 9 };

	for (int i = 1; i < TREES_MAX; i++)
		assert_int_equal(process_trees_begin(stage.trees, &root, BEGAN), i);
	assert_int_equal(process_trees_begin(stage.trees, &root, BEGAN), -ENOSPC);
	process_trees_end(stage.trees, 3);
	assert_int_equal(process_trees_begin(stage.trees, &root, BEGAN), 3);
	free_stage(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_descendants_of_a_root_are_its_tree),
		cmocka_unit_test(a_child_waits_for_its_parent),
		cmocka_unit_test(an_unknown_parent_is_counted),
		cmocka_unit_test(a_process_stays_where_it_was_found),
		cmocka_unit_test(trees_lie_inside_each_other),
		cmocka_unit_test(idle_energy_is_shared_by_time),
		cmocka_unit_test(nothing_is_held_while_meters_are_read),
		cmocka_unit_test(an_end_waits_for_its_energy),
		cmocka_unit_test(an_end_does_not_wait_for_ever),
		cmocka_unit_test(ends_outlive_their_trees),
		cmocka_unit_test(further_commands_are_one),
		cmocka_unit_test(there_are_so_many_trees),
	};

	return unit_run(tests);
}

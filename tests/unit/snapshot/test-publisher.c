// SPDX-License-Identifier: Apache-2.0
/* The rules of publisher.h, one example each. Rules for all histories: test-publisher_history.c */
#include "stage.h"
#include "tests/rig/test_owner.h"
#include "tests/rig/test_zones.h"

#include <string.h>

static void test_first_snapshot_settles_nothing(void **state)
{
	const struct publisher_options options = default_options();
	struct stage s;

	(void)state;
	open_stage(&s, &options);
	use(&s, 1, 1, "init", 500);
	use(&s, 2, 1, "small", 7);
	publish(&s, 1);
	assert_int_equal(s.snapshot->sequence, 1);
	assert_int_equal(shown(&s, 1, "init"), 500);
	assert_int_equal(shown(&s, 2, "small"), NOT_SHOWN);
	assert_int_equal(other(&s), 7);
	assert_int_equal(pending(&s), 0);
	close_stage(&s);
}

static void test_other_is_there_before_anybody_ran(void **state)
{
	const struct publisher_options options = default_options();
	struct stage s;

	(void)state;
	open_stage(&s, &options);
	publish(&s, 1);
	assert_int_equal(other(&s), 0);
	assert_int_equal(s.snapshot->level[LEVEL_CONTAINER].count, 1);
	close_stage(&s);
}

static void test_kept_for_settle_where_keep_is_less(void **state)
{
	struct publisher_options options = default_options();
	struct stage s;

	(void)state;
	options.keep_ns = SECOND_NS;
	open_stage(&s, &options);
	publish(&s, 1);
	ledger_end_process(s.ledger, use(&s, 5, 5, "job", MIN_UJ));
	publish(&s, 15);
	assert_int_equal(shown(&s, 5, "job"), 0);
	publish(&s, 14);
	assert_int_equal(shown(&s, 5, "job"), MIN_UJ);
	publish(&s, 1);
	assert_int_equal(shown(&s, 5, "job"), MIN_UJ); /* for each that scrapes in 15 s */
	publish(&s, 1);
	assert_int_equal(shown(&s, 5, "job"), NOT_SHOWN);
	assert_int_equal(retired(&s), MIN_UJ);
	close_stage(&s);
}

static void test_admission_and_settling(void **state)
{
	const struct publisher_options options = default_options();
	struct stage s;

	(void)state;
	open_stage(&s, &options);
	publish(&s, 1);
	use(&s, 5, 5, "job", MIN_UJ - 1);
	publish(&s, 1);
	assert_int_equal(shown(&s, 5, "job"), NOT_SHOWN);
	use(&s, 5, 5, "job", 40);
	publish(&s, 14);
	assert_int_equal(other(&s), MIN_UJ - 1); /* what it used before stays there */
	assert_int_equal(shown(&s, 5, "job"), 0);
	assert_int_equal(pending(&s), 40);
	use(&s, 5, 5, "job", 2);
	publish(&s, 1);
	assert_int_equal(shown(&s, 5, "job"), 0);
	assert_int_equal(pending(&s), 42);
	publish(&s, 1);
	assert_int_equal(shown(&s, 5, "job"), 42);
	assert_int_equal(pending(&s), 0);
	assert_int_equal(other(&s), MIN_UJ - 1);
	close_stage(&s);
}

static void test_ended_process_is_kept_then_retired(void **state)
{
	const struct publisher_options options = default_options();
	struct stage s;
	uint32_t process;

	(void)state;
	open_stage(&s, &options);
	process = use(&s, 5, 5, "job", 400);
	publish(&s, 1);
	use(&s, 5, 5, "job", 30);
	ledger_end_process(s.ledger, process);
	publish(&s, 299);
	assert_int_equal(shown(&s, 5, "job"), 430);
	publish(&s, 1);
	assert_int_equal(shown(&s, 5, "job"), 430);
	assert_int_equal(retired(&s), 0);
	publish(&s, 1);
	assert_int_equal(shown(&s, 5, "job"), NOT_SHOWN);
	assert_int_equal(retired(&s), 430);
	assert_int_equal(other(&s), 0);
	assert_false(ledger_process_at(s.ledger, process)->row.used);
	close_stage(&s);
}

static void test_short_life_without_a_series(void **state)
{
	const struct publisher_options options = default_options();
	struct stage s;
	uint32_t process;

	(void)state;
	open_stage(&s, &options);
	publish(&s, 1);
	process = use(&s, 5, 5, "true", 9);
	ledger_end_process(s.ledger, process);
	publish(&s, 1);
	assert_int_equal(other(&s), 9);
	assert_false(ledger_process_at(s.ledger, process)->row.used);
	close_stage(&s);
}

static void test_reused_pid_replaces_its_namesake(void **state)
{
	const struct publisher_options options = default_options();
	struct stage s;

	(void)state;
	open_stage(&s, &options);
	use(&s, 5, 5, "job", 400);
	publish(&s, 1);
	use(&s, 5, 77, "job", 200); /* the end of the old one was not seen */
	publish(&s, 14);
	assert_int_equal(shown(&s, 5, "job"), 400); /* still there to be scraped */
	assert_int_equal(other(&s), 200);
	use(&s, 5, 77, "job", 1);
	publish(&s, 1);
	assert_int_equal(other(&s), 201);
	use(&s, 5, 77, "job", 3);
	publish(&s, 15);
	assert_int_equal(shown(&s, 5, "job"), 0); /* the new one, which settles */
	assert_int_equal(retired(&s), 400);
	assert_int_equal(pending(&s), 3);
	publish(&s, 1);
	assert_int_equal(shown(&s, 5, "job"), 3);
	close_stage(&s);
}

static void test_late_run_time_of_a_dead_namesake(void **state)
{
	const struct publisher_options options = default_options();
	struct stage s;
	uint32_t young, old;

	(void)state;
	open_stage(&s, &options);
	young = use(&s, 5, 77, "job", 400);
	publish(&s, 1);
	old = use(&s, 5, 5, "job", 200);
	ledger_end_process(s.ledger, old);
	publish(&s, 1);
	assert_false(ledger_process_at(s.ledger, young)->row.ended);
	assert_int_equal(shown(&s, 5, "job"), 400);
	assert_int_equal(other(&s), 200);
	close_stage(&s);
}

static void test_process_that_comes_back_goes_on(void **state)
{
	const struct publisher_options options = default_options();
	struct stage s;

	(void)state;
	open_stage(&s, &options);
	use(&s, 5, 5, "sh", 400);
	publish(&s, 1);
	use(&s, 5, 5, "job", 300);
	publish(&s, 1);
	use(&s, 5, 5, "sh", 20);
	publish(&s, 1);
	assert_int_equal(shown(&s, 5, "sh"), 420);
	assert_int_equal(pending(&s), 300);
	close_stage(&s);
}

static void test_smallest_is_merged_at_the_limit(void **state)
{
	struct publisher_options options = default_options();
	struct stage s;

	(void)state;
	options.max_rows = OWNER_ROWS + 2;
	options.settle_ns = 0;
	open_stage(&s, &options);
	use(&s, 1, 1, "big", 900);
	use(&s, 2, 2, "small", 200);
	use(&s, 3, 3, "tiny", 150);
	publish(&s, 1);
	assert_int_equal(shown(&s, 3, "tiny"), NOT_SHOWN);
	assert_int_equal(s.snapshot->level[LEVEL_PROCESS].merged, 0);
	use(&s, 3, 3, "tiny", 300); /* 450 in all: more than the smallest */
	use(&s, 2, 2, "small", 10);
	publish(&s, 1);
	assert_int_equal(shown(&s, 1, "big"), 900);
	assert_int_equal(shown(&s, 2, "small"), NOT_SHOWN);
	assert_int_equal(shown(&s, 3, "tiny"), 300);
	assert_int_equal(retired(&s), 200);
	assert_int_equal(other(&s), 150 + 10);
	assert_int_equal(s.snapshot->level[LEVEL_PROCESS].merged, 1);
	use(&s, 2, 2, "small", MIN_UJ - 1); /* starts over */
	options.max_rows = OWNER_ROWS + 3;
	publisher_set_options(s.publisher, &options);
	publish(&s, 1);
	assert_int_equal(shown(&s, 2, "small"), NOT_SHOWN);
	use(&s, 2, 2, "small", 1);
	publish(&s, 1);
	assert_int_equal(shown(&s, 2, "small"), 1);
	options.max_rows = OWNER_ROWS + 1;
	publisher_set_options(s.publisher, &options);
	publish(&s, 1);
	assert_int_equal(shown(&s, 1, "big"), 900);
	assert_int_equal(s.snapshot->level[LEVEL_PROCESS].merged, 3);
	close_stage(&s);
}

/* A slot of the ledger must not hand its last owner's baseline to the next. */
static void test_slot_of_a_merged_process_starts_clean(void **state)
{
	struct publisher_options options = default_options();
	struct stage s;
	uint32_t merged;

	(void)state;
	open_stage(&s, &options);
	merged = use(&s, 1, 1, "a", 500);
	publish(&s, 1);
	options.max_rows = OWNER_ROWS + 0;
	publisher_set_options(s.publisher, &options);
	publish(&s, 1);
	ledger_end_process(s.ledger, merged);
	publish(&s, 1);
	options.max_rows = OWNER_ROWS + 1;
	publisher_set_options(s.publisher, &options);
	assert_int_equal(use(&s, 2, 2, "b", MIN_UJ), merged);
	publish(&s, 1);
	assert_int_equal(shown(&s, 2, "b"), 0);
	close_stage(&s);
}

/* Energy used of a zone that has ended keeps no place, and keeps no other out. */
static void test_an_ended_zone_earns_no_series(void **state)
{
	struct publisher_options options = default_options();
	struct stage s;
	uint32_t zone1, process;

	(void)state;
	options.max_rows = OWNER_ROWS + 1;
	options.settle_ns = 0;
	open_stage(&s, &options);
	process = use(&s, 1, 1, "heavy", 5000);
	publish(&s, 1);
	use(&s, 2, 2, "heavier", 6000);
	publish(&s, 1); /* heavy is merged, and would have to use 5000 more */
	assert_int_equal(shown(&s, 1, "heavy"), NOT_SHOWN);
	assert_int_equal(test_add_zones(s.ledger, 2), 0);
	publish(&s, 1);
	ledger_end_zone(s.ledger, 0);
	zone1 = ledger_column(s.ledger, 1, MODE_DYNAMIC);
	ledger_charge(s.ledger, process, zone1, MIN_UJ - 1);
	publish(&s, 1);
	assert_int_equal(shown(&s, 1, "heavy"), NOT_SHOWN);
	ledger_charge(s.ledger, process, zone1, 1);
	publish(&s, 1);
	assert_int_equal(shown(&s, 1, "heavy"), 0); /* of the ended zone */
	assert_int_equal(shown(&s, 2, "heavier"), NOT_SHOWN);
	close_stage(&s);
}

static void test_container_goes_to_its_namespace(void **state)
{
	const struct publisher_options options = default_options();
	const struct test_owner owner = {
		.names.text = { [LABEL_CONTAINER_ID] = "job.service",
				[LABEL_CONTAINER_NAME] = "job",
				[LABEL_NAMESPACE] = "batch",
				[LABEL_POD_NAME] = "pod" },
	};
	const struct snapshot_table *table;
	struct stage s;
	uint32_t container;

	(void)state;
	open_stage(&s, &options);
	publish(&s, 1);
	container = enter_owner(s.ledger, &owner);
	ledger_charge_container(s.ledger, container, ENERGY, 60);
	ledger_node(s.ledger, 0, MODE_DYNAMIC, 60);
	publish(&s, 15);
	assert_int_equal(s.snapshot->level[LEVEL_CONTAINER].pending[ENERGY], 60);
	assert_int_equal(pending(&s), 60);
	publish(&s, 300);
	assert_int_equal(s.snapshot->level[LEVEL_CONTAINER].pending[ENERGY], 0);
	assert_int_equal(s.snapshot->level[LEVEL_CONTAINER].count, 2);
	publish(&s, 1);
	assert_int_equal(s.snapshot->level[LEVEL_CONTAINER].count, 1);
	for (size_t level = 0; level <= LEVEL_CONTAINER; level++) {
		table = &s.snapshot->level[level];
		assert_int_equal(table->retired_count, 1);
		assert_int_equal(table->retired_values[ENERGY], 60);
		assert_string_equal(table->retired[0].labels->names->text[LABEL_NAMESPACE],
				    "batch");
		assert_string_equal(table->retired[0].labels->names->text[LABEL_CONTAINER_ID], "");
		assert_string_equal(table->retired[0].labels->names->text[LABEL_POD_NAME], "");
		assert_string_equal(table->retired[0].labels->command, "");
	}
	assert_false(ledger_container_at(s.ledger, container)->row.used);
	close_stage(&s);
}

/* A sleeping process has not ended, and stays; if its cgroup is gone it is removed. */
static void test_a_container_that_sleeps_has_not_ended(void **state)
{
	const struct publisher_options options = default_options();
	const struct test_owner owner = { .names.text[LABEL_CONTAINER_ID] = "sleeper.service",
					  .names.text[LABEL_NAMESPACE] = "system" };
	struct stage s;
	uint32_t container;

	(void)state;
	open_stage(&s, &options);
	container = enter_owner(s.ledger, &owner);
	ledger_set_there(s.ledger, container, true);
	for (int i = 0; i < 3; i++) {
		const struct snapshot_table *table;

		publish(&s, 400);
		table = &s.snapshot->level[LEVEL_CONTAINER];
		assert_int_equal(table->count, 2);
		assert_string_equal(table->rows[1].labels->names->text[LABEL_CONTAINER_ID],
				    "sleeper.service");
		assert_int_equal(table->rows[1].ended, i == 2);
		assert_int_equal(s.snapshot->level[LEVEL_PROCESS].rows[1].ended, i == 2);
		if (i == 1) { /* its last work, and then it is gone */
			ledger_charge_container(s.ledger, container, ENERGY, 60);
			ledger_node(s.ledger, 0, MODE_DYNAMIC, 60);
			ledger_set_there(s.ledger, container, false);
		}
	}
	publish(&s, 1);
	assert_int_equal(s.snapshot->level[LEVEL_CONTAINER].count, 1);
	close_stage(&s);
}

static void test_zones_come_from_the_ledger(void **state)
{
	const struct publisher_options options = default_options();
	struct stage s;

	(void)state;
	open_stage(&s, &options);
	use(&s, 5, 5, "job", 400);
	ledger_node(s.ledger, 0, MODE_IDLE, 33);
	ledger_unattributed(s.ledger, 0, MODE_IDLE, UNATTRIBUTED_IDLE_POLICY, 33);
	publish(&s, 1);
	assert_int_equal(s.snapshot->zone_count, 1);
	assert_string_equal(s.snapshot->zones[0].zone.path, "intel-rapl:0");
	assert_int_equal(s.snapshot->zones[0].node_uj[MODE_DYNAMIC], 400);
	assert_int_equal(s.snapshot->zones[0].unattributed_uj[MODE_IDLE][UNATTRIBUTED_IDLE_POLICY],
			 33);
	assert_int_equal(s.snapshot->node.cpus, 2);
	assert_int_equal(s.snapshot->realtime_ms, 1000000);
	assert_int_equal(test_add_zones(s.ledger, 2), 0);
	publish(&s, 1);
	assert_int_equal(s.snapshot->zone_count, 2);
	assert_int_equal(s.snapshot->columns, 5);
	assert_int_equal(shown(&s, 5, "job"), 400);
	close_stage(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_snapshot_settles_nothing),
		cmocka_unit_test(test_other_is_there_before_anybody_ran),
		cmocka_unit_test(test_kept_for_settle_where_keep_is_less),
		cmocka_unit_test(test_admission_and_settling),
		cmocka_unit_test(test_ended_process_is_kept_then_retired),
		cmocka_unit_test(test_short_life_without_a_series),
		cmocka_unit_test(test_reused_pid_replaces_its_namesake),
		cmocka_unit_test(test_late_run_time_of_a_dead_namesake),
		cmocka_unit_test(test_process_that_comes_back_goes_on),
		cmocka_unit_test(test_smallest_is_merged_at_the_limit),
		cmocka_unit_test(test_slot_of_a_merged_process_starts_clean),
		cmocka_unit_test(test_an_ended_zone_earns_no_series),
		cmocka_unit_test(test_container_goes_to_its_namespace),
		cmocka_unit_test(test_a_container_that_sleeps_has_not_ended),
		cmocka_unit_test(test_zones_come_from_the_ledger),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

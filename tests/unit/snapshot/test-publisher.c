// SPDX-License-Identifier: Apache-2.0
/*
 * The rules of publisher.h, one example each. What holds in all histories: test-publisher_history.c
 */
#include "snapshot/publisher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND_NS 1000000000ULL
#define MIN_UJ    100

struct stage {
	struct ledger *ledger;
	struct snapshot_holder *holder;
	struct publisher *publisher;
	const struct snapshot *snapshot; /* the newest */
	uint64_t now_s;
};

static struct publisher_options default_options(void)
{
	return (struct publisher_options){ .min_uj = MIN_UJ,
					   .settle_ns = 15 * SECOND_NS,
					   .keep_ns = 300 * SECOND_NS,
					   .max_rows = 1000 };
}

static void open_stage(struct stage *s, const struct publisher_options *options)
{
	const struct ledger_options book = { 1000,
					     100,
					     { "system_processes", "s", "system", "s" } };

	*s = (struct stage){ .now_s = 1000 };
	assert_int_equal(ledger_new(&book, &s->ledger), 0);
	assert_int_equal(ledger_set_zones(s->ledger, 1), 0);
	assert_int_equal(snapshot_holder_new(&s->holder), 0);
	assert_null(snapshot_get(s->holder));
	assert_int_equal(publisher_new(options, s->ledger, s->holder, &s->publisher), 0);
	ledger_begin(s->ledger, s->now_s * SECOND_NS);
}

static void close_stage(struct stage *s)
{
	snapshot_put(s->holder, s->snapshot);
	publisher_free(s->publisher);
	snapshot_holder_free(s->holder);
	ledger_free(s->ledger);
}

/* Publishes the interval and begins one that ends @later_s seconds on. */
static void publish(struct stage *s, uint64_t later_s)
{
	const struct snapshot_zone zones[3] = { { .name = "package" } };
	const struct snapshot_self self = { .cpus = 2 };

	snapshot_put(s->holder, s->snapshot);
	assert_int_equal(publisher_publish(s->publisher, s->now_s * SECOND_NS,
					   (int64_t)s->now_s * 1000, zones, &self),
			 0);
	s->snapshot = snapshot_get(s->holder);
	s->now_s += later_s;
	ledger_begin(s->ledger, s->now_s * SECOND_NS);
}

static uint32_t use(struct stage *s, uint32_t pid, uint64_t start_ns, const char *comm,
		    uint64_t amount_uj)
{
	uint32_t process = ledger_process(s->ledger, pid, start_ns, comm, 0);

	ledger_charge(s->ledger, process, 0, amount_uj);
	ledger_node(s->ledger, 0, MODE_DYNAMIC, amount_uj);
	return process;
}

#define NOT_SHOWN UINT64_MAX

static uint64_t shown(const struct stage *s, uint32_t pid, const char *command)
{
	const struct snapshot_table *table = &s->snapshot->level[LEVEL_PROCESS];

	for (size_t i = 0; i < table->count; i++) {
		const struct series_labels *labels = table->rows[i].labels;

		if (labels->pid == pid && strcmp(labels->command, command) == 0)
			return table->values[i * s->snapshot->columns];
	}
	return NOT_SHOWN;
}

static uint64_t other(const struct stage *s)
{
	return shown(s, 0, "other");
}

static uint64_t pending(const struct stage *s)
{
	return s->snapshot->level[LEVEL_PROCESS].pending[0];
}

static uint64_t retired(const struct stage *s)
{
	const struct snapshot_table *table = &s->snapshot->level[LEVEL_PROCESS];

	return table->retired_count ? table->retired_values[0] : 0;
}

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
	assert_false(ledger_process_at(s.ledger, process)->used);
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
	assert_false(ledger_process_at(s.ledger, process)->used);
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
	use(&s, 5, 77, "job", 200); /* nobody saw the old one end */
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
	assert_false(ledger_process_at(s.ledger, young)->ended);
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

static void test_smallest_is_folded_at_the_limit(void **state)
{
	struct publisher_options options = default_options();
	struct stage s;

	(void)state;
	options.max_rows = 2;
	options.settle_ns = 0;
	open_stage(&s, &options);
	use(&s, 1, 1, "big", 900);
	use(&s, 2, 2, "small", 200);
	use(&s, 3, 3, "tiny", 150);
	publish(&s, 1);
	assert_int_equal(shown(&s, 3, "tiny"), NOT_SHOWN);
	assert_int_equal(s.snapshot->level[LEVEL_PROCESS].folded, 0);
	use(&s, 3, 3, "tiny", 300); /* 450 in all: more than the smallest */
	use(&s, 2, 2, "small", 10);
	publish(&s, 1);
	assert_int_equal(shown(&s, 1, "big"), 900);
	assert_int_equal(shown(&s, 2, "small"), NOT_SHOWN);
	assert_int_equal(shown(&s, 3, "tiny"), 300);
	assert_int_equal(retired(&s), 200);
	assert_int_equal(other(&s), 150 + 10);
	assert_int_equal(s.snapshot->level[LEVEL_PROCESS].folded, 1);
	use(&s, 2, 2, "small", MIN_UJ - 1); /* starts over */
	options.max_rows = 3;
	publisher_set_options(s.publisher, &options);
	publish(&s, 1);
	assert_int_equal(shown(&s, 2, "small"), NOT_SHOWN);
	use(&s, 2, 2, "small", 1);
	publish(&s, 1);
	assert_int_equal(shown(&s, 2, "small"), 1);
	options.max_rows = 1;
	publisher_set_options(s.publisher, &options);
	publish(&s, 1);
	assert_int_equal(shown(&s, 1, "big"), 900);
	assert_int_equal(s.snapshot->level[LEVEL_PROCESS].folded, 3);
	close_stage(&s);
}

/* A slot of the ledger must not hand its last owner's baseline to the next. */
static void test_slot_of_a_folded_process_starts_clean(void **state)
{
	struct publisher_options options = default_options();
	struct stage s;
	uint32_t folded;

	(void)state;
	open_stage(&s, &options);
	folded = use(&s, 1, 1, "a", 500);
	publish(&s, 1);
	options.max_rows = 0;
	publisher_set_options(s.publisher, &options);
	publish(&s, 1);
	ledger_end_process(s.ledger, folded);
	publish(&s, 1);
	options.max_rows = 1;
	publisher_set_options(s.publisher, &options);
	assert_int_equal(use(&s, 2, 2, "b", MIN_UJ), folded);
	publish(&s, 1);
	assert_int_equal(shown(&s, 2, "b"), 0);
	close_stage(&s);
}

static void test_container_goes_to_its_namespace(void **state)
{
	const struct publisher_options options = default_options();
	const struct ledger_owner owner = { "job.service", "job", "batch", "pod" };
	const struct snapshot_table *table;
	struct stage s;
	uint32_t container;

	(void)state;
	open_stage(&s, &options);
	publish(&s, 1);
	container = ledger_container(s.ledger, &owner);
	ledger_charge_container(s.ledger, container, 0, 60);
	ledger_node(s.ledger, 0, MODE_DYNAMIC, 60);
	publish(&s, 15);
	assert_int_equal(s.snapshot->level[LEVEL_CONTAINER].pending[0], 60);
	assert_int_equal(pending(&s), 60);
	publish(&s, 300);
	assert_int_equal(s.snapshot->level[LEVEL_CONTAINER].pending[0], 0);
	assert_int_equal(s.snapshot->level[LEVEL_CONTAINER].count, 2);
	publish(&s, 1);
	assert_int_equal(s.snapshot->level[LEVEL_CONTAINER].count, 1);
	for (size_t level = 0; level <= LEVEL_CONTAINER; level++) {
		table = &s.snapshot->level[level];
		assert_int_equal(table->retired_count, 1);
		assert_int_equal(table->retired_values[0], 60);
		assert_string_equal(table->retired[0].labels->container_namespace, "batch");
		assert_string_equal(table->retired[0].labels->container_id, "");
		assert_string_equal(table->retired[0].labels->pod_name, "");
		assert_string_equal(table->retired[0].labels->command, "");
	}
	assert_false(ledger_container_at(s.ledger, container)->used);
	close_stage(&s);
}

static const struct ledger_owner web = { .container_id = "c1",
					 .container_name = "web",
					 .container_namespace = "shop",
					 .pod_name = "web-1",
					 .pod_id = "p1",
					 .vm_id = "v1" };

static uint32_t use_container(struct stage *s, const struct ledger_owner *owner, uint64_t amount_uj)
{
	uint32_t container = ledger_container(s->ledger, owner);

	ledger_charge_container(s->ledger, container, 0, amount_uj);
	ledger_node(s->ledger, 0, MODE_DYNAMIC, amount_uj);
	return container;
}

/* What the row of this name shows: container_name, pod_id, vm_id or namespace. */
static uint64_t shown_at(const struct stage *s, enum snapshot_level level, const char *name)
{
	const struct snapshot_table *table = &s->snapshot->level[level];

	for (size_t i = 0; i < table->count; i++) {
		const struct ledger_owner *owner = table->rows[i].labels->owner;
		const char *const names[] = { "", owner->container_name, owner->pod_id,
					      owner->vm_id, owner->container_namespace };

		if (strcmp(names[level], name) == 0)
			return table->values[i * s->snapshot->columns];
	}
	return NOT_SHOWN;
}

static uint64_t retired_at(const struct stage *s, enum snapshot_level level)
{
	const struct snapshot_table *table = &s->snapshot->level[level];

	return table->retired_count ? table->retired_values[0] : 0;
}

static void test_groups_are_there_from_the_first_snapshot(void **state)
{
	const struct publisher_options options = default_options();
	struct stage s;

	(void)state;
	open_stage(&s, &options);
	use_container(&s, &web, 40);
	publish(&s, 1);
	assert_int_equal(shown_at(&s, LEVEL_POD, "p1"), 40);
	assert_int_equal(shown_at(&s, LEVEL_VM, "v1"), 40);
	assert_int_equal(shown_at(&s, LEVEL_NAMESPACE, "shop"), 40);
	assert_int_equal(shown_at(&s, LEVEL_NAMESPACE, "system"), 0);
	close_stage(&s);
}

static void test_waiting_is_pending_at_every_level(void **state)
{
	const struct publisher_options options = default_options();
	struct ledger_owner early = web;
	struct stage s;

	(void)state;
	open_stage(&s, &options);
	publish(&s, 1);
	early.waiting = true;
	early.container_name = early.pod_name = "";
	use_container(&s, &early, 40);
	publish(&s, 1);
	for (enum snapshot_level level = 0; level < LEVEL_COUNT; level++)
		assert_int_equal(s.snapshot->level[level].pending[0], 40);
	assert_int_equal(s.snapshot->level[LEVEL_CONTAINER].count, 1);
	assert_int_equal(s.snapshot->level[LEVEL_POD].count, 0);
	early = web;
	early.labels_version = 1;
	use_container(&s, &early, 2);
	publish(&s, 15);
	assert_int_equal(shown_at(&s, LEVEL_CONTAINER, "web"), 0); /* born now */
	assert_int_equal(s.snapshot->level[LEVEL_POD].pending[0], 42);
	publish(&s, 1);
	assert_int_equal(shown_at(&s, LEVEL_CONTAINER, "web"), 42);
	assert_int_equal(shown_at(&s, LEVEL_POD, "p1"), 42);
	assert_int_equal(s.snapshot->level[LEVEL_PROCESS].pending[0], 0);
	close_stage(&s);
}

static void test_new_names_begin_at_0(void **state)
{
	const struct publisher_options options = default_options();
	struct ledger_owner named = web;
	struct stage s;

	(void)state;
	open_stage(&s, &options);
	named.container_name = "c1";
	use_container(&s, &named, 40);
	publish(&s, 1);
	named.container_name = "web";
	named.labels_version = 1;
	use_container(&s, &named, 3);
	publish(&s, 15);
	assert_int_equal(shown_at(&s, LEVEL_CONTAINER, "c1"), 40);
	assert_int_equal(shown_at(&s, LEVEL_CONTAINER, "web"), 0);
	assert_int_equal(shown_at(&s, LEVEL_POD, "p1"), 43); /* it is still the same pod */
	publish(&s, 1);
	assert_int_equal(shown_at(&s, LEVEL_CONTAINER, "web"), 3);
	close_stage(&s);
}

static void test_pod_goes_on_when_a_container_restarts(void **state)
{
	const struct publisher_options options = default_options();
	struct ledger_owner again = web;
	struct stage s;
	uint32_t first;

	(void)state;
	open_stage(&s, &options);
	first = use_container(&s, &web, 40);
	publish(&s, 299);
	again.container_id = "c2";
	use_container(&s, &again, 5);
	publish(&s, 2);
	assert_int_equal(shown_at(&s, LEVEL_POD, "p1"), 45);
	use_container(&s, &again, 1);
	publish(&s, 1);
	assert_false(ledger_container_at(s.ledger, first)->used); /* retired */
	assert_int_equal(retired_at(&s, LEVEL_CONTAINER), 40);
	assert_int_equal(shown_at(&s, LEVEL_POD, "p1"), 46);
	assert_int_equal(retired_at(&s, LEVEL_POD), 0);
	publish(&s, 320);
	publish(&s, 300);
	publish(&s, 1);
	publish(&s, 1);
	assert_int_equal(shown_at(&s, LEVEL_POD, "p1"), NOT_SHOWN);
	for (enum snapshot_level level = 0; level < LEVEL_COUNT; level++)
		assert_int_equal(retired_at(&s, level), 46);
	assert_string_equal(s.snapshot->level[LEVEL_POD].retired[0].labels->container_namespace,
			    "shop");
	assert_string_equal(s.snapshot->level[LEVEL_VM].retired[0].labels->owner->vm_id, "");
	close_stage(&s);
}

/* Containers c0, c1, …: as many as there is room for but for system_processes. */
static struct ledger_owner numbered(char id[16], uint32_t i)
{
	struct ledger_owner owner = web;

	(void)snprintf(id, 16, "c%u", i);
	owner.container_id = owner.container_name = owner.pod_id = id;
	return owner;
}

static void test_idle_container_makes_room(void **state)
{
	const struct publisher_options options = default_options();
	struct stage s;
	char id[16];

	(void)state;
	open_stage(&s, &options);
	for (uint32_t i = 0; i < 99; i++) {
		const struct ledger_owner owner = numbered(id, i);
		uint32_t container = use_container(&s, &owner, 50 + i);

		(void)ledger_process(s.ledger, i + 1, 1, "idle", container);
	}
	publish(&s, 1);
	for (int round = 0; round < 2; round++) {
		const struct ledger_owner owner = numbered(id, 200);

		use_container(&s, &owner, 7);
		publish(&s, 1);
		/* First it is in "other", then c0, the smallest, is gone. */
		assert_int_equal(shown_at(&s, LEVEL_CONTAINER, "other"), 0);
		assert_int_equal(shown_at(&s, LEVEL_CONTAINER, "c0"), NOT_SHOWN);
		assert_int_equal(shown_at(&s, LEVEL_CONTAINER, "c200"), round ? 0 : NOT_SHOWN);
	}
	assert_int_equal(retired_at(&s, LEVEL_CONTAINER), 50);
	assert_int_equal(s.snapshot->level[LEVEL_CONTAINER].folded, 1);
	assert_int_equal(ledger_container_overflows(s.ledger), 1);
	assert_int_equal(ledger_find_process(s.ledger, 1, 1), LEDGER_NONE);
	publish(&s, 15);
	publish(&s, 1);
	assert_int_equal(shown_at(&s, LEVEL_CONTAINER, "other"), 7);
	assert_int_equal(shown_at(&s, LEVEL_CONTAINER, "c200"), 7);
	close_stage(&s);
}

/* Short-lived containers at a rate that would need more rows than there are, were all kept. */
static void test_churn_leaves_room(void **state)
{
	const struct publisher_options options = default_options();
	struct stage s;
	char id[16];

	(void)state;
	open_stage(&s, &options);
	for (uint32_t i = 0; i < 1000; i++) {
		const struct ledger_owner owner = numbered(id, i);
		uint32_t container, process;

		container = ledger_container(s.ledger, &owner);
		process = ledger_process(s.ledger, 5, i, "job", container);
		ledger_charge(s.ledger, process, 0, 200);
		ledger_node(s.ledger, 0, MODE_DYNAMIC, 200);
		ledger_end_process(s.ledger, process);
		publish(&s, 1);
	}
	assert_int_equal(ledger_container_overflows(s.ledger), 0);
	assert_int_equal(ledger_group_overflows(s.ledger, LEDGER_POD), 0);
	assert_true(s.snapshot->level[LEVEL_POD].folded > 800);
	assert_true(s.snapshot->level[LEVEL_CONTAINER].folded > 800);
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
	assert_string_equal(s.snapshot->zones[0].name, "package");
	assert_int_equal(s.snapshot->zones[0].node_uj[MODE_DYNAMIC], 400);
	assert_int_equal(s.snapshot->zones[0].unattributed_uj[MODE_IDLE][UNATTRIBUTED_IDLE_POLICY],
			 33);
	assert_int_equal(s.snapshot->self.cpus, 2);
	assert_int_equal(s.snapshot->realtime_ms, 1000000);
	assert_int_equal(ledger_set_zones(s.ledger, 2), 0);
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
		cmocka_unit_test(test_admission_and_settling),
		cmocka_unit_test(test_ended_process_is_kept_then_retired),
		cmocka_unit_test(test_short_life_without_a_series),
		cmocka_unit_test(test_reused_pid_replaces_its_namesake),
		cmocka_unit_test(test_late_run_time_of_a_dead_namesake),
		cmocka_unit_test(test_process_that_comes_back_goes_on),
		cmocka_unit_test(test_smallest_is_folded_at_the_limit),
		cmocka_unit_test(test_slot_of_a_folded_process_starts_clean),
		cmocka_unit_test(test_container_goes_to_its_namespace),
		cmocka_unit_test(test_groups_are_there_from_the_first_snapshot),
		cmocka_unit_test(test_waiting_is_pending_at_every_level),
		cmocka_unit_test(test_new_names_begin_at_0),
		cmocka_unit_test(test_pod_goes_on_when_a_container_restarts),
		cmocka_unit_test(test_idle_container_makes_room),
		cmocka_unit_test(test_churn_leaves_room),
		cmocka_unit_test(test_zones_come_from_the_ledger),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/* Pods, VMs and namespaces, names that come late, and the limit of containers: examples. */
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "stage.h"
#include "tests/rig/test_owner.h"

static const struct test_owner web = { .names.text[LABEL_CONTAINER_ID] = "c1",
				       .names.text[LABEL_CONTAINER_NAME] = "web",
				       .names.text[LABEL_NAMESPACE] = "shop",
				       .names.text[LABEL_POD_NAME] = "web-1",
				       .names.text[LABEL_POD_ID] = "p1",
				       .names.text[LABEL_VM_ID] = "v1" };

static uint32_t use_container(struct stage *s, const struct test_owner *owner, uint64_t amount_uj)
{
	uint32_t container = enter_owner(s->ledger, owner);

	ledger_charge_container(s->ledger, container, ENERGY, amount_uj);
	ledger_node(s->ledger, 0, MODE_DYNAMIC, amount_uj);
	return container;
}

/* The value of the row of this name: container_name, pod_id, vm_id or namespace. */
static uint64_t shown_at(const struct stage *s, enum level level, const char *name)
{
	const struct snapshot_table *table = &s->snapshot->level[level];

	for (size_t i = 0; i < table->count; i++) {
		const struct owner_names *names = table->rows[i].labels->names;
		const char *const called[] = { "", names->text[LABEL_CONTAINER_NAME],
					       names->text[LABEL_POD_ID], names->text[LABEL_VM_ID],
					       names->text[LABEL_NAMESPACE] };

		if (strcmp(called[level], name) == 0)
			return table->values[i * s->snapshot->columns + ENERGY];
	}
	return NOT_SHOWN;
}

static uint64_t retired_at(const struct stage *s, enum level level)
{
	const struct snapshot_table *table = &s->snapshot->level[level];

	return table->retired_count ? table->retired_values[ENERGY] : 0;
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
	struct test_owner early = web;
	struct stage s;

	(void)state;
	open_stage(&s, &options);
	publish(&s, 1);
	early.waiting = true;
	early.names.text[LABEL_CONTAINER_NAME] = early.names.text[LABEL_POD_NAME] = "";
	use_container(&s, &early, 40);
	publish(&s, 1);
	for (enum level level = 0; level < LEVEL_COUNT; level++)
		assert_int_equal(s.snapshot->level[level].pending[ENERGY], 40);
	assert_int_equal(s.snapshot->level[LEVEL_CONTAINER].count, 1);
	assert_int_equal(s.snapshot->level[LEVEL_POD].count, 0);
	early = web;
	use_container(&s, &early, 2);
	publish(&s, 15);
	assert_int_equal(shown_at(&s, LEVEL_CONTAINER, "web"), 0); /* born now */
	assert_int_equal(s.snapshot->level[LEVEL_POD].pending[ENERGY], 42);
	publish(&s, 1);
	assert_int_equal(shown_at(&s, LEVEL_CONTAINER, "web"), 42);
	assert_int_equal(shown_at(&s, LEVEL_POD, "p1"), 42);
	assert_int_equal(s.snapshot->level[LEVEL_PROCESS].pending[ENERGY], 0);
	close_stage(&s);
}

static void test_pod_is_shown_before_its_container(void **state)
{
	const struct publisher_options options = default_options();
	struct test_owner early = web;
	struct stage s;

	(void)state;
	open_stage(&s, &options);
	publish(&s, 1);
	early.waiting = early.has_pod_names = true;
	early.names.text[LABEL_QOS_CLASS] = "Burstable";
	use_container(&s, &early, 40);
	publish(&s, 15);
	publish(&s, 1);
	assert_int_equal(shown_at(&s, LEVEL_POD, "p1"), 40);
	assert_int_equal(shown_at(&s, LEVEL_NAMESPACE, "shop"), 40);
	assert_string_equal(
		s.snapshot->level[LEVEL_POD].rows[0].labels->facts->text[LABEL_QOS_CLASS],
		"Burstable");
	assert_int_equal(s.snapshot->level[LEVEL_POD].pending[ENERGY], 0);
	assert_int_equal(s.snapshot->level[LEVEL_NAMESPACE].pending[ENERGY], 0);
	assert_int_equal(s.snapshot->level[LEVEL_CONTAINER].count, 1); /* the system's */
	assert_int_equal(s.snapshot->level[LEVEL_CONTAINER].pending[ENERGY], 40);
	assert_int_equal(s.snapshot->level[LEVEL_PROCESS].pending[ENERGY], 40);
	close_stage(&s);
}

static void test_new_names_begin_at_0(void **state)
{
	const struct publisher_options options = default_options();
	struct test_owner named = web;
	struct stage s;

	(void)state;
	open_stage(&s, &options);
	named.names.text[LABEL_CONTAINER_NAME] = "c1";
	use_container(&s, &named, 40);
	publish(&s, 1);
	named.names.text[LABEL_CONTAINER_NAME] = "web";
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
	struct test_owner again = web;
	struct stage s;
	uint32_t first;

	(void)state;
	open_stage(&s, &options);
	first = use_container(&s, &web, 40);
	publish(&s, 299);
	again.names.text[LABEL_CONTAINER_ID] = "c2";
	use_container(&s, &again, 5);
	publish(&s, 2);
	assert_int_equal(shown_at(&s, LEVEL_POD, "p1"), 45);
	use_container(&s, &again, 1);
	publish(&s, 1);
	assert_false(ledger_container_at(s.ledger, first)->row.used); /* retired */
	assert_int_equal(retired_at(&s, LEVEL_CONTAINER), 40);
	assert_int_equal(shown_at(&s, LEVEL_POD, "p1"), 46);
	assert_int_equal(retired_at(&s, LEVEL_POD), 0);
	publish(&s, 320);
	publish(&s, 300);
	publish(&s, 1);
	publish(&s, 1);
	assert_int_equal(shown_at(&s, LEVEL_POD, "p1"), NOT_SHOWN);
	for (enum level level = 0; level < LEVEL_COUNT; level++)
		assert_int_equal(retired_at(&s, level), 46);
	assert_string_equal(
		s.snapshot->level[LEVEL_POD].retired[0].labels->names->text[LABEL_NAMESPACE],
		"shop");
	assert_string_equal(s.snapshot->level[LEVEL_VM].retired[0].labels->names->text[LABEL_VM_ID],
			    "");
	close_stage(&s);
}

static const char *qos_in(const struct snapshot *snapshot)
{
	const struct owner_names *facts = snapshot->level[LEVEL_POD].rows[0].labels->facts;

	return facts ? facts->text[LABEL_QOS_CLASS] : "";
}

/* A pod's class names no series: it goes on, and what was read before says what was known then. */
static void test_facts_come_late_and_change(void **state)
{
	const struct publisher_options options = default_options();
	const char *const classes[] = { "", "Burstable", "Guaranteed" };
	const struct snapshot *seen[ARRAY_SIZE(classes)];
	struct test_owner told = web;
	struct stage s;

	(void)state;
	open_stage(&s, &options);
	publish(&s, 1);
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		told.names.text[LABEL_QOS_CLASS] = classes[i];
		use_container(&s, &told, 40);
		publish(&s, 1);
		seen[i] = snapshot_get(s.holder);
		assert_int_equal(seen[i]->level[LEVEL_POD].count, 1);
		assert_int_equal(seen[i]->level[LEVEL_POD].rows[0].created_ms,
				 seen[0]->level[LEVEL_POD].rows[0].created_ms);
	}
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		publish(&s, 15);
		assert_string_equal(qos_in(seen[i]), classes[i]);
		snapshot_put(s.holder, seen[i]);
	}
	assert_int_equal(shown_at(&s, LEVEL_POD, "p1"), 120);
	close_stage(&s);
}

/* Containers c0, c1, …: as many as there is room for but for system_processes. */
static struct test_owner numbered(char id[16], uint32_t i)
{
	struct test_owner owner = web;

	(void)snprintf(id, 16, "c%u", i);
	owner.names.text[LABEL_CONTAINER_ID] = owner.names.text[LABEL_CONTAINER_NAME] =
		owner.names.text[LABEL_POD_ID] = id;
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
		const struct test_owner owner = numbered(id, i);
		uint32_t container = use_container(&s, &owner, 50 + i);

		(void)ledger_process(s.ledger, i + 1, 1, "idle", container);
	}
	publish(&s, 1);
	for (int round = 0; round < 2; round++) {
		const struct test_owner owner = numbered(id, 200);

		use_container(&s, &owner, 7);
		publish(&s, 1);
		/* First it is in "other", then c0, the smallest, is gone. */
		assert_int_equal(shown_at(&s, LEVEL_CONTAINER, "other"), 0);
		assert_int_equal(shown_at(&s, LEVEL_CONTAINER, "c0"), round ? NOT_SHOWN : 50);
		assert_int_equal(shown_at(&s, LEVEL_CONTAINER, "c200"), round ? 0 : NOT_SHOWN);
	}
	assert_int_equal(retired_at(&s, LEVEL_CONTAINER), 50);
	assert_int_equal(s.snapshot->level[LEVEL_CONTAINER].merged, 1);
	assert_int_equal(ledger_overflows(s.ledger, LEVEL_CONTAINER), 1);
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
		const struct test_owner owner = numbered(id, i);
		uint32_t container, process;

		container = enter_owner(s.ledger, &owner);
		process = ledger_process(s.ledger, 5, i, "job", container);
		ledger_charge(s.ledger, process, ENERGY, 200);
		ledger_node(s.ledger, 0, MODE_DYNAMIC, 200);
		ledger_end_process(s.ledger, process);
		publish(&s, 1);
	}
	assert_int_equal(ledger_overflows(s.ledger, LEVEL_CONTAINER), 0);
	assert_int_equal(ledger_overflows(s.ledger, LEVEL_POD), 0);
	assert_true(s.snapshot->level[LEVEL_POD].merged > 800);
	assert_true(s.snapshot->level[LEVEL_CONTAINER].merged > 800);
	close_stage(&s);
}

/* The counter of a machine does not go on where one of the same name has ended. */
static void test_the_next_owner_of_a_name_begins_again(void **state)
{
	const struct publisher_options options = default_options();
	struct test_owner machine = { .names.text[LABEL_CONTAINER_ID] = "qemu/web",
				      .names.text[LABEL_CONTAINER_NAME] = "web",
				      .names.text[LABEL_NAMESPACE] = "system",
				      .names.text[LABEL_VM_ID] = "qemu/web",
				      .bearer_ns = 5 };
	static const enum level levels[] = { LEVEL_CONTAINER, LEVEL_VM };
	static const char *const names[] = { "web", "qemu/web" };
	struct stage s;

	(void)state;
	open_stage(&s, &options);
	use_container(&s, &machine, 40);
	publish(&s, 10);
	machine.bearer_ns = 9;
	use_container(&s, &machine, 3); /* 40 was visible for 10 of the 15 s */
	publish(&s, 10);
	use_container(&s, &machine, 2);
	publish(&s, 1);
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		assert_int_equal(shown_at(&s, levels[i], names[i]), 45);
	use_container(&s, &machine, 7);
	publish(&s, 15);
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		assert_int_equal(shown_at(&s, levels[i], names[i]), 0);
		assert_int_equal(s.snapshot->level[levels[i]].pending[ENERGY], 7);
		assert_int_equal(retired_at(&s, levels[i]), 45);
	}
	use_container(&s, &machine, 1);
	publish(&s, 1);
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		assert_int_equal(shown_at(&s, levels[i], names[i]), 8);
	assert_int_equal(shown_at(&s, LEVEL_NAMESPACE, "system"), 53);
	close_stage(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups_are_there_from_the_first_snapshot),
		cmocka_unit_test(test_waiting_is_pending_at_every_level),
		cmocka_unit_test(test_pod_is_shown_before_its_container),
		cmocka_unit_test(test_new_names_begin_at_0),
		cmocka_unit_test(test_facts_come_late_and_change),
		cmocka_unit_test(test_pod_goes_on_when_a_container_restarts),
		cmocka_unit_test(test_idle_container_makes_room),
		cmocka_unit_test(test_churn_leaves_room),
		cmocka_unit_test(test_the_next_owner_of_a_name_begins_again),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/* Pods, VMs and namespaces as sums, and names that come late or change: examples. */
#include "attribution/ledger.h"

#include "new_ledger.h"
#include "tests/rig/test_owner.h"
#include "tests/unit/unit.h"

static const struct test_owner web = { .names.text[LABEL_CONTAINER_ID] = "c1",
				       .names.text[LABEL_CONTAINER_NAME] = "web",
				       .names.text[LABEL_NAMESPACE] = "shop",
				       .names.text[LABEL_POD_NAME] = "web-1",
				       .names.text[LABEL_POD_ID] = "p1" };

static uint64_t group_value(const struct ledger *ledger, enum level group, uint32_t container)
{
	uint32_t row = ledger_group_of(ledger_container_at(ledger, container), group);

	return row == LEDGER_NONE ? UINT64_MAX : ledger_values(ledger, group, row)[0];
}

static void test_groups_are_sums(void **state)
{
	struct ledger *ledger = new_ledger(10, 10, 1);
	struct test_owner sidecar = web;
	uint32_t a, b;

	sidecar.names.text[LABEL_CONTAINER_ID] = "c2";
	ledger_begin(ledger, 1);
	a = enter_owner(ledger, &web);
	b = enter_owner(ledger, &sidecar);
	ledger_charge_container(ledger, a, 0, 5);
	ledger_charge_container(ledger, b, 0, 7);
	ledger_charge_container(ledger, 0, 0, 100);
	ledger_close(ledger);
	ledger_close(ledger); /* once is enough */
	assert_int_equal(ledger_group_of(ledger_container_at(ledger, a), LEVEL_POD),
			 ledger_group_of(ledger_container_at(ledger, b), LEVEL_POD));
	assert_int_equal(group_value(ledger, LEVEL_POD, a), 12);
	assert_int_equal(group_value(ledger, LEVEL_NAMESPACE, a), 12);
	assert_int_equal(group_value(ledger, LEVEL_NAMESPACE, 0), 100);
	assert_int_equal(group_value(ledger, LEVEL_VM, a), UINT64_MAX);
	assert_int_equal(group_value(ledger, LEVEL_POD, 0), UINT64_MAX);
	ledger_begin(ledger, 2);
	ledger_charge_container(ledger, a, 0, 1);
	ledger_release(ledger, LEVEL_CONTAINER, b);
	assert_int_equal(group_value(ledger, LEVEL_POD, a), 12); /* not before the close */
	ledger_begin(ledger, 3);                                 /* closes */
	assert_int_equal(group_value(ledger, LEVEL_POD, a), 13);
	ledger_free(ledger);
}

static void test_waiting_row_is_renamed(void **state)
{
	struct ledger *ledger = new_ledger(10, 10, 1);
	struct test_owner early = { .names.text[LABEL_CONTAINER_ID] = "c1",
				    .names.text[LABEL_POD_ID] = "p1",
				    .waiting = true };
	uint32_t container;

	ledger_begin(ledger, 1);
	container = enter_owner(ledger, &early);
	ledger_charge_container(ledger, container, 0, 5);
	ledger_close(ledger);
	assert_int_equal(ledger_waiting(ledger), 1);
	assert_int_equal(group_value(ledger, LEVEL_NAMESPACE, container), UINT64_MAX);
	ledger_begin(ledger, 2);
	assert_int_equal(enter_owner(ledger, &web), container);
	ledger_charge_container(ledger, container, 0, 2);
	ledger_close(ledger);
	assert_int_equal(ledger_waiting(ledger), 0);
	assert_string_equal(
		ledger_container_at(ledger, container)->names->text[LABEL_CONTAINER_NAME], "web");
	assert_int_equal(group_value(ledger, LEVEL_POD, container), 7);
	assert_int_equal(ledger_deltas(ledger, LEVEL_POD,
				       ledger_group_of(ledger_container_at(ledger, container),
						       LEVEL_POD))[0],
			 2);
	/* The source forgot it: it does not wait again. */
	assert_int_equal(enter_owner(ledger, &early), container);
	assert_string_equal(
		ledger_container_at(ledger, container)->names->text[LABEL_CONTAINER_NAME], "web");
	ledger_free(ledger);
}

static void test_pod_does_not_wait_for_its_containers(void **state)
{
	struct ledger *ledger = new_ledger(10, 10, 1);
	struct test_owner early = web;
	uint32_t container;

	early.waiting = true;
	early.names.text[LABEL_CONTAINER_NAME] = early.names.text[LABEL_NAMESPACE] =
		early.names.text[LABEL_POD_NAME] = "";
	early.names.text[LABEL_VM_ID] = "v1";
	ledger_begin(ledger, 1);
	container = enter_owner(ledger, &early);
	ledger_charge_container(ledger, container, 0, 5);
	ledger_close(ledger);
	assert_int_equal(group_value(ledger, LEVEL_POD, container), UINT64_MAX);
	early = web; /* a runtime's word, then the same from Kubernetes: no label differs */
	early.waiting = true;
	early.names.text[LABEL_VM_ID] = "v1";
	assert_int_equal(enter_owner(ledger, &early), container);
	ledger_close(ledger);
	assert_int_equal(group_value(ledger, LEVEL_POD, container), UINT64_MAX);
	early.has_pod_names = true;
	ledger_begin(ledger, 2);
	assert_int_equal(enter_owner(ledger, &early), container);
	ledger_charge_container(ledger, container, 0, 2);
	ledger_close(ledger);
	assert_true(ledger_container_at(ledger, container)->waiting);
	assert_int_equal(group_value(ledger, LEVEL_POD, container), 7);
	assert_int_equal(group_value(ledger, LEVEL_NAMESPACE, container), 7);
	assert_int_equal(group_value(ledger, LEVEL_VM, container), UINT64_MAX);
	early.waiting = false;
	ledger_begin(ledger, 3);
	assert_int_equal(enter_owner(ledger, &early), container);
	ledger_charge_container(ledger, container, 0, 1);
	ledger_close(ledger);
	assert_int_equal(group_value(ledger, LEVEL_POD, container), 8); /* nothing came twice */
	assert_int_equal(group_value(ledger, LEVEL_VM, container), 8);
	ledger_free(ledger);
}

/* A class that comes late is the pod's from then on; one that is forgotten stays. */
static void test_quality_of_service_may_come_late(void **state)
{
	struct ledger *ledger = new_ledger(10, 10, 1);
	struct test_owner owner = web;
	uint32_t container, pod;

	ledger_begin(ledger, 1);
	container = enter_owner(ledger, &owner);
	pod = ledger_group_of(ledger_container_at(ledger, container), LEVEL_POD);
	assert_null(ledger_group_at(ledger, LEVEL_POD, pod)->facts);
	owner.names.text[LABEL_QOS_CLASS] = "Burstable";
	assert_int_equal(enter_owner(ledger, &owner), container);
	owner.names.text[LABEL_QOS_CLASS] = "";
	assert_int_equal(enter_owner(ledger, &owner), container);
	assert_int_equal(ledger_group_of(ledger_container_at(ledger, container), LEVEL_POD), pod);
	assert_string_equal(ledger_group_at(ledger, LEVEL_POD, pod)->facts->text[LABEL_QOS_CLASS],
			    "Burstable");
	ledger_free(ledger);
}

static void test_no_row_waits_for_ever(void **state)
{
	struct ledger *ledger = new_ledger(10, 10, 1);
	const struct test_owner early = { .names.text[LABEL_CONTAINER_ID] = "c1", .waiting = true };
	uint32_t container;

	ledger_begin(ledger, 5);
	container = enter_owner(ledger, &early);
	ledger_charge_container(ledger, container, 0, 5);
	ledger_begin(ledger, 4 + LEDGER_WAIT_NS);
	ledger_close(ledger);
	assert_true(ledger_container_at(ledger, container)->waiting);
	ledger_begin(ledger, 5 + LEDGER_WAIT_NS);
	ledger_close(ledger);
	assert_false(ledger_container_at(ledger, container)->waiting);
	assert_int_equal(group_value(ledger, LEVEL_NAMESPACE, container), 5);
	ledger_free(ledger);
}

static void test_new_names_make_a_new_row(void **state)
{
	struct ledger *ledger = new_ledger(10, 2, 1);
	struct test_owner renamed = web;
	uint32_t first, second, process;

	ledger_begin(ledger, 1);
	first = enter_owner(ledger, &web);
	process = ledger_process(ledger, 5, 50, "sh", first);
	ledger_charge(ledger, process, 0, 9);
	renamed.names.text[LABEL_CONTAINER_NAME] = "shop";
	second = enter_owner(ledger, &renamed); /* beyond the limit, too */
	assert_int_not_equal(second, first);
	assert_int_equal(enter_owner(ledger, &renamed), second);
	assert_true(ledger_container_at(ledger, first)->replaced);
	assert_int_equal(ledger_values(ledger, LEVEL_CONTAINER, second)[0], 0);
	assert_int_not_equal(ledger_process(ledger, 5, 50, "sh", second), process);
	assert_true(ledger_process_at(ledger, process)->row.ended);
	assert_int_equal(ledger_container_at(ledger, first)->living, 0);
	/* The pod is still called the same. */
	assert_int_equal(ledger_group_of(ledger_container_at(ledger, second), LEVEL_POD),
			 ledger_group_of(ledger_container_at(ledger, first), LEVEL_POD));
	renamed.names.text[LABEL_CONTAINER_NAME] = "web"; /* back to what is kept */
	assert_int_equal(enter_owner(ledger, &renamed), first);
	assert_true(ledger_container_at(ledger, second)->replaced);
	ledger_free(ledger);
}

static void test_pod_labels_move_the_pod_only(void **state)
{
	struct ledger *ledger = new_ledger(10, 10, 1);
	const struct label app = { "label_app", "a" };
	struct test_owner labelled = web;
	uint32_t container, pod;

	ledger_begin(ledger, 1);
	container = enter_owner(ledger, &web);
	pod = ledger_group_of(ledger_container_at(ledger, container), LEVEL_POD);
	ledger_charge_container(ledger, container, 0, 5);
	ledger_begin(ledger, 2);
	labelled.names.extra = &app;
	labelled.names.extra_count = 1;
	assert_int_equal(enter_owner(ledger, &labelled), container);
	ledger_charge_container(ledger, container, 0, 3);
	ledger_close(ledger);
	assert_int_not_equal(ledger_group_of(ledger_container_at(ledger, container), LEVEL_POD),
			     pod);
	assert_int_equal(group_value(ledger, LEVEL_POD, container), 3);
	assert_int_equal(ledger_values(ledger, LEVEL_POD, pod)[0], 5);
	assert_int_equal(ledger_group_at(ledger, LEVEL_POD, pod)->row.members, 0);
	assert_string_equal(ledger_container_at(ledger, container)->names->extra[0].value, "a");
	ledger_release(ledger, LEVEL_POD, pod);
	assert_false(ledger_group_at(ledger, LEVEL_POD, pod)->row.used);
	ledger_free(ledger);
}

static void test_too_many_pods_are_other(void **state)
{
	struct ledger *ledger = new_ledger(10, 4, 1);
	struct test_owner owner = web;
	char id[16];

	ledger_begin(ledger, 1);
	owner.names.text[LABEL_CONTAINER_ID] = "c1";
	owner.names.text[LABEL_POD_ID] = id;
	for (uint32_t i = 0; i < 6; i++) {
		(void)snprintf(id, sizeof(id), "p%u", i);
		ledger_charge_container(ledger, enter_owner(ledger, &owner), 0, 1);
		ledger_begin(ledger, 2 + i);
	}
	assert_int_equal(ledger_overflows(ledger, LEVEL_POD), 2);
	assert_int_equal(ledger_values(ledger, LEVEL_POD, 0)[0], 2);
	assert_string_equal(ledger_group_at(ledger, LEVEL_POD, 0)->names->text[LABEL_POD_NAME],
			    "other");
	assert_true(ledger_is_crowded(ledger, LEVEL_POD));
	assert_false(ledger_is_crowded(ledger, LEVEL_VM));
	ledger_free(ledger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups_are_sums),
		cmocka_unit_test(test_waiting_row_is_renamed),
		cmocka_unit_test(test_pod_does_not_wait_for_its_containers),
		cmocka_unit_test(test_quality_of_service_may_come_late),
		cmocka_unit_test(test_no_row_waits_for_ever),
		cmocka_unit_test(test_new_names_make_a_new_row),
		cmocka_unit_test(test_pod_labels_move_the_pod_only),
		cmocka_unit_test(test_too_many_pods_are_other),
	};

	return unit_run(tests);
}

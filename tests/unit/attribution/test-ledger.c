// SPDX-License-Identifier: Apache-2.0
/* Columns, charges, the node's lines, and that the sums agree in any history. */
#include "attribution/ledger.h"

#include "new_ledger.h"
#include "tests/rig/property.h"
#include "tests/rig/test_owner.h"
#include "tests/unit/unit.h"

static const struct test_owner nginx = {
	.names.text = { [LABEL_CONTAINER_ID] = "nginx.service",
			[LABEL_CONTAINER_NAME] = "nginx.service",
			[LABEL_NAMESPACE] = "system",
			[LABEL_POD_NAME] = "nginx.service" },
};

static const struct test_owner system_processes = {
	.names.text = { [LABEL_CONTAINER_ID] = "system_processes",
			[LABEL_CONTAINER_NAME] = "system_processes",
			[LABEL_NAMESPACE] = "system",
			[LABEL_POD_NAME] = "system_processes" },
};

static void test_overflow_owner_is_row_0(void **state)
{
	struct ledger *ledger = new_ledger(10, 10, 1);

	assert_int_equal(enter_owner(ledger, &system_processes), 0);
	assert_string_equal(ledger_container_at(ledger, 0)->names->text[LABEL_CONTAINER_ID],
			    "system_processes");
	ledger_release(ledger, LEVEL_CONTAINER, 0);
	assert_true(ledger_container_at(ledger, 0)->row.used);
	ledger_free(ledger);
	ledger_free(NULL);
}

static void test_charges_are_booked_twice(void **state)
{
	struct ledger *ledger = new_ledger(10, 10, 2);
	uint32_t container, process, column = ledger_column(ledger, 1, MODE_IDLE);
	size_t count;

	ledger_begin(ledger, 100);
	container = enter_owner(ledger, &nginx);
	process = ledger_process(ledger, 5, 50, "nginx", container);
	ledger_charge(ledger, process, column, 7);
	ledger_charge(ledger, process, COLUMN_CPU, 9);
	ledger_charge_container(ledger, container, column, 3);
	assert_int_equal(ledger_values(ledger, LEVEL_PROCESS, process)[column], 7);
	assert_int_equal(ledger_deltas(ledger, LEVEL_PROCESS, process)[column], 7);
	assert_int_equal(ledger_values(ledger, LEVEL_PROCESS, process)[COLUMN_CPU], 9);
	assert_int_equal(ledger_values(ledger, LEVEL_CONTAINER, container)[column], 10);
	assert_int_equal(ledger_deltas(ledger, LEVEL_CONTAINER, container)[column], 10);
	assert_int_equal(ledger_container_at(ledger, container)->last_active_ns, 100);
	assert_int_equal(ledger_touched(ledger, LEVEL_PROCESS, &count)[0], process);
	assert_int_equal(count, 1);

	ledger_begin(ledger, 200);
	assert_null(ledger_deltas(ledger, LEVEL_PROCESS, process));
	assert_null(ledger_deltas(ledger, LEVEL_CONTAINER, container));
	assert_int_equal(ledger_values(ledger, LEVEL_PROCESS, process)[column], 7);
	(void)ledger_touched(ledger, LEVEL_PROCESS, &count);
	assert_int_equal(count, 0);
	assert_false(ledger_container_at(ledger, container)->row.touched);
	assert_int_equal(ledger_container_at(ledger, container)->last_active_ns, 100);
	ledger_free(ledger);
}

static void test_node_lines(void **state)
{
	struct ledger *ledger = new_ledger(10, 10, 1);

	ledger_begin(ledger, 1);
	ledger_node(ledger, 0, MODE_DYNAMIC, 5);
	ledger_begin(ledger, 2);
	ledger_node(ledger, 0, MODE_DYNAMIC, 6);
	ledger_unattributed(ledger, 0, MODE_DYNAMIC, UNATTRIBUTED_DROPPED, 2);
	ledger_node_sum(ledger, COLUMN_CPU, 11, 3);
	assert_int_equal(ledger_node_value(ledger, 0, MODE_DYNAMIC), 11);
	assert_int_equal(ledger_node_delta(ledger, 0, MODE_DYNAMIC), 6);
	assert_int_equal(ledger_node_value(ledger, 0, MODE_IDLE), 0);
	assert_int_equal(ledger_unattributed_value(ledger, 0, MODE_DYNAMIC, UNATTRIBUTED_DROPPED),
			 2);
	assert_int_equal(ledger_sum(ledger, COLUMN_CPU)->node, 11);
	assert_int_equal(ledger_sum(ledger, COLUMN_CPU)->unattributed, 3);
	ledger_free(ledger);
}

static void test_zones_are_added_in_mid_interval(void **state)
{
	struct ledger *ledger = new_ledger(10, 10, 1);
	uint32_t process, container;

	ledger_begin(ledger, 1);
	container = enter_owner(ledger, &nginx);
	process = ledger_process(ledger, 5, 50, "nginx", container);
	ledger_charge(ledger, process, ledger_column(ledger, 0, MODE_IDLE), 3);
	ledger_charge(ledger, process, COLUMN_CPU, 9);
	assert_int_equal(test_add_zones(ledger, 3), 0);
	assert_int_equal(ledger_zones(ledger), 3);
	assert_int_equal(ledger_columns(ledger), 7);
	assert_int_equal(ledger_values(ledger, LEVEL_PROCESS, process)[2], 3);
	assert_int_equal(ledger_values(ledger, LEVEL_PROCESS, process)[3], 0);
	assert_int_equal(ledger_values(ledger, LEVEL_PROCESS, process)[COLUMN_CPU], 9);
	assert_int_equal(ledger_deltas(ledger, LEVEL_PROCESS, process)[COLUMN_CPU], 9);
	assert_int_equal(ledger_values(ledger, LEVEL_CONTAINER, container)[COLUMN_CPU], 9);
	assert_int_equal(ledger_deltas(ledger, LEVEL_CONTAINER, container)[2], 3);
	ledger_free(ledger);
}

static void test_changed_labels_make_a_new_row(void **state)
{
	struct ledger *ledger = new_ledger(10, 10, 1);
	uint32_t container, first, second;

	ledger_begin(ledger, 1);
	container = enter_owner(ledger, &nginx);
	first = ledger_process(ledger, 5, 50, "sh", container);
	assert_int_equal(ledger_process(ledger, 5, 50, "sh", container), first);
	second = ledger_process(ledger, 5, 50, "nginx", container);
	assert_int_not_equal(first, second);
	assert_true(ledger_process_at(ledger, first)->row.ended);
	assert_int_equal(ledger_find_process(ledger, 5, 50), second);
	assert_int_not_equal(ledger_process(ledger, 5, 50, "nginx", 0), second); /* moved */
	assert_true(ledger_process_at(ledger, second)->row.ended);
	/* Back to what it was, while that row is kept: it goes on there. */
	assert_int_equal(ledger_process(ledger, 5, 50, "sh", container), first);
	assert_false(ledger_process_at(ledger, first)->row.ended);
	assert_int_equal(ledger_find_process(ledger, 5, 50), first);
	assert_int_equal(ledger_container_at(ledger, container)->row.members, 2);
	ledger_end_process(ledger, first);
	assert_int_equal(ledger_find_process(ledger, 5, 50), LEDGER_NONE);
	ledger_free(ledger);
}

static void test_reused_pid_inherits_nothing(void **state)
{
	struct ledger *ledger = new_ledger(10, 10, 1);
	uint32_t old, young;

	ledger_begin(ledger, 1);
	old = ledger_process(ledger, 5, 50, "sh", 0);
	ledger_charge(ledger, old, 0, 100);
	young = ledger_process(ledger, 5, 51, "sh", 0);
	assert_int_not_equal(old, young);
	assert_int_equal(ledger_values(ledger, LEVEL_PROCESS, young)[0], 0);
	assert_int_equal(ledger_find_process(ledger, 5, 50), old);
	ledger_end_process(ledger, old);
	ledger_release(ledger, LEVEL_PROCESS, old);
	assert_int_equal(ledger_find_process(ledger, 5, 50), LEDGER_NONE);
	assert_int_equal(ledger_find_process(ledger, 5, 51), young);
	assert_int_equal(ledger_values(ledger, LEVEL_CONTAINER, 0)[0], 100);
	ledger_free(ledger);
}

static void test_released_slot_is_used_again_clean(void **state)
{
	struct ledger *ledger = new_ledger(10, 10, 1);
	uint32_t old, young;
	uint64_t serial;
	size_t count;

	ledger_begin(ledger, 1);
	old = ledger_process(ledger, 5, 50, "sh", 0);
	ledger_charge(ledger, old, 0, 100);
	serial = ledger_process_at(ledger, old)->row.serial;
	ledger_end_process(ledger, old);
	ledger_release(ledger, LEVEL_PROCESS, old);
	young = ledger_process(ledger, 6, 60, "sh", 0); /* in the same interval */
	assert_int_equal(young, old);
	assert_int_equal(ledger_slots(ledger, LEVEL_PROCESS), 1);
	assert_int_not_equal(ledger_process_at(ledger, young)->row.serial, serial);
	assert_int_equal(ledger_values(ledger, LEVEL_PROCESS, young)[0], 0);
	assert_int_equal(ledger_deltas(ledger, LEVEL_PROCESS, young)[0], 0);
	(void)ledger_touched(ledger, LEVEL_PROCESS, &count);
	assert_int_equal(count, 1);
	ledger_free(ledger);
}

static void test_limits(void **state)
{
	struct ledger *ledger = new_ledger(2, 3, 1);
	struct test_owner owner = nginx;
	char id[32];

	ledger_begin(ledger, 1);
	assert_int_not_equal(ledger_process(ledger, 1, 1, "a", 0), LEDGER_NONE);
	assert_int_not_equal(ledger_process(ledger, 2, 1, "a", 0), LEDGER_NONE);
	assert_int_equal(ledger_process(ledger, 3, 1, "a", 0), LEDGER_NONE);
	assert_int_equal(ledger_overflows(ledger, LEVEL_PROCESS), 1);
	assert_int_equal(ledger_process(ledger, 0, 1, "swapper", 0), LEDGER_NONE);
	assert_int_equal(ledger_overflows(ledger, LEVEL_PROCESS), 1);
	owner.names.text[LABEL_CONTAINER_ID] = id;
	for (int i = 0; i < 4; i++) {
		uint32_t row;

		(void)snprintf(id, sizeof(id), "unit-%d", i);
		row = enter_owner(ledger, &owner);
		assert_int_equal(row, i < 2 ? i + 1 : 3);
	}
	assert_true(ledger_container_at(ledger, 3)->is_other);
	assert_string_equal(ledger_container_at(ledger, 3)->names->text[LABEL_CONTAINER_ID], "");
	assert_string_equal(ledger_container_at(ledger, 3)->names->text[LABEL_CONTAINER_NAME],
			    "other");
	assert_string_equal(ledger_container_at(ledger, 3)->names->text[LABEL_NAMESPACE], "system");
	assert_int_equal(ledger_refused(ledger, LEVEL_CONTAINER), 2);
	assert_int_equal(ledger_overflows(ledger, LEVEL_CONTAINER), 2);
	owner.names.text[LABEL_CONTAINER_ID] = "";
	assert_int_equal(enter_owner(ledger, &owner), 0);
	owner.names.text[LABEL_CONTAINER_ID] = NULL;
	assert_int_equal(enter_owner(ledger, &owner), 0);
	ledger_free(ledger);
}

/* Bytes that exporters would print alike must not make two rows. */
static void test_names_that_print_alike_are_one(void **state)
{
	struct ledger *ledger = new_ledger(10, 10, 1);
	char long_a[300], long_b[300];
	struct test_owner a = { .names.text[LABEL_CONTAINER_ID] = long_a },
			  b = { .names.text[LABEL_CONTAINER_ID] = long_b };
	uint32_t process;

	ledger_begin(ledger, 1);
	process = ledger_process(ledger, 5, 50, "x\xfe", 0);
	assert_int_equal(ledger_process(ledger, 5, 50, "x\x80", 0), process);
	assert_int_equal(ledger_process(ledger, 5, 50, "x\xef\xbf\xbd", 0), process);
	assert_int_not_equal(ledger_process(ledger, 5, 50, "x\xc3\xa9", 0), process);
	memset(long_a, 'l', sizeof(long_a));
	memset(long_b, 'l', sizeof(long_b));
	long_a[299] = long_b[299] = '\0';
	long_b[298] = 'x';
	assert_int_equal(enter_owner(ledger, &a), enter_owner(ledger, &b));
	ledger_free(ledger);
}

static void test_containers_are_released(void **state)
{
	struct ledger *ledger = new_ledger(10, 10, 1);
	uint32_t container, process;
	uint64_t serial;

	ledger_begin(ledger, 1);
	container = enter_owner(ledger, &nginx);
	serial = ledger_container_at(ledger, container)->row.serial;
	process = ledger_process(ledger, 5, 50, "nginx", container);
	ledger_charge(ledger, process, 0, 4);
	ledger_release(ledger, LEVEL_CONTAINER, container); /* has a row: stays */
	assert_true(ledger_container_at(ledger, container)->row.used);
	ledger_end_process(ledger, process);
	ledger_release(ledger, LEVEL_PROCESS, process);
	ledger_release(ledger, LEVEL_CONTAINER, container);
	assert_false(ledger_container_at(ledger, container)->row.used);
	assert_int_equal(enter_owner(ledger, &nginx), container);
	assert_int_equal(ledger_values(ledger, LEVEL_CONTAINER, container)[0], 0);
	assert_int_not_equal(ledger_container_at(ledger, container)->row.serial, serial);
	ledger_free(ledger);
}

/* A question about containers with work is also asked about those in which nothing lives. */
static void test_a_container_with_nothing_alive_is_touched(void **state)
{
	struct ledger *ledger = new_ledger(10, 10, 1);
	uint32_t container, first, second;

	ledger_begin(ledger, 1);
	container = enter_owner(ledger, &nginx);
	first = ledger_process(ledger, 5, 50, "nginx", container);
	second = ledger_process(ledger, 6, 60, "nginx", container);
	ledger_begin(ledger, 2);
	assert_false(ledger_container_at(ledger, container)->row.touched);
	ledger_end_process(ledger, first);
	assert_false(ledger_container_at(ledger, container)->row.touched);
	ledger_end_process(ledger, second);
	assert_true(ledger_container_at(ledger, container)->row.touched);
	ledger_free(ledger);
}

/* Histories: rows are made, charged, ended, released; the sums must agree after each step. */
#define ROWS 40 /* containers, never so many */

struct history {
	struct ledger *ledger;
	uint64_t charged[7];                 /* since the start, by column */
	uint64_t direct[7];                  /* of it in this interval, to no process */
	uint64_t used[ROWS];                 /* by row, in this interval; column 0 */
	uint64_t serial[ROWS];               /* of the row that is there */
	uint64_t waited[LEVEL_COUNT][ROWS];  /* before, in no group of that kind yet */
	bool joined[LEVEL_COUNT][ROWS];      /* has been in one, or never will be */
	uint64_t in_groups[LEVEL_COUNT];     /* as it must be; column 0 */
	uint64_t released_from[LEVEL_COUNT]; /* with rows that are gone */
};

static void random_step(struct property_source *source, struct history *h)
{
	static const char *const names[] = { "a", "b", "c" };
	static const char *const ids[] = { "", "1", "2", "3", "4" };
	struct test_owner owner = {
		.names.text[LABEL_CONTAINER_ID] = names[draw_below(source, 3)],
		.names.text[LABEL_CONTAINER_NAME] = names[draw_below(source, 2)],
		.names.text[LABEL_NAMESPACE] = names[draw_below(source, 3)],
		.names.text[LABEL_POD_ID] = ids[draw_below(source, 5)],
		.names.text[LABEL_VM_ID] = ids[draw_below(source, 3)],
		.waiting = draw_chance(source, 5),
		.has_pod_names = draw_chance(source, 2),
	};
	uint32_t pid = (uint32_t)draw_below(source, 6), process, container;
	uint32_t column = (uint32_t)draw_below(source, ledger_columns(h->ledger));
	uint64_t amount = draw_below(source, 1000);

	container = enter_owner(h->ledger, &owner);
	process = ledger_process(h->ledger, pid, draw_below(source, 2),
				 names[draw_below(source, 3)], container);
	h->charged[column] += amount;
	assert_true(container < ROWS);
	h->used[container] += column == 0 ? amount : 0;
	if (process == LEDGER_NONE) {
		ledger_charge_container(h->ledger, container, column, amount);
		h->direct[column] += amount;
		return;
	}
	ledger_charge(h->ledger, process, column, amount);
	if (draw_chance(source, 3))
		ledger_end_process(h->ledger, process);
	process = (uint32_t)draw_below(source, ledger_slots(h->ledger, LEVEL_PROCESS));
	if (ledger_process_at(h->ledger, process)->row.used &&
	    ledger_process_at(h->ledger, process)->row.ended)
		ledger_release(h->ledger, LEVEL_PROCESS, process);
}

static const char *check_touched(const struct history *h)
{
	uint32_t slots = ledger_slots(h->ledger, LEVEL_PROCESS);
	size_t count, seen = 0;
	const uint32_t *touched = ledger_touched(h->ledger, LEVEL_PROCESS, &count);

	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < i; j++) {
			if (touched[i] == touched[j])
				return "a row is on the list twice";
		}
	}
	for (uint32_t i = 0; i < slots; i++)
		seen += ledger_process_at(h->ledger, i)->row.touched;
	return seen == count ? NULL : "touched rows and their list differ";
}

static const char *check_sums(const struct history *h)
{
	uint32_t columns = ledger_columns(h->ledger);

	for (uint32_t column = 0; column < columns; column++) {
		uint64_t all = 0, deltas = 0 - h->direct[column], in_rows = 0;

		for (uint32_t i = 0; i < ledger_slots(h->ledger, LEVEL_CONTAINER); i++) {
			all += ledger_values(h->ledger, LEVEL_CONTAINER, i)[column];
			if (ledger_container_at(h->ledger, i)->row.touched)
				deltas += ledger_deltas(h->ledger, LEVEL_CONTAINER, i)[column];
		}
		for (uint32_t i = 0; i < ledger_slots(h->ledger, LEVEL_PROCESS); i++) {
			const struct ledger_process *row = ledger_process_at(h->ledger, i);

			if (row->row.touched)
				in_rows += ledger_deltas(h->ledger, LEVEL_PROCESS, i)[column];
			if (row->row.used && ledger_values(h->ledger, LEVEL_PROCESS, i)[column] >
						     ledger_values(h->ledger, LEVEL_CONTAINER,
								   row->container)[column])
				return "a process has more than its container";
		}
		if (all != h->charged[column])
			return "containers do not sum to what was charged";
		if (in_rows > deltas)
			return "process deltas exceed their containers'";
	}
	return check_touched(h);
}

static void book_row(struct history *h, uint32_t i)
{
	const struct ledger_container *row = ledger_container_at(h->ledger, i);
	const struct owner_names *names = row->names;
	const bool with_pod = !row->waiting || row->has_pod_names;
	const bool is_in[LEVEL_COUNT] = {
		[LEVEL_POD] = with_pod && names->text[LABEL_POD_ID][0],
		[LEVEL_VM] = !row->waiting && names->text[LABEL_VM_ID][0],
		[LEVEL_NAMESPACE] = with_pod,
	};

	for (enum level group = LEVEL_POD; group < LEVEL_COUNT; group++) {
		if (row->row.serial != h->serial[i]) {
			h->waited[group][i] = 0;
			h->joined[group][i] = false;
		}
		if (is_in[group])
			h->in_groups[group] += h->waited[group][i] + h->used[i];
		else if (!h->joined[group][i])
			h->waited[group][i] += h->used[i];
		h->joined[group][i] |= is_in[group] || !row->waiting;
		if (h->joined[group][i])
			h->waited[group][i] = 0;
	}
	h->serial[i] = row->row.serial;
	h->used[i] = 0;
}

/* The interval is over: memberships are known now. */
static const char *check_groups(struct history *h)
{
	ledger_close(h->ledger);
	for (uint32_t i = 0; i < ledger_slots(h->ledger, LEVEL_CONTAINER); i++)
		book_row(h, i);
	for (enum level group = LEVEL_POD; group < LEVEL_COUNT; group++) {
		uint64_t sum = h->released_from[group], owners = 0, belong = 0;

		for (uint32_t i = 0; i < ledger_slots(h->ledger, group); i++) {
			const struct ledger_group *row = ledger_group_at(h->ledger, group, i);
			uint64_t value = ledger_values(h->ledger, group, i)[0];

			if (!row->row.used)
				continue;
			sum += value;
			owners += row->row.members;
			if (i == 0 || row->row.members > 0)
				continue;
			h->released_from[group] += value;
			ledger_release(h->ledger, group, i);
		}
		for (uint32_t i = 0; i < ledger_slots(h->ledger, LEVEL_CONTAINER); i++)
			belong += ledger_group_of(ledger_container_at(h->ledger, i), group) !=
				  LEDGER_NONE;
		if (sum != h->in_groups[group])
			return "groups do not sum to what their owners used";
		if (owners != belong)
			return "owners of groups are miscounted";
	}
	return NULL;
}

static const char *sums_agree(struct property_source *source, void *userdata)
{
	struct history h = { .ledger = new_ledger(5, 3, 1) };
	const char *wrong = NULL;
	uint64_t steps = draw_below(source, 60);

	(void)userdata;
	for (uint64_t i = 0; i < steps && !wrong; i++) {
		if (draw_chance(source, 5)) {
			wrong = check_groups(&h);
			ledger_begin(h.ledger, i * (LEDGER_WAIT_NS / 20));
			memset(h.direct, 0, sizeof(h.direct));
		}
		if (draw_chance(source, 40) && ledger_zones(h.ledger) < 3)
			assert_int_equal(test_add_zones(h.ledger, ledger_zones(h.ledger) + 1), 0);
		if (!wrong)
			random_step(source, &h);
		if (!wrong)
			wrong = check_sums(&h);
	}
	ledger_free(h.ledger);
	return wrong;
}

static void test_random_histories(void **state)
{
	assert_true(property_check("ledger", sums_agree, NULL, 100000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overflow_owner_is_row_0),
		cmocka_unit_test(test_charges_are_booked_twice),
		cmocka_unit_test(test_node_lines),
		cmocka_unit_test(test_zones_are_added_in_mid_interval),
		cmocka_unit_test(test_changed_labels_make_a_new_row),
		cmocka_unit_test(test_reused_pid_inherits_nothing),
		cmocka_unit_test(test_released_slot_is_used_again_clean),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_names_that_print_alike_are_one),
		cmocka_unit_test(test_containers_are_released),
		cmocka_unit_test(test_a_container_with_nothing_alive_is_touched),
		cmocka_unit_test(test_random_histories),
	};

	return unit_run(tests);
}

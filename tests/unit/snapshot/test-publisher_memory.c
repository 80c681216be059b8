// SPDX-License-Identifier: Apache-2.0
/*
 * Memory runs out at every possible moment: nothing crashes or leaks, and every snapshot that is
 * published afterwards adds up, what was used in the failed intervals included. Linked with --wrap,
 * so that the allocations of our libraries come here.
 */
#include "snapshot/publisher.h"
#include "tests/rig/test_zones.h"
#include "tests/unit/unit.h"

#define SECOND_NS 1000000000ULL
#define INTERVALS 30
#define PHASES    9

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);

static unsigned int allocations, fail_from, fail_until;

static bool may_allocate(void)
{
	allocations++;
	return allocations <= fail_from || allocations > fail_until;
}

void *__wrap_malloc(size_t size)
{
	return may_allocate() ? __real_malloc(size) : NULL;
}

void *__wrap_calloc(size_t count, size_t size)
{
	return may_allocate() ? __real_calloc(count, size) : NULL;
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
	return may_allocate() ? __real_reallocarray(old, count, size) : NULL;
}

/* Without memory for its names it has no owner, as in a resolver without memory. */
static uint32_t enter_container(struct ledger *ledger, uint32_t number, uint64_t interval)
{
	uint64_t phase = interval % PHASES;
	char id[16], late[16] = "";
	struct owner_names names = {
		.text = { [LABEL_CONTAINER_ID] = id,
			  [LABEL_CONTAINER_NAME] = "n",
			  [LABEL_NAMESPACE] = id,
			  [LABEL_POD_NAME] = late,
			  [LABEL_POD_ID] = id,
			  [LABEL_QOS_CLASS] = phase < 5 ? "" : "Burstable",
			  [LABEL_VM_ID] = id,
			  [LABEL_VM_NAME] = late },
	};
	struct ledger_owner owner = { .waiting = phase < 2 };
	uint32_t container;

	(void)snprintf(id, sizeof(id), "unit-%u", number);
	if (phase >= 2) /* new each time, so that groups of that name need memory */
		(void)snprintf(late, sizeof(late), "named-%u", (unsigned)(interval / PHASES));
	owner.names = owner_names_intern(ledger_names(ledger), &names);
	container = owner.names ? ledger_container(ledger, &owner) : 0;
	owner_names_unref(owner.names);
	return container;
}

static void run_process(struct ledger *ledger, uint32_t i, uint64_t interval)
{
	uint32_t number = (uint32_t)(interval / 4 + i) % 20;
	uint32_t container = enter_container(ledger, number, interval), process;

	process = ledger_process(ledger, i + 1, interval / 4, "job", container);
	if (process == LEDGER_NONE)
		ledger_charge_container(ledger, container, COLUMN_CPU + 1, 70);
	else
		ledger_charge(ledger, process, COLUMN_CPU + 1, 70);
	ledger_node(ledger, 0, MODE_DYNAMIC, 70);
	if (process != LEDGER_NONE && interval % 4 == 3)
		ledger_end_process(ledger, process);
}

static void assert_adds_up(const struct snapshot *snapshot)
{
	for (size_t level = 0; level < LEVEL_COUNT; level++) {
		const struct snapshot_table *table = &snapshot->level[level];
		uint64_t sum = table->pending[COLUMN_CPU + 1];

		for (size_t i = 0; i < table->count; i++)
			sum += table->values[i * snapshot->columns + COLUMN_CPU + 1];
		for (size_t i = 0; i < table->retired_count; i++)
			sum += table->retired_values[i * snapshot->columns + COLUMN_CPU + 1];
		/* For want of memory an owner may go without its pod and VM. */
		if (level == LEVEL_POD || level == LEVEL_VM)
			assert_true(sum <= snapshot->zones[0].node_uj[MODE_DYNAMIC]);
		else
			assert_int_equal(sum, snapshot->zones[0].node_uj[MODE_DYNAMIC]);
	}
}

struct parts {
	struct ledger *ledger;
	struct snapshot_holder *holder;
	struct publisher *publisher;
};

static bool open_parts(struct parts *parts)
{
	const struct ledger_options book = { .max_processes = 1000, .max_containers = 100 };
	const struct publisher_options options = { 100, SECOND_NS, 3 * SECOND_NS, 400 };

	*parts = (struct parts){ 0 };
	return ledger_new(&book, &parts->ledger) == 0 && test_add_zones(parts->ledger, 1) == 0 &&
	       snapshot_holder_new(&parts->holder) == 0 &&
	       publisher_new(&options, parts->ledger, parts->holder, &parts->publisher) == 0;
}

/* True when every interval could be published: no allocation was left to fail. */
static bool live(struct parts *parts)
{
	const struct snapshot_zone zones[2] = { { .zone = { .source = "rapl-sysfs" } } };
	const struct snapshot_node node = { 0 };
	uint64_t published = 0;

	for (uint64_t i = 0; i < INTERVALS; i++) {
		const struct snapshot *snapshot;

		ledger_begin(parts->ledger, i * SECOND_NS);
		if (i == INTERVALS / 2)
			(void)test_add_zones(parts->ledger, 2);
		for (uint32_t p = 0; p < 70; p++)
			run_process(parts->ledger, p, i);
		if (publisher_publish(parts->publisher,
				      &(struct publication_time){ .monotonic_ns = i * SECOND_NS },
				      zones, &node) == 0)
			published++;
		snapshot = snapshot_get(parts->holder);
		if (snapshot)
			assert_adds_up(snapshot);
		snapshot_put(parts->holder, snapshot);
	}
	assert_true(published > 0);
	return published == INTERVALS;
}

/* Rows that ended while nothing could be published are found later: once kept they are gone. */
static void assert_ended_rows_go(struct parts *parts)
{
	const struct snapshot_zone zones[2] = { { .zone = { .source = "rapl-sysfs" } } };
	const struct snapshot_node node = { 0 };

	for (uint64_t i = INTERVALS; i < INTERVALS + 10; i++) {
		ledger_begin(parts->ledger, i * SECOND_NS);
		assert_int_equal(publisher_publish(parts->publisher,
						   &(struct publication_time){
							   .monotonic_ns = i * SECOND_NS },
						   zones, &node),
				 0);
	}
	for (uint32_t i = 0; i < ledger_slots(parts->ledger, LEVEL_PROCESS); i++) {
		const struct ledger_process *row = ledger_process_at(parts->ledger, i);

		assert_false(row->row.used && row->row.ended);
	}
}

/*
 * A row that had no memory for its groups' names is in its groups once it runs with memory, though
 * its name has not changed since the last interval.
 */
static void assert_owners_find_their_groups(struct parts *parts)
{
	ledger_begin(parts->ledger, INTERVALS * SECOND_NS);
	for (uint32_t number = 0; number < 20; number++) {
		uint32_t container = enter_container(parts->ledger, number, INTERVALS - 1);
		const struct ledger_container *row = ledger_container_at(parts->ledger, container);

		assert_int_not_equal(ledger_group_of(row, LEVEL_POD), 0);
		assert_int_not_equal(ledger_group_of(row, LEVEL_NAMESPACE), 0);
	}
}

static void close_parts(struct parts *parts)
{
	publisher_free(parts->publisher);
	snapshot_holder_free(parts->holder);
	ledger_free(parts->ledger);
}

static void fail_everywhere(unsigned int failures)
{
	bool failed = true;

	for (unsigned int n = 0; failed; n++) {
		struct parts parts;

		allocations = 0;
		fail_from = n;
		fail_until = n + failures;
		if (open_parts(&parts)) {
			(void)live(&parts);
			failed = allocations > fail_from; /* else all are done */
			fail_until = 0;
			assert_owners_find_their_groups(&parts);
			assert_ended_rows_go(&parts);
		}
		fail_from = fail_until = 0;
		close_parts(&parts);
	}
}

static void test_one_failure_at_each_moment(void **state)
{
	fail_everywhere(1);
}

static void test_some_failures_at_each_moment(void **state)
{
	fail_everywhere(7);
	fail_everywhere(40);
}

static int publish_at(struct parts *parts, uint64_t interval, uint32_t processes)
{
	const struct snapshot_zone zones[1] = { { .zone = { .source = "rapl-sysfs" } } };
	const struct snapshot_node node = { 0 };

	ledger_begin(parts->ledger, interval * SECOND_NS);
	for (uint32_t p = 0; p < processes; p++)
		run_process(parts->ledger, p, 5);
	return publisher_publish(parts->publisher,
				 &(struct publication_time){ interval * SECOND_NS,
							     (int64_t)interval, (int64_t)interval },
				 zones, &node);
}

static void assert_newborn_show_0(struct parts *parts)
{
	const struct snapshot *snapshot = snapshot_get(parts->holder);

	for (size_t level = 0; level < LEVEL_COUNT; level++) {
		const struct snapshot_table *table = &snapshot->level[level];

		for (size_t i = 0; i < table->count; i++) {
			if (table->rows[i].created_ms) /* the first snapshot, at 0, had it not */
				assert_int_equal(
					table->values[i * snapshot->columns + COLUMN_CPU + 1], 0);
		}
	}
	snapshot_put(parts->holder, snapshot);
}

/* No scrape saw a series that was born when no snapshot could be made: it settles from the next. */
static void test_unseen_births_settle(void **state)
{
	bool failed = true;

	for (unsigned int n = 0; failed; n++) {
		struct parts parts;

		assert_true(open_parts(&parts));
		assert_int_equal(publish_at(&parts, 0, 0), 0);
		fail_from = allocations + n;
		fail_until = UINT32_MAX;
		failed = publish_at(&parts, 1, 70) < 0;
		fail_from = fail_until = 0;
		if (failed) {
			assert_int_equal(publish_at(&parts, 2, 70), 0);
			assert_newborn_show_0(&parts);
		}
		close_parts(&parts);
	}
}

static uint64_t shown_of_pid_1(struct parts *parts)
{
	const struct snapshot *snapshot = snapshot_get(parts->holder);
	const struct snapshot_table *table = &snapshot->level[LEVEL_PROCESS];
	uint64_t shown = 0;

	for (size_t i = 0; i < table->count; i++) {
		if (table->rows[i].labels->pid == 1)
			shown = table->values[i * snapshot->columns + COLUMN_CPU + 1];
	}
	snapshot_put(parts->holder, snapshot);
	return shown;
}

/* A command that runs again in an interval without a snapshot, after its end, has not ended. */
static void test_what_lives_again_keeps_its_series(void **state)
{
	const struct snapshot_zone zones[1] = { { .zone = { .source = "rapl-sysfs" } } };
	const struct snapshot_node node = { 0 };
	bool failed = true;

	for (unsigned int n = 0; failed; n++) {
		struct parts parts;

		assert_true(open_parts(&parts));
		ledger_begin(parts.ledger, 0);
		run_process(parts.ledger, 0, 5);
		run_process(parts.ledger, 0, 7); /* ends it */
		assert_int_equal(publisher_publish(parts.publisher, &(struct publication_time){ 0 },
						   zones, &node),
				 0);
		assert_int_equal(shown_of_pid_1(&parts), 140);
		fail_from = allocations + n;
		fail_until = UINT32_MAX;
		failed = publish_at(&parts, 2, 70) < 0;
		fail_from = fail_until = 0;
		assert_int_equal(publish_at(&parts, 4, 0), 0);
		assert_true(shown_of_pid_1(&parts) >= 140);
		close_parts(&parts);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_failure_at_each_moment),
		cmocka_unit_test(test_some_failures_at_each_moment),
		cmocka_unit_test(test_unseen_births_settle),
		cmocka_unit_test(test_what_lives_again_keeps_its_series),
	};

	return unit_run(tests);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * The memory that a process costs: the ledger, the publisher and its snapshots, with 10,000
 * processes that have series. Linked with --wrap, so that all requests for memory of our libraries
 * are counted. A budget is raised in the commit that needs it, which says why; docs/TESTING.md has
 * the figures.
 */
#include <malloc.h>

#include "snapshot/publisher.h"
#include "tests/rig/test_owner.h"
#include "tests/unit/unit.h"

#define SECOND_NS        1000000000ULL
#define ZONES            3
#define MANY_ZONES       41 /* 8 sockets of 5, and the platform */

#define BUDGET_PROCESS   1150
#define BUDGET_CONTAINER 2800

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
void __wrap_free(void *memory);

static size_t bytes; /* in use */

static void *count(void *memory)
{
	bytes += malloc_usable_size(memory);
	return memory;
}

void *__wrap_malloc(size_t size)
{
	return count(__real_malloc(size));
}

void *__wrap_calloc(size_t number, size_t size)
{
	return count(__real_calloc(number, size));
}

void *__wrap_reallocarray(void *old, size_t number, size_t size)
{
	bytes -= malloc_usable_size(old);
	return count(__real_reallocarray(old, number, size));
}

void __wrap_free(void *memory)
{
	bytes -= malloc_usable_size(memory);
	__real_free(memory);
}

struct parts {
	struct ledger *ledger;
	struct snapshot_holder *holder;
	struct publisher *publisher;
};

static void add_zones(struct ledger *ledger, uint32_t count)
{
	static struct zone zones[MANY_ZONES];

	assert_int_equal(ledger_bear_idle(ledger), 0);
	for (uint32_t z = 0; z < count; z++) {
		zones[z] = (struct zone){ .kind = (enum zone_kind)(z % ZONE_PLATFORM),
					  .source = "test" };
		if (z == MANY_ZONES - 1)
			zones[z].kind = ZONE_PLATFORM;
		assert_int_equal(ledger_add_zone(ledger, &zones[z]), 0);
	}
}

static void open_parts(struct parts *parts, uint32_t zones)
{
	const struct ledger_options book = { .max_processes = 40000, .max_containers = 1000 };
	const struct publisher_options options = { .max_rows = 40000, .keep_ns = 300 * SECOND_NS };

	assert_int_equal(ledger_new(&book, &parts->ledger), 0);
	add_zones(parts->ledger, zones);
	assert_int_equal(snapshot_holder_new(&parts->holder), 0);
	assert_int_equal(publisher_new(&options, parts->ledger, parts->holder, &parts->publisher),
			 0);
}

/* All of them run in each interval: the dearest case. Ten to a container. */
static void run_interval(struct parts *parts, uint64_t now_ns, uint32_t processes, uint32_t each)
{
	static const struct snapshot_zone zones[MANY_ZONES];
	static const struct snapshot_node node;
	uint32_t container = 0;

	ledger_begin(parts->ledger, now_ns);
	for (uint32_t i = 0; i < processes; i++) {
		char id[80];
		const struct test_owner owner = {
			.names.text = { [LABEL_CONTAINER_ID] = id,
					[LABEL_CONTAINER_NAME] = id + 44,
					[LABEL_NAMESPACE] = "default",
					[LABEL_POD_NAME] = id + 32,
					[LABEL_POD_ID] = id + 28 },
		};
		uint32_t process;

		if (i % each == 0) {
			(void)snprintf(id, sizeof(id), "%064u", i / each);
			container = enter_owner(parts->ledger, &owner);
		}
		process = ledger_process(parts->ledger, i + 1, 1, "process", container);
		assert_int_not_equal(process, LEDGER_NONE);
		for (uint32_t column = 0; column < ledger_columns(parts->ledger); column++)
			ledger_charge(parts->ledger, process, column, 1000000);
	}
	assert_int_equal(publisher_publish(parts->publisher,
					   &(struct publication_time){ .monotonic_ns = now_ns },
					   zones, &node),
			 0);
}

/* Bytes with so many processes, @each to a container. */
static size_t bytes_with(uint32_t zones, uint32_t processes, uint32_t each)
{
	struct parts parts;
	size_t before = bytes, used;

	open_parts(&parts, zones);
	for (uint64_t i = 1; i <= 4; i++)
		run_interval(&parts, i * SECOND_NS, processes, each);
	used = bytes - before;
	publisher_free(parts.publisher);
	snapshot_holder_free(parts.holder);
	ledger_free(parts.ledger);
	assert_int_equal(bytes, before);
	return used;
}

static size_t bytes_of(uint32_t processes, uint32_t each)
{
	return bytes_with(ZONES, processes, each);
}

static void is_within(const char *what, size_t got, size_t budget)
{
	print_message("# %s: %zu bytes, budget %zu\n", what, got, budget);
	assert_in_range(got, budget / 2, budget); /* less than half: lower the budget */
}

static void test_what_10000_processes_cost(void **state)
{
	is_within("a process of 10,000, 3 zones, 10 to a container", bytes_of(10000, 10) / 10000,
		  BUDGET_PROCESS);
}

/* Rows have one sum a kind, whatever the number of sockets; both with idle energy on rows. */
static void test_what_10000_processes_cost_on_eight_sockets(void **state)
{
	size_t few = bytes_of(10000, 10);

	is_within("10,000 processes, 41 zones", bytes_with(MANY_ZONES, 10000, 10), few * 3 / 2);
}

static void test_what_a_container_costs(void **state)
{
	is_within("a container of 900 with a process each, beyond its process",
		  (bytes_of(900, 1) - bytes_of(900, 900)) / 899, BUDGET_CONTAINER);
}

static void test_structs(void **state)
{
	is_within("struct ledger_process", sizeof(struct ledger_process), 48);
	is_within("struct ledger_container", sizeof(struct ledger_container), 80);
	is_within("struct series_labels", sizeof(struct series_labels), 48);
	is_within("struct snapshot_row", sizeof(struct snapshot_row), 24);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_10000_processes_cost),
		cmocka_unit_test(test_what_10000_processes_cost_on_eight_sockets),
		cmocka_unit_test(test_what_a_container_costs),
		cmocka_unit_test(test_structs),
	};

	return unit_run(tests);
}

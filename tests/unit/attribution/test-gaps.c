// SPDX-License-Identifier: Apache-2.0
#include "attribution/gaps.h"

#include "base/num.h"
#include "tests/rig/test_owner.h"
#include "tests/rig/test_zones.h"
#include "tests/unit/unit.h"

#define BEGAN_NS (5 * NSEC_PER_SEC)

static const struct zone_activity nothing = { 0 };

struct book {
	struct ledger *ledger;
	struct parties parties;
	struct gaps gaps;
	uint32_t gap;
	uint64_t now_ns;
};

static void open_book(struct book *book)
{
	const struct ledger_options options = {
		.max_processes = 64,
		.max_containers = 16,
	};

	*book = (struct book){ .now_ns = BEGAN_NS };
	assert_int_equal(ledger_new(&options, &book->ledger), 0);
	assert_int_equal(test_add_zones(book->ledger, 1), 0);
	book->gap = gaps_enter(&book->gaps, BEGAN_NS, PLACE_NONE, SHARE_CPU_TIME);
	assert_in_range(book->gap, 0, GAPS_MAX - 1);
}

static void close_book(struct book *book)
{
	gaps_leave(&book->gaps, book->gap);
	assert_int_equal(book->gaps.used, 0);
	gaps_release(&book->gaps);
	parties_release(&book->parties);
	ledger_free(book->ledger);
}

static uint32_t container(struct book *book, const char *id)
{
	const struct test_owner owner = {
		.names.text = { [LABEL_CONTAINER_ID] = id, [LABEL_CONTAINER_NAME] = id }
	};

	return enter_owner(book->ledger, &owner);
}

static void begin(struct book *book)
{
	book->now_ns += NSEC_PER_SEC;
	ledger_begin(book->ledger, book->now_ns);
	parties_begin(&book->parties, 0);
	assert_int_equal(parties_reserve(&book->parties, 8), 0);
}

/* pid 0: known by its cgroup only */
static uint32_t run(struct book *book, uint32_t pid, const char *id, uint64_t cpu_ns)
{
	uint32_t owner = container(book, id);
	uint32_t row = ledger_process(book->ledger, pid, 1, "work", owner);

	parties_add(&book->parties, row, owner, cpu_ns, NULL);
	book->parties.idle_weight[book->parties.count - 1] = 2 * cpu_ns;
	return row;
}

static void end(struct book *book, uint64_t dropped, uint64_t unseen)
{
	const struct attribution_input work = {
		.count = book->parties.count,
		.dynamic_weights = book->parties.cpu_ns,
		.idle_weights = book->parties.idle_weight,
		.dropped_weight = dropped,
		.unseen_weight = unseen,
	};

	gap_collect(&book->gaps.gap[book->gap], book->ledger, book->parties.party, &work, &nothing);
}

/* So many cycles a ns. */
static void end_by_cycles(struct book *book, uint64_t cycles)
{
	uint64_t weights[8];
	const struct attribution_input work = {
		.rule = SHARE_CYCLES,
		.count = book->parties.count,
		.dynamic_weights = weights,
		.time_weights = book->parties.cpu_ns,
		.idle_weights = book->parties.idle_weight,
	};

	for (size_t i = 0; i < work.count; i++)
		weights[i] = book->parties.cpu_ns[i] * cycles;
	gap_collect(&book->gaps.gap[book->gap], book->ledger, book->parties.party, &work, &nothing);
}

/* Weights of the whole gap: of the process at @row, or with LEDGER_NONE of the container alone. */
static uint64_t collected(struct book *book, uint32_t row, const char *id, uint64_t *ret_dropped)
{
	uint32_t owner = container(book, id);
	struct parties parties = { 0 };
	struct gap_nameless nameless;
	uint64_t sum = 0;

	assert_int_equal(gap_parties(&book->gaps.gap[book->gap], book->ledger, &parties, &nameless),
			 0);
	*ret_dropped = nameless.dropped;
	for (size_t i = 0; i < parties.count; i++) {
		if (gap_rule(&book->gaps.gap[book->gap]) == SHARE_CPU_TIME)
			assert_int_equal(parties.idle_weight[i], 2 * parties.cpu_ns[i]);
		if (parties.party[i].process == row && parties.party[i].container == owner)
			sum += parties.cpu_ns[i];
	}
	parties_release(&parties);
	return sum;
}

static void each_turn_counts(void **state)
{
	struct book book;
	uint32_t first, second;
	uint64_t dropped;

	open_book(&book);
	for (unsigned turn = 0; turn < 3; turn++) {
		begin(&book);
		first = run(&book, 10, "a", 7);
		end(&book, 1, 2);
		begin(&book);
		second = run(&book, 20, "b", 5);
		(void)run(&book, 0, "b", 3);
		end(&book, 0, 0);
	}
	assert_int_equal(collected(&book, first, "a", &dropped), 21);
	assert_int_equal(collected(&book, second, "b", &dropped), 15);
	assert_int_equal(collected(&book, LEDGER_NONE, "b", &dropped), 9);
	assert_int_equal(dropped, 3);
	assert_int_equal(book.gaps.gap[book.gap].unseen, 6);
	close_book(&book);
}

/* An ended row that is kept still gets what is its own; of a released one its container does. */
static void what_ended_is_not_lost(void **state)
{
	struct book book;
	uint32_t row, other;
	uint64_t dropped;

	open_book(&book);
	begin(&book);
	row = run(&book, 10, "a", 7);
	end(&book, 0, 0);
	ledger_end_process(book.ledger, row);
	assert_int_equal(collected(&book, row, "a", &dropped), 7);
	ledger_release(book.ledger, LEVEL_PROCESS, row);
	assert_int_equal(collected(&book, LEDGER_NONE, "a", &dropped), 7);

	begin(&book);
	other = run(&book, 11, "b", 5); /* has the row now */
	assert_int_equal(other, row);
	end(&book, 0, 0);
	assert_int_equal(collected(&book, LEDGER_NONE, "a", &dropped), 7);
	assert_int_equal(collected(&book, other, "b", &dropped), 5);
	assert_int_equal(dropped, 0);
	close_book(&book);
}

/* Their units differ: 1 for each that lives, or what it ran. */
static void idle_weights_are_of_one_policy(void **state)
{
	struct book book;
	struct attribution_input work = { .idle_share = IDLE_SHARE_USAGE };
	struct parties parties = { 0 };
	struct gap_nameless nameless;

	open_book(&book);
	begin(&book);
	(void)run(&book, 10, "a", 7);
	(void)run(&book, 0, "b", 2);
	end(&book, 0, 0);
	begin(&book);
	(void)run(&book, 10, "a", 5);
	(void)run(&book, 0, "b", 3);
	work.count = book.parties.count;
	work.dynamic_weights = book.parties.cpu_ns;
	work.idle_weights = book.parties.idle_weight;
	gap_collect(&book.gaps.gap[book.gap], book.ledger, book.parties.party, &work, &nothing);
	assert_int_equal(gap_parties(&book.gaps.gap[book.gap], book.ledger, &parties, &nameless),
			 0);
	assert_int_equal(parties.cpu_ns[0], 12);
	assert_int_equal(parties.idle_weight[0], 10);
	assert_int_equal(parties.cpu_ns[1], 5);
	assert_int_equal(parties.idle_weight[1], 6);
	parties_release(&parties);
	close_book(&book);
}

static void what_has_no_owner_is_nameless(void **state)
{
	struct book book;
	uint32_t row, owner;
	uint64_t dropped;

	open_book(&book);
	begin(&book);
	row = run(&book, 10, "a", 7);
	(void)run(&book, 0, "a", 4);
	end(&book, 0, 0);
	owner = container(&book, "a");
	ledger_end_process(book.ledger, row);
	ledger_release(book.ledger, LEVEL_PROCESS, row);
	ledger_release(book.ledger, LEVEL_CONTAINER, owner);
	begin(&book);
	(void)run(&book, 11, "b", 5);
	assert_int_equal(container(&book, "b"), owner); /* has the row now */
	end(&book, 0, 0);
	assert_int_equal(collected(&book, LEDGER_NONE, "b", &dropped), 0);
	assert_int_equal(dropped, 11);
	close_book(&book);
}

/*
 * A process that has lost its row is nameless in CPU time, too, by which a gap of two rules is
 * split.
 */
static void a_gap_of_two_rules_is_of_time(void **state)
{
	struct book book;
	uint32_t row, owner;
	uint64_t dropped;
	struct gap *gap;

	open_book(&book);
	gap = &book.gaps.gap[book.gap];
	gap->rule = SHARE_CYCLES;
	begin(&book);
	row = run(&book, 10, "a", 7);
	end_by_cycles(&book, 1000);
	assert_int_equal(gap_rule(gap), SHARE_CYCLES);
	assert_int_equal(collected(&book, row, "a", &dropped), 7000);
	owner = container(&book, "a");
	ledger_end_process(book.ledger, row);
	ledger_release(book.ledger, LEVEL_PROCESS, row);
	ledger_release(book.ledger, LEVEL_CONTAINER, owner);
	begin(&book);
	row = run(&book, 11, "b", 5);
	end(&book, 0, 0);
	assert_int_equal(gap_rule(gap), SHARE_CPU_TIME);
	assert_int_equal(collected(&book, row, "b", &dropped), 5);
	assert_int_equal(dropped, 7);
	close_book(&book);
}

static void gaps_are_shared_and_bounded(void **state)
{
	struct gaps gaps = { 0 };
	uint32_t first = gaps_enter(&gaps, 1, PLACE_NONE, SHARE_CPU_TIME);

	assert_int_equal(gaps_enter(&gaps, 1, PLACE_NONE, SHARE_CPU_TIME), first);
	assert_int_not_equal(gaps_enter(&gaps, 1, 0, SHARE_CPU_TIME), first);
	assert_int_not_equal(gaps_enter(&gaps, 2, PLACE_NONE, SHARE_CPU_TIME), first);
	assert_int_not_equal(gaps_enter(&gaps, 1, PLACE_NONE, SHARE_CYCLES), first);
	for (uint32_t i = 4; i < GAPS_MAX; i++)
		assert_in_range(gaps_enter(&gaps, i, PLACE_NONE, SHARE_CPU_TIME), 0, GAPS_MAX - 1);
	assert_int_equal(gaps_enter(&gaps, GAPS_MAX, PLACE_NONE, SHARE_CPU_TIME), GAP_LOST);
	assert_int_equal(gaps.used, GAPS_MAX);
	gaps_leave(&gaps, GAP_NONE);
	gaps_leave(&gaps, GAP_LOST);
	gaps_leave(&gaps, first);
	assert_int_equal(gaps_enter(&gaps, GAPS_MAX, PLACE_NONE, SHARE_CPU_TIME), GAP_LOST);
	gaps_leave(&gaps, first);
	assert_int_equal(gaps_enter(&gaps, GAPS_MAX, PLACE_NONE, SHARE_CPU_TIME), first);
	gaps_release(&gaps);
}

static void without_memory_nothing_is_known(void **state)
{
	struct book book;
	struct gap_nameless nameless;
	struct parties parties = { 0 };

	open_book(&book);
	book.gaps.gap[book.gap].incomplete = true;
	begin(&book);
	(void)run(&book, 10, "a", 7);
	end(&book, 0, 0);
	assert_int_equal(gap_parties(&book.gaps.gap[book.gap], book.ledger, &parties, &nameless),
			 -ENOMEM);
	assert_int_equal(parties.count, 0);
	close_book(&book);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_turn_counts),
		cmocka_unit_test(what_ended_is_not_lost),
		cmocka_unit_test(idle_weights_are_of_one_policy),
		cmocka_unit_test(what_has_no_owner_is_nameless),
		cmocka_unit_test(a_gap_of_two_rules_is_of_time),
		cmocka_unit_test(gaps_are_shared_and_bounded),
		cmocka_unit_test(without_memory_nothing_is_known),
	};

	return unit_run(tests);
}

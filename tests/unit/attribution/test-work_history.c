// SPDX-License-Identifier: Apache-2.0
#include "attribution/work_history.h"

#include "base/num.h"
#include "tests/rig/test_owner.h"
#include "tests/rig/test_zones.h"
#include "tests/unit/unit.h"

#define REACH_NS (30 * NSEC_PER_SEC)

struct past {
	struct ledger *ledger;
	struct parties parties;
	struct work_histories histories;
	uint64_t now_ns;
};

static void open_past(struct past *past)
{
	const struct ledger_options options = {
		.max_processes = 64,
		.max_containers = 16,
	};

	*past = (struct past){ .now_ns = 100 * NSEC_PER_SEC };
	assert_int_equal(ledger_new(&options, &past->ledger), 0);
	assert_int_equal(test_add_zones(past->ledger, 1), 0);
	work_histories_want(&past->histories, PLACE_NONE, SHARE_CPU_TIME, REACH_NS, past->now_ns);
}

static void close_past(struct past *past)
{
	work_histories_release(&past->histories);
	parties_release(&past->parties);
	ledger_free(past->ledger);
}

static struct work_history *history(const struct past *past)
{
	return work_histories_find(&past->histories, PLACE_NONE, SHARE_CPU_TIME);
}

static uint32_t container(struct past *past, const char *id)
{
	const struct test_owner owner = {
		.names.text = { [LABEL_CONTAINER_ID] = id, [LABEL_CONTAINER_NAME] = id }
	};

	return enter_owner(past->ledger, &owner);
}

/* An interval of a second in which process @pid of container @id ran for @cpu_ns. */
static uint32_t second(struct past *past, uint32_t pid, const char *id, uint64_t cpu_ns)
{
	const struct zone_activity activity = { .dt_ns = NSEC_PER_SEC, .utilisation = 0.25 };
	struct attribution_input work = { .dropped_weight = 100, .unseen_weight = 10 };
	uint32_t owner, row;

	past->now_ns += NSEC_PER_SEC;
	ledger_begin(past->ledger, past->now_ns);
	owner = container(past, id);
	row = ledger_process(past->ledger, pid, 1, "work", owner);
	parties_begin(&past->parties, 0);
	assert_int_equal(parties_reserve(&past->parties, 1), 0);
	parties_add(&past->parties, row, owner, cpu_ns, NULL);
	past->parties.idle_weight[0] = 2 * cpu_ns;
	work.count = past->parties.count;
	work.dynamic_weights = past->parties.cpu_ns;
	work.idle_weights = past->parties.idle_weight;
	work_history_add(history(past), past->ledger, past->parties.party, &work, &activity,
			 past->now_ns);
	ledger_close(past->ledger);
	return row;
}

/* The work of @row in the time that began and ended so many ms ago; LEDGER_NONE: containers. */
static uint64_t had(struct past *past, uint32_t row, uint64_t from_ms, uint64_t to_ms,
		    struct gap *ret)
{
	uint64_t from_ns = past->now_ns - from_ms * NSEC_PER_MSEC;
	uint64_t to_ns = past->now_ns - to_ms * NSEC_PER_MSEC;
	struct parties parties = { 0 };
	struct gap_nameless nameless;
	struct gap gap = { 0 };
	uint64_t sum = 0;

	assert_true(work_history_covers(history(past), from_ns, to_ns));
	work_history_collect(history(past), past->ledger, from_ns, to_ns, IDLE_SHARE_NODE, &gap);
	assert_int_equal(gap_parties(&gap, past->ledger, &parties, &nameless), 0);
	for (size_t i = 0; i < parties.count; i++) {
		assert_int_equal(parties.idle_weight[i], 2 * parties.cpu_ns[i]);
		if (parties.party[i].process == row)
			sum += parties.cpu_ns[i];
	}
	parties_release(&parties);
	if (ret)
		*ret = (struct gap){ .dropped = nameless.dropped,
				     .unseen = gap.unseen,
				     .activity = gap.activity };
	gap_release(&gap);
	return sum;
}

static void each_time_has_its_own_work(void **state)
{
	struct past past;
	struct gap gap;
	uint32_t first = 0, then = 0;

	open_past(&past);
	for (unsigned i = 0; i < 5; i++)
		first = second(&past, 10, "a", 1000);
	for (unsigned i = 0; i < 5; i++)
		then = second(&past, 20, "b", 600);
	assert_int_equal(had(&past, first, 10000, 5000, &gap), 5000);
	assert_int_equal(gap.dropped, 500);
	assert_int_equal(gap.unseen, 50);
	assert_int_equal(gap.activity.dt_ns, 5 * NSEC_PER_SEC);
	assert_float_equal(gap.activity.utilisation, 0.25, 1e-9);
	assert_int_equal(had(&past, then, 10000, 5000, NULL), 0);
	assert_int_equal(had(&past, first, 5000, 0, NULL), 0);
	assert_int_equal(had(&past, then, 5000, 0, NULL), 3000);
	assert_int_equal(had(&past, first, 5500, 4750, &gap), 500); /* half of its last second, */
	assert_int_equal(had(&past, then, 5500, 4750, NULL), 150);  /* a quarter of its first */
	assert_int_equal(gap.dropped, 75);
	assert_int_equal(gap.activity.dt_ns, 750 * NSEC_PER_MSEC);
	close_past(&past);
}

static void it_goes_back_as_far_as_it_is_wanted(void **state)
{
	struct past past;

	open_past(&past);
	for (unsigned i = 0; i < 100; i++)
		(void)second(&past, 10, "a", 1000);
	assert_true(work_history_covers(history(&past), past.now_ns - REACH_NS, past.now_ns));
	assert_false(work_history_covers(history(&past), past.now_ns - 2 * REACH_NS, past.now_ns));
	assert_false(work_history_covers(history(&past), past.now_ns, past.now_ns + 1));
	assert_in_range(history(&past)->count, 30, 32);
	assert_int_equal(history(&past)->entries, history(&past)->count);
	close_past(&past);
}

/* A mean of an hour: slices are of some intervals together, and nothing of them is lost. */
static void a_long_one_has_long_slices(void **state)
{
	struct past past;
	uint32_t row = 0;

	open_past(&past);
	work_histories_want(&past.histories, PLACE_NONE, SHARE_CPU_TIME, 320 * NSEC_PER_SEC,
			    past.now_ns);
	for (unsigned i = 0; i < 400; i++)
		row = second(&past, 10, "a", 1000);
	assert_in_range(history(&past)->count, 32, 34);
	assert_int_equal(had(&past, row, 320000, 0, NULL), 320000);
	close_past(&past);
}

static void what_has_ended_is_its_containers(void **state)
{
	struct past past;
	uint32_t row, other = 0;

	open_past(&past);
	row = second(&past, 10, "a", 1000);
	ledger_begin(past.ledger, past.now_ns);
	ledger_end_process(past.ledger, row);
	ledger_close(past.ledger);
	ledger_release(past.ledger, LEVEL_PROCESS, row);
	for (unsigned i = 0; i < 3; i++)
		other = second(&past, 20, "a", 100); /* takes the row over */
	assert_int_equal(other, row);
	assert_int_equal(had(&past, row, 4000, 3000, NULL), 0);
	assert_int_equal(had(&past, LEDGER_NONE, 4000, 3000, NULL), 1000);
	assert_int_equal(had(&past, LEDGER_NONE, 3000, 0, NULL), 0);
	close_past(&past);
}

static void what_no_meter_needs_is_forgotten(void **state)
{
	struct past past;

	open_past(&past);
	for (unsigned i = 0; i < 10 * 30; i++)
		(void)second(&past, 10, "a", 1000);
	assert_non_null(history(&past));
	(void)second(&past, 10, "a", 1000);
	assert_null(history(&past));
	assert_int_equal(past.histories.history[0].entries, 0);
	close_past(&past);
}

static void places_are_limited(void **state)
{
	struct past past;

	open_past(&past);
	for (uint32_t place = 0; place < HISTORIES_MAX; place++)
		work_histories_want(&past.histories, place, SHARE_CPU_TIME, NSEC_PER_SEC,
				    past.now_ns);
	assert_non_null(work_histories_find(&past.histories, HISTORIES_MAX - 2, SHARE_CPU_TIME));
	assert_null(work_histories_find(&past.histories, HISTORIES_MAX - 1, SHARE_CPU_TIME));
	close_past(&past);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_time_has_its_own_work),
		cmocka_unit_test(it_goes_back_as_far_as_it_is_wanted),
		cmocka_unit_test(a_long_one_has_long_slices),
		cmocka_unit_test(what_has_ended_is_its_containers),
		cmocka_unit_test(what_no_meter_needs_is_forgotten),
		cmocka_unit_test(places_are_limited),
	};

	return unit_run(tests);
}

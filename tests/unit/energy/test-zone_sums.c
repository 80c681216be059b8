// SPDX-License-Identifier: Apache-2.0
#include "energy/zone_sums.h"

#include "base/num.h"
#include "tests/unit/unit.h"

enum { PACKAGE, CORE, UNCORE, OTHER_CORE, DRAM, ZONES };

static const struct zone zones[ZONES] = {
	[PACKAGE] = { .kind = ZONE_PACKAGE, .instance = "0", .source = "rapl-sysfs" },
	[CORE] = { .kind = ZONE_CORE, .instance = "0", .source = "rapl-sysfs" },
	[UNCORE] = { .kind = ZONE_UNCORE, .instance = "0", .source = "rapl-sysfs" },
	[OTHER_CORE] = { .kind = ZONE_CORE, .instance = "1", .source = "rapl-sysfs" },
	[DRAM] = { .kind = ZONE_DRAM, .instance = "0", .source = "rapl-sysfs" },
};

struct machine {
	struct zone_sums sums;
	struct zone_status status[ZONES];
	bool restarted[ZONES]; /* what flowed is not known */
	uint64_t now_ns;
};

/* So many seconds later, at so many watts; what else is known of them stays. */
static size_t later(struct machine *machine, size_t count, uint64_t seconds,
		    const uint64_t watts[static ZONES])
{
	const struct zone *known[ZONES];
	const struct zone_status *status[ZONES];
	struct energy_span spans[ZONES];
	const struct zone_sums_input input = {
		.count = count,
		.zones = known,
		.status = status,
		.spans = spans,
		.span_count = ZONES,
		.now_ns = machine->now_ns + seconds * NSEC_PER_SEC,
	};

	for (size_t z = 0; z < ZONES; z++) {
		spans[z] = (struct energy_span){
			.zone = (uint32_t)z,
			.known = !machine->restarted[z],
			.from_ns = machine->now_ns,
			.to_ns = input.now_ns,
			.energy_uj = machine->restarted[z] ? 0 : watts[z] * seconds * 1000000,
		};
		known[z] = &zones[z];
		status[z] = &machine->status[z];
	}
	machine->now_ns = input.now_ns;
	return zone_sums_add(&machine->sums, &input);
}

static const uint64_t plausible[ZONES] = { 50, 30, 20, 500, 500 };
static const uint64_t absurd[ZONES] = { 50, 32, 20, 0, 0 };

static void test_parts_may_be_all_of_a_package(void **state)
{
	struct machine machine = { .now_ns = 1 };

	for (int second = 0; second < 200; second++)
		assert_int_equal(later(&machine, ZONES, 1, plausible), 0);
	for (int hour = 0; hour < 3; hour++)
		assert_int_equal(later(&machine, ZONES, 3600, plausible), 0);
}

static void test_more_in_parts_shows_after_a_minute_and_ends_with_one(void **state)
{
	struct machine machine = { .now_ns = 1 };

	(void)later(&machine, ZONES, 1, absurd);
	for (int second = 1; second < 60; second++)
		assert_int_equal(later(&machine, ZONES, 1, absurd), 0);
	assert_int_equal(later(&machine, ZONES, 1, absurd), 1);
	assert_true(machine.sums.exceeded[PACKAGE] && !machine.sums.exceeded[CORE]);
	for (int second = 1; second < 60; second++)
		assert_int_equal(later(&machine, ZONES, 1, plausible), 1);
	assert_int_equal(later(&machine, ZONES, 1, plausible), 0);
}

static void test_what_was_not_read_all_the_time_is_not_judged(void **state)
{
	struct machine machine = { .now_ns = 1 };

	(void)later(&machine, ZONES, 1, absurd);
	machine.restarted[PACKAGE] = true;
	(void)later(&machine, ZONES, 30, absurd);
	machine.restarted[PACKAGE] = false;
	assert_int_equal(later(&machine, ZONES, 30, absurd), 0);
	machine.status[UNCORE].state = ZONE_ABSENT;
	(void)later(&machine, ZONES, 30, absurd);
	machine.status[UNCORE].state = ZONE_UP;
	assert_int_equal(later(&machine, ZONES, 30, absurd), 0);
	assert_int_equal(later(&machine, ZONES, 60, absurd), 1);
}

static void test_a_zone_that_appears_begins_a_minute(void **state)
{
	struct machine machine = { .now_ns = 1 };

	(void)later(&machine, UNCORE, 1, absurd);
	(void)later(&machine, UNCORE, 59, absurd);
	assert_int_equal(later(&machine, ZONES, 1, absurd), 0);
	assert_int_equal(later(&machine, ZONES, 59, absurd), 0);
	assert_int_equal(later(&machine, ZONES, 1, absurd), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts_may_be_all_of_a_package),
		cmocka_unit_test(test_more_in_parts_shows_after_a_minute_and_ends_with_one),
		cmocka_unit_test(test_what_was_not_read_all_the_time_is_not_judged),
		cmocka_unit_test(test_a_zone_that_appears_begins_a_minute),
	};

	return unit_run(tests);
}

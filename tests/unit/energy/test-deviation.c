// SPDX-License-Identifier: Apache-2.0
#include "energy/deviation.h"

#include "base/num.h"
#include "tests/unit/unit.h"

/* A sensor of socket 0 next to a counter of each, and one of both together. */
enum { CHARGED_0, CHARGED_1, SENSOR_0, ALL, ESTIMATE, ZONES };

static const struct zone zones[ZONES] = {
	[CHARGED_0] = { .kind = ZONE_PACKAGE, .instance = "0", .source = "rapl" },
	[CHARGED_1] = { .kind = ZONE_PACKAGE, .instance = "1", .source = "rapl" },
	[SENSOR_0] = { .kind = ZONE_PACKAGE, .instance = "0", .source = "sensor" },
	[ALL] = { .kind = ZONE_PACKAGE, .instance = "", .source = "board" },
	[ESTIMATE] = { .kind = ZONE_PLATFORM,
		       .instance = "",
		       .source = "model",
		       .quality = QUALITY_ESTIMATED },
};

struct machine {
	struct deviations deviations;
	struct contender contenders[ZONES];
	bool is_unknown[ZONES], is_quiet[ZONES];
	uint64_t read_ns[ZONES]; /* 0: never */
	uint64_t now_ns;
};

static void set_up(struct machine *machine)
{
	*machine = (struct machine){ .now_ns = 5 };
	for (size_t z = 0; z < ZONES; z++)
		machine->contenders[z] = (struct contender){
			.zone = &zones[z],
			.standing = z <= CHARGED_1 ? STANDING_COUNTS : STANDING_ENDED,
		};
}

static void later(struct machine *machine, uint64_t seconds, const uint64_t watts[static ZONES])
{
	struct energy_span spans[ZONES];
	size_t count = 0;

	machine->now_ns += seconds * NSEC_PER_SEC;
	for (size_t z = 0; z < ZONES; z++) {
		uint64_t from_ns = machine->read_ns[z];
		bool known = from_ns && !machine->is_unknown[z];

		if (machine->is_quiet[z])
			continue;
		machine->read_ns[z] = machine->now_ns;
		spans[count++] = (struct energy_span){
			.zone = (uint32_t)z,
			.known = known,
			.from_ns = from_ns,
			.to_ns = machine->now_ns,
			.energy_uj = known ? watts[z] * (machine->now_ns - from_ns) / 1000 : 0,
		};
	}
	deviations_add(&machine->deviations, machine->contenders, ZONES, spans, count,
		       machine->now_ns);
}

static double ratio(const struct machine *machine, size_t z)
{
	return deviations_ratio(&machine->deviations, z);
}

static const uint64_t usual[ZONES] = { 50, 30, 55, 72, 400 };

static void rivals_are_compared(void **state)
{
	struct machine machine;

	set_up(&machine);
	later(&machine, 1, usual);
	later(&machine, 1, usual);
	later(&machine, 1, usual);
	assert_true(isnan(ratio(&machine, SENSOR_0)));
	later(&machine, 1, usual);
	assert_float_equal(ratio(&machine, SENSOR_0), 0.1, 1e-9);
	assert_float_equal(ratio(&machine, ALL), -0.1, 1e-9); /* 72 of 80 W */
	assert_true(isnan(ratio(&machine, CHARGED_0)) && isnan(ratio(&machine, ESTIMATE)));
	assert_true(isnan(ratio(&machine, ZONES)));
}

/* From the second minute on only whole ones are judged. */
static void a_minute_is_judged_at_its_end(void **state)
{
	static const uint64_t other[ZONES] = { 50, 30, 40, 80, 400 };
	struct machine machine;

	set_up(&machine);
	for (int second = 0; second <= 60; second++)
		later(&machine, 1, usual);
	for (int second = 0; second < 59; second++)
		later(&machine, 1, other);
	assert_float_equal(ratio(&machine, SENSOR_0), 0.1, 1e-9);
	later(&machine, 1, other);
	assert_float_equal(ratio(&machine, SENSOR_0), -0.2, 1e-9);
	assert_float_equal(ratio(&machine, ALL), 0, 1e-9);
}

/* Each at times of its own: the lengths of its spans count. */
static void a_slow_source_is_compared_by_its_power(void **state)
{
	struct machine machine;

	set_up(&machine);
	for (int second = 0; second <= 60; second++) {
		machine.is_quiet[SENSOR_0] = second % 7 != 0;
		later(&machine, 1, usual);
	}
	assert_float_equal(ratio(&machine, SENSOR_0), 0.1, 1e-9);
}

static void what_is_not_known_is_not_judged(void **state)
{
	struct machine machine;

	set_up(&machine);
	later(&machine, 1, usual);
	machine.is_unknown[CHARGED_1] = true;
	later(&machine, 1, usual);
	machine.is_unknown[CHARGED_1] = false;
	machine.is_quiet[SENSOR_0] = true;
	later(&machine, 50, usual);
	assert_true(isnan(ratio(&machine, SENSOR_0)) && isnan(ratio(&machine, ALL)));
	machine.is_quiet[SENSOR_0] = false;
	for (int second = 0; second < 70; second++)
		later(&machine, 1, usual);
	assert_float_equal(ratio(&machine, SENSOR_0), 0.1, 1e-9);
}

/* One socket's sensor says nothing of a counter of both. */
static void a_part_is_not_compared_with_the_whole(void **state)
{
	struct machine machine;

	set_up(&machine);
	machine.contenders[CHARGED_0].standing = STANDING_ENDED;
	machine.contenders[CHARGED_1].standing = STANDING_ENDED;
	machine.contenders[ALL].standing = STANDING_COUNTS;
	for (int second = 0; second < 10; second++)
		later(&machine, 1, usual);
	for (size_t z = 0; z < ZONES; z++)
		assert_true(isnan(ratio(&machine, z)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rivals_are_compared),
		cmocka_unit_test(a_minute_is_judged_at_its_end),
		cmocka_unit_test(a_slow_source_is_compared_by_its_power),
		cmocka_unit_test(what_is_not_known_is_not_judged),
		cmocka_unit_test(a_part_is_not_compared_with_the_whole),
	};

	return unit_run(tests);
}

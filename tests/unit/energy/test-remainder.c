// SPDX-License-Identifier: Apache-2.0
#include "energy/remainder.h"

#include "base/num.h"
#include "tests/rig/property.h"
#include "tests/unit/unit.h"

#define J UJ_PER_J

enum { PLATFORM, PACKAGE_0, PACKAGE_1, DRAM, CORE, GPU, PSYS, ESTIMATE, ZONES };

static const struct zone zones[ZONES] = {
	[PLATFORM] = { .kind = ZONE_PLATFORM, .source = "bmc" },
	[PACKAGE_0] = { .kind = ZONE_PACKAGE, .instance = "0", .source = "rapl" },
	[PACKAGE_1] = { .kind = ZONE_PACKAGE, .instance = "1", .source = "rapl" },
	[DRAM] = { .kind = ZONE_DRAM, .instance = "0", .source = "rapl" },
	[CORE] = { .kind = ZONE_CORE, .instance = "0", .source = "rapl" },
	[GPU] = { .kind = ZONE_GPU, .instance = "GPU-a", .source = "nvml" },
	[PSYS] = { .kind = ZONE_PSYS, .source = "rapl" },
	[ESTIMATE] = { .kind = ZONE_PLATFORM, .quality = QUALITY_ESTIMATED, .source = "model" },
};

struct machine {
	struct remainder remainder;
	struct contender contenders[ZONES];
	uint64_t read_ns[ZONES]; /* 0: never */
	uint64_t total_uj[ZONES];
};

/* Of the zones whose bits are in @present. */
static void set_up(struct machine *machine, unsigned present)
{
	*machine = (struct machine){ 0 };
	for (size_t z = 0; z < ZONES; z++)
		machine->contenders[z] = (struct contender){
			.zone = &zones[z],
			.standing = present & 1U << z ? STANDING_COUNTS : STANDING_ENDED,
		};
	assert_int_equal(remainder_follow(&machine->remainder, machine->contenders, ZONES), 0);
}

/* A span of @zone up to @to_ns; the first is not known. */
static struct energy_span span_of(struct machine *machine, uint32_t zone, uint64_t to_ns,
				  uint64_t energy_uj)
{
	struct energy_span span = {
		.zone = zone,
		.known = machine->read_ns[zone] > 0,
		.from_ns = machine->read_ns[zone],
		.to_ns = to_ns,
	};

	span.energy_uj = span.known ? energy_uj : 0;
	machine->total_uj[zone] += span.energy_uj;
	machine->read_ns[zone] = to_ns;
	return span;
}

static bool read_one(struct machine *machine, uint32_t zone, uint64_t to_ns, uint64_t energy_uj,
		     struct energy_span *ret)
{
	struct energy_span span = span_of(machine, zone, to_ns, energy_uj);

	return remainder_advance(&machine->remainder, &span, 1, ret);
}

static void what_is_in_it_depends_on_the_machine(void **state)
{
	static const struct {
		unsigned present, in_it;
	} table[] = {
		{ 0, 0 },
		{ 1 << PLATFORM, 0 },
		{ 1 << PACKAGE_0 | 1 << DRAM, 0 },
		{ 1 << PLATFORM | 1 << DRAM | 1 << GPU, 0 },
		{ 1 << PLATFORM | 1 << PACKAGE_0 | 1 << CORE, 1 << PLATFORM | 1 << PACKAGE_0 },
		{ 1 << PLATFORM | 1 << PACKAGE_0 | 1 << PACKAGE_1 | 1 << DRAM | 1 << GPU,
		  1 << PLATFORM | 1 << PACKAGE_0 | 1 << PACKAGE_1 | 1 << DRAM | 1 << GPU },
		{ 1 << PLATFORM | 1 << PACKAGE_0 | 1 << GPU | 1 << PSYS,
		  1 << PLATFORM | 1 << PSYS },
		{ 1 << ESTIMATE | 1 << PACKAGE_0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct machine machine;
		unsigned in_it = 0;

		set_up(&machine, table[i].present);
		for (size_t c = 0; c < machine.remainder.count; c++) {
			const struct remainder_curve *curve = &machine.remainder.curves[c];

			in_it |= 1U << curve->zone;
			assert_int_equal(curve->is_whole, curve->zone == PLATFORM);
		}
		assert_int_equal(in_it, table[i].in_it);
		assert_int_equal(remainder_exists(&machine.remainder), table[i].in_it != 0);
		remainder_release(&machine.remainder);
	}
}

/* The whole is read at 2.5 s, 3.5 s and so on, the part at whole seconds. */
static void it_is_of_the_time_that_all_reach(void **state)
{
	struct machine machine;
	struct energy_span span;

	set_up(&machine, 1 << PLATFORM | 1 << PACKAGE_0);
	assert_false(read_one(&machine, PACKAGE_0, 2 * NSEC_PER_SEC, 0, &span));
	assert_false(read_one(&machine, PLATFORM, 5 * NSEC_PER_SEC / 2, 0, &span));
	assert_true(read_one(&machine, PACKAGE_0, 3 * NSEC_PER_SEC, 40 * J, &span));
	assert_false(span.known);
	assert_int_equal(span.from_ns, 0);
	assert_int_equal(span.to_ns, 5 * NSEC_PER_SEC / 2);
	assert_true(read_one(&machine, PLATFORM, 7 * NSEC_PER_SEC / 2, 100 * J, &span));
	assert_true(span.known);
	assert_int_equal(span.from_ns, 5 * NSEC_PER_SEC / 2);
	assert_int_equal(span.to_ns, 3 * NSEC_PER_SEC);
	assert_int_equal(span.energy_uj, 30 * J); /* 50 of the whole, 20 of the part */
	assert_true(read_one(&machine, PACKAGE_0, 4 * NSEC_PER_SEC, 60 * J, &span));
	assert_int_equal(span.to_ns, 7 * NSEC_PER_SEC / 2);
	assert_int_equal(span.energy_uj, 20 * J);
	remainder_release(&machine.remainder);
}

/* A sensor that is late sees the load when the counters have seen it already. */
static void what_is_owed_is_taken_off_the_next(void **state)
{
	static const uint64_t whole_j[] = { 100, 100, 180, 100 }, part_j[] = { 40, 140, 60, 40 };
	static const uint64_t rest_j[] = { 60, 0, 80, 60 };
	struct machine machine;
	struct energy_span span;

	set_up(&machine, 1 << PLATFORM | 1 << PACKAGE_0);
	(void)read_one(&machine, PLATFORM, NSEC_PER_SEC, 0, &span);
	assert_true(read_one(&machine, PACKAGE_0, NSEC_PER_SEC, 0, &span));
	for (size_t i = 0; i < ARRAY_SIZE(rest_j); i++) {
		assert_false(read_one(&machine, PLATFORM, (i + 2) * NSEC_PER_SEC, whole_j[i] * J,
				      &span));
		assert_true(read_one(&machine, PACKAGE_0, (i + 2) * NSEC_PER_SEC, part_j[i] * J,
				     &span));
		assert_int_equal(span.energy_uj, rest_j[i] * J);
	}
	remainder_release(&machine.remainder);
}

static void what_is_not_known_of_a_part_is_not_known_of_it(void **state)
{
	struct machine machine;
	struct energy_span span;

	set_up(&machine, 1 << PLATFORM | 1 << PACKAGE_0);
	(void)read_one(&machine, PLATFORM, NSEC_PER_SEC, 0, &span);
	(void)read_one(&machine, PACKAGE_0, NSEC_PER_SEC, 0, &span);
	(void)read_one(&machine, PLATFORM, 2 * NSEC_PER_SEC, 100 * J, &span);
	machine.read_ns[PACKAGE_0] = 0; /* its counter begins anew */
	assert_true(read_one(&machine, PACKAGE_0, 2 * NSEC_PER_SEC, 0, &span));
	assert_false(span.known);
	assert_int_equal(span.from_ns, NSEC_PER_SEC);
	assert_int_equal(span.to_ns, 2 * NSEC_PER_SEC);
	(void)read_one(&machine, PLATFORM, 3 * NSEC_PER_SEC, 100 * J, &span);
	assert_true(read_one(&machine, PACKAGE_0, 3 * NSEC_PER_SEC, 30 * J, &span));
	assert_true(span.known);
	assert_int_equal(span.energy_uj, 70 * J);
	remainder_release(&machine.remainder);
}

/* A zone that is found begins it anew; nothing is counted of the time without its readings. */
static void a_part_that_is_found_joins(void **state)
{
	struct machine machine;
	struct energy_span span;

	set_up(&machine, 1 << PLATFORM | 1 << PACKAGE_0);
	(void)read_one(&machine, PLATFORM, NSEC_PER_SEC, 0, &span);
	assert_true(read_one(&machine, PACKAGE_0, NSEC_PER_SEC, 0, &span));
	machine.contenders[DRAM].standing = STANDING_COUNTS;
	assert_int_equal(remainder_follow(&machine.remainder, machine.contenders, ZONES), 0);
	(void)read_one(&machine, PLATFORM, 2 * NSEC_PER_SEC, 100 * J, &span);
	assert_false(read_one(&machine, PACKAGE_0, 2 * NSEC_PER_SEC, 50 * J, &span));
	assert_true(read_one(&machine, DRAM, 2 * NSEC_PER_SEC, 0, &span));
	assert_false(span.known);
	(void)read_one(&machine, PLATFORM, 3 * NSEC_PER_SEC, 100 * J, &span);
	assert_false(read_one(&machine, PACKAGE_0, 3 * NSEC_PER_SEC, 50 * J, &span));
	assert_true(read_one(&machine, DRAM, 3 * NSEC_PER_SEC, 10 * J, &span));
	assert_true(span.known);
	assert_int_equal(span.energy_uj, 40 * J);
	remainder_release(&machine.remainder);
}

/* However zones are read, what was counted up to a common time is the parts, the rest and debts. */
static const char *the_sum_is_the_whole(struct property_source *source, void *userdata)
{
	struct machine machine;
	struct energy_span span;
	uint64_t now_ns = NSEC_PER_SEC, rest_uj = 0, end_ns = 0;
	uint64_t steps = 1 + draw_below(source, 200);
	const char *wrong = NULL;

	(void)userdata;
	set_up(&machine, 1 << PLATFORM | 1 << PACKAGE_0 | 1 << DRAM);
	for (uint32_t z = 0; z <= DRAM; z++) {
		if (z != PACKAGE_1 && read_one(&machine, z, now_ns, 0, &span))
			end_ns = span.to_ns;
	}
	for (uint64_t i = 0; !wrong && i < steps; i++) {
		uint32_t zone = (uint32_t[]){ PLATFORM, PACKAGE_0, DRAM }[draw_below(source, 3)];

		now_ns += 1 + draw_below(source, 2 * NSEC_PER_SEC);
		if (!read_one(&machine, zone, now_ns, draw_below(source, 1000 * J), &span))
			continue;
		if (!span.known || span.from_ns != end_ns || span.to_ns <= end_ns)
			wrong = "there is a hole";
		end_ns = span.to_ns;
		rest_uj += span.energy_uj;
	}
	now_ns += NSEC_PER_SEC;
	for (uint32_t z = 0; !wrong && z <= DRAM; z++) {
		if (z != PACKAGE_1 && read_one(&machine, z, now_ns, draw_below(source, J), &span))
			rest_uj += span.energy_uj;
	}
	if (!wrong && machine.total_uj[PLATFORM] + machine.remainder.debt_uj !=
			      machine.total_uj[PACKAGE_0] + machine.total_uj[DRAM] + rest_uj)
		wrong = "the parts and the rest are not the whole";
	remainder_release(&machine.remainder);
	return wrong;
}

static void the_law_holds(void **state)
{
	assert_true(property_check("remainder", the_sum_is_the_whole, NULL, 20000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_in_it_depends_on_the_machine),
		cmocka_unit_test(it_is_of_the_time_that_all_reach),
		cmocka_unit_test(what_is_owed_is_taken_off_the_next),
		cmocka_unit_test(what_is_not_known_of_a_part_is_not_known_of_it),
		cmocka_unit_test(a_part_that_is_found_joins),
		cmocka_unit_test(the_law_holds),
	};

	return unit_run(tests);
}

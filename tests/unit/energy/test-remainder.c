// SPDX-License-Identifier: Apache-2.0
#include "energy/remainder.h"

#include "base/num.h"
#include "energy/rank.h"
#include "tests/rig/property.h"
#include "tests/unit/unit.h"

#define J UJ_PER_J

enum {
	PLATFORM,
	PACKAGE_0,
	PACKAGE_1,
	DRAM,
	CORE,
	GPU,
	PSYS,
	MODULE,
	ESTIMATE,
	GUESS,
	GUESS_DRAM,
	GUESS_AGAIN,
	ZONES
};

static const struct zone zones[ZONES] = {
	[PLATFORM] = { .kind = ZONE_PLATFORM, .source = "bmc" },
	[PACKAGE_0] = { .kind = ZONE_PACKAGE, .instance = "0", .source = "rapl" },
	[PACKAGE_1] = { .kind = ZONE_PACKAGE, .instance = "1", .source = "rapl" },
	[DRAM] = { .kind = ZONE_DRAM, .instance = "0", .source = "rapl" },
	[CORE] = { .kind = ZONE_CORE, .instance = "0", .source = "rapl" },
	[GPU] = { .kind = ZONE_GPU, .instance = "GPU-a", .source = "nvml" },
	[PSYS] = { .kind = ZONE_PSYS, .source = "rapl" },
	[MODULE] = { .kind = ZONE_PSYS, .source = "module", .has_gpus = true },
	[ESTIMATE] = { .kind = ZONE_PLATFORM,
		       .quality = QUALITY_ESTIMATED,
		       .scope = SCOPE_VM_DYNAMIC,
		       .source = "model",
		       .rank = RANK_ESTIMATED },
	[GUESS] = { .kind = ZONE_PACKAGE,
		    .quality = QUALITY_ESTIMATED,
		    .source = "model",
		    .rank = RANK_ESTIMATED },
	[GUESS_DRAM] = { .kind = ZONE_DRAM,
			 .quality = QUALITY_ESTIMATED,
			 .source = "model",
			 .rank = RANK_ESTIMATED },
	[GUESS_AGAIN] = { .kind = ZONE_PACKAGE,
			  .quality = QUALITY_ESTIMATED,
			  .source = "model",
			  .rank = RANK_MODEL },
};

struct machine {
	struct remainder remainder;
	struct remainder_member members[ZONES];
	uint64_t read_ns[ZONES]; /* 0: never */
	uint64_t total_uj[ZONES];
};

static void follow(struct machine *machine, unsigned present)
{
	const struct zone *list[ZONES];
	uint32_t total[ZONES], places[ZONES];
	size_t count = 0;

	for (uint32_t z = 0; z < ZONES; z++) {
		machine->members[z].zone = &zones[z];
		machine->members[z].counts = present & 1U << z;
		machine->members[z].in_total = false;
		if (!machine->members[z].counts)
			continue;
		list[count] = &zones[z];
		places[count++] = z;
	}
	(void)total_choose(list, 0, count, PSYS_GPUS_AUTO, total);
	for (size_t i = 0; i < count; i++)
		machine->members[places[i]].in_total = total[i] != TOTAL_NONE;
	assert_int_equal(
		remainder_follow(&machine->remainder, machine->members, ZONES, PSYS_GPUS_AUTO), 0);
}

/* The zones whose bits are in @present. */
static void set_up(struct machine *machine, unsigned present)
{
	*machine = (struct machine){ 0 };
	follow(machine, present);
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

#define BIT(zone) (1U << (zone))

static void what_is_in_it_depends_on_the_machine(void **state)
{
	static const struct {
		unsigned present, wholes, parts;
		enum domain_kind domain;
	} table[] = {
		{ 0, 0, 0, DOMAIN_NODE },
		{ BIT(PLATFORM), 0, 0, DOMAIN_NODE },
		{ BIT(PACKAGE_0) | BIT(DRAM), 0, 0, DOMAIN_NODE },
		{ BIT(PLATFORM) | BIT(DRAM) | BIT(GPU), BIT(PLATFORM), BIT(DRAM) | BIT(GPU),
		  DOMAIN_NODE },
		{ BIT(PLATFORM) | BIT(GPU), BIT(PLATFORM), BIT(GPU), DOMAIN_NODE },
		{ BIT(PLATFORM) | BIT(PACKAGE_0) | BIT(CORE), BIT(PLATFORM), BIT(PACKAGE_0),
		  DOMAIN_PARTS },
		{ BIT(PLATFORM) | BIT(CORE), BIT(PLATFORM), BIT(CORE), DOMAIN_PARTS },
		{ BIT(PLATFORM) | BIT(PACKAGE_0) | BIT(PACKAGE_1) | BIT(DRAM) | BIT(GPU),
		  BIT(PLATFORM), BIT(PACKAGE_0) | BIT(PACKAGE_1) | BIT(DRAM) | BIT(GPU),
		  DOMAIN_PARTS },
		{ BIT(PLATFORM) | BIT(PACKAGE_0) | BIT(GPU) | BIT(PSYS), BIT(PLATFORM) | BIT(PSYS),
		  BIT(PACKAGE_0) | BIT(GPU), DOMAIN_PARTS },
		{ BIT(PLATFORM) | BIT(PSYS), BIT(PLATFORM), BIT(PSYS), DOMAIN_PARTS },
		{ BIT(PSYS) | BIT(GPU), 0, 0, DOMAIN_NODE },
		{ BIT(PSYS) | BIT(PACKAGE_0) | BIT(GPU), BIT(PSYS), BIT(PACKAGE_0), DOMAIN_PARTS },
		{ BIT(MODULE) | BIT(PACKAGE_0) | BIT(GPU), BIT(MODULE), BIT(PACKAGE_0) | BIT(GPU),
		  DOMAIN_PARTS },
		{ BIT(ESTIMATE) | BIT(PACKAGE_0), 0, 0, DOMAIN_NODE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct machine machine;
		unsigned in_it[2] = { 0 };

		set_up(&machine, table[i].present);
		for (size_t c = 0; c < machine.remainder.count; c++) {
			const struct remainder_curve *curve = &machine.remainder.curves[c];

			in_it[curve->is_whole] |= BIT(curve->zone);
			assert_int_equal(remainder_has_part(&machine.remainder, curve->zone),
					 !curve->is_whole);
		}
		assert_int_equal(in_it[true], table[i].wholes);
		assert_int_equal(in_it[false], table[i].parts);
		assert_int_equal(remainder_exists(&machine.remainder), table[i].wholes != 0);
		assert_int_equal(remainder_zone(&machine.remainder, machine.members).domain.kind,
				 table[i].domain);
		remainder_release(&machine.remainder);
	}
}

/* It is an estimate, in one total with the parts, and has the rest of the idle energy, too. */
static void estimates_have_one_of_their_own(void **state)
{
	const struct energy_span first[] = { { .zone = ESTIMATE, .to_ns = NSEC_PER_SEC },
					     { .zone = GUESS, .to_ns = NSEC_PER_SEC } };
	const struct energy_span second[] = {
		{ ESTIMATE, true, NSEC_PER_SEC, 2 * NSEC_PER_SEC, 0, 100 * J, 60 * J },
		{ GUESS, true, NSEC_PER_SEC, 2 * NSEC_PER_SEC, 0, 70 * J, 20 * J },
	};
	const struct energy_span third[] = {
		{ ESTIMATE, true, 2 * NSEC_PER_SEC, 3 * NSEC_PER_SEC, 0, 100 * J, 60 * J },
		{ GUESS, true, 2 * NSEC_PER_SEC, 3 * NSEC_PER_SEC, 0, 90 * J, 20 * J },
	};
	struct machine machine;
	struct energy_span span;
	struct zone zone;

	set_up(&machine, BIT(ESTIMATE) | BIT(GUESS));
	assert_false(remainder_exists(&machine.remainder)); /* of the measured energy */
	machine.remainder.quality = QUALITY_ESTIMATED;
	follow(&machine, BIT(ESTIMATE) | BIT(GUESS));
	assert_true(remainder_exists(&machine.remainder));
	zone = remainder_zone(&machine.remainder, machine.members);
	assert_int_equal(zone.quality, QUALITY_ESTIMATED);
	assert_int_equal(zone.scope, SCOPE_VM_DYNAMIC);
	assert_int_equal(zone.domain.kind, DOMAIN_PARTS);
	assert_string_equal(zone.source, "model");
	assert_false(rank_are_rivals(&zone, &zones[GUESS]));
	assert_true(remainder_advance(&machine.remainder, first, 2, &span));
	assert_false(span.known);
	assert_true(remainder_advance(&machine.remainder, second, 2, &span));
	assert_int_equal(span.energy_uj, 30 * J);
	assert_int_equal(span.idle_uj, 30 * J); /* 40, but it has no more energy */
	assert_true(remainder_advance(&machine.remainder, third, 2, &span));
	assert_int_equal(span.energy_uj, 10 * J);
	assert_int_equal(span.idle_uj, 10 * J);
	remainder_release(&machine.remainder);
}

/* A meter takes over from the package: the platform less the dram would contain the package. */
static void an_estimate_ends_when_a_meter_takes_over_a_part(void **state)
{
	struct machine machine;

	(void)state;
	set_up(&machine, 1U << ESTIMATE | 1U << GUESS | 1U << GUESS_DRAM);
	machine.remainder.quality = QUALITY_ESTIMATED;
	follow(&machine, 1U << ESTIMATE | 1U << GUESS | 1U << GUESS_DRAM);
	assert_true(remainder_exists(&machine.remainder));
	follow(&machine, 1U << ESTIMATE | 1U << GUESS_DRAM);
	assert_true(remainder_exists(&machine.remainder));
	machine.members[GUESS].in_total = machine.members[GUESS].has_ended = true;
	assert_int_equal(
		remainder_follow(&machine.remainder, machine.members, ZONES, PSYS_GPUS_AUTO), 0);
	assert_false(remainder_exists(&machine.remainder));
	assert_true(remainder_has_ended(machine.members, ZONES, QUALITY_ESTIMATED, PSYS_GPUS_AUTO));
	assert_false(remainder_has_ended(machine.members, ZONES, QUALITY_MEASURED, PSYS_GPUS_AUTO));
	/* A better estimate of it is a part in its place. */
	machine.members[GUESS_AGAIN].in_total = machine.members[GUESS_AGAIN].counts = true;
	assert_int_equal(
		remainder_follow(&machine.remainder, machine.members, ZONES, PSYS_GPUS_AUTO), 0);
	assert_true(remainder_exists(&machine.remainder));
	remainder_release(&machine.remainder);
}

/* The whole is read at 2.5 s, 3.5 s and so on, the part at whole seconds. */
static void it_is_of_the_time_that_all_reach(void **state)
{
	struct machine machine;
	struct energy_span span;

	set_up(&machine, 1 << PLATFORM | 1 << PACKAGE_0);
	assert_false(read_one(&machine, PACKAGE_0, 2 * NSEC_PER_SEC, 0, &span));
	assert_true(read_one(&machine, PLATFORM, 5 * NSEC_PER_SEC / 2, 0, &span));
	assert_false(span.known);
	assert_int_equal(span.from_ns, 0);
	assert_int_equal(span.to_ns, 5 * NSEC_PER_SEC / 2);
	assert_false(read_one(&machine, PACKAGE_0, 3 * NSEC_PER_SEC, 40 * J, &span));
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
	assert_false(read_one(&machine, PACKAGE_0, NSEC_PER_SEC, 0, &span));
	assert_true(read_one(&machine, PLATFORM, NSEC_PER_SEC, 0, &span));
	for (size_t i = 0; i < ARRAY_SIZE(rest_j); i++) {
		assert_false(read_one(&machine, PLATFORM, (i + 2) * NSEC_PER_SEC, whole_j[i] * J,
				      &span));
		assert_true(read_one(&machine, PACKAGE_0, (i + 2) * NSEC_PER_SEC, part_j[i] * J,
				     &span));
		assert_int_equal(span.energy_uj, rest_j[i] * J);
	}
	remainder_release(&machine.remainder);
}

/* All of @machine's zones in @present, up to the same time; the energy is that of @each_j. */
static bool read_all(struct machine *machine, unsigned present, uint64_t to_ns,
		     const uint64_t each_j[ZONES], struct energy_span *ret)
{
	struct energy_span spans[ZONES];
	size_t count = 0;

	for (uint32_t z = 0; z < ZONES; z++) {
		if (present & BIT(z))
			spans[count++] = span_of(machine, z, to_ns, each_j ? each_j[z] * J : 0);
	}
	return remainder_advance(&machine->remainder, spans, count, ret);
}

static void what_is_not_known_of_a_part_is_in_it(void **state)
{
	const unsigned both = BIT(PLATFORM) | BIT(PACKAGE_0);
	const uint64_t each_j[ZONES] = { [PLATFORM] = 100, [PACKAGE_0] = 30 };
	struct machine machine;
	struct energy_span span;

	set_up(&machine, both);
	assert_true(read_all(&machine, both, NSEC_PER_SEC, NULL, &span));
	assert_false(span.known);
	machine.read_ns[PACKAGE_0] = 0; /* its counter begins again */
	assert_true(read_all(&machine, both, 2 * NSEC_PER_SEC, each_j, &span));
	assert_true(span.known);
	assert_int_equal(span.energy_uj, 100 * J); /* nothing else has any of it */
	assert_true(read_all(&machine, both, 3 * NSEC_PER_SEC, each_j, &span));
	assert_int_equal(span.energy_uj, 70 * J);
	/* Nor is what is not booked, as of a zone whose series are new. */
	machine.members[PACKAGE_0].counts_from_ns = 5 * NSEC_PER_SEC;
	follow(&machine, both);
	assert_true(read_all(&machine, both, 4 * NSEC_PER_SEC, each_j, &span));
	assert_int_equal(span.energy_uj, 100 * J);
	assert_true(read_all(&machine, both, 5 * NSEC_PER_SEC, each_j, &span));
	assert_int_equal(span.energy_uj, 70 * J);
	remainder_release(&machine.remainder);
}

static void what_is_not_known_of_a_whole_is_not_known_of_it(void **state)
{
	const unsigned both = BIT(PLATFORM) | BIT(PACKAGE_0);
	const uint64_t each_j[ZONES] = { [PLATFORM] = 100, [PACKAGE_0] = 30 };
	struct machine machine;
	struct energy_span span;

	set_up(&machine, both);
	assert_true(read_all(&machine, both, NSEC_PER_SEC, NULL, &span));
	machine.read_ns[PLATFORM] = 0;
	assert_true(read_all(&machine, both, 2 * NSEC_PER_SEC, each_j, &span));
	assert_false(span.known);
	assert_int_equal(span.from_ns, NSEC_PER_SEC);
	assert_int_equal(span.to_ns, 2 * NSEC_PER_SEC);
	assert_true(read_all(&machine, both, 3 * NSEC_PER_SEC, each_j, &span));
	assert_true(span.known);
	assert_int_equal(span.energy_uj, 70 * J);
	remainder_release(&machine.remainder);
}

/* A part that is found is taken off from its first reading on, and one that goes until its last. */
static void parts_come_and_go(void **state)
{
	const unsigned two = BIT(PLATFORM) | BIT(PACKAGE_0), three = two | BIT(DRAM);
	const uint64_t each_j[ZONES] = { [PLATFORM] = 100, [PACKAGE_0] = 50, [DRAM] = 10 };
	struct machine machine;
	struct energy_span span;

	set_up(&machine, two);
	assert_true(read_all(&machine, two, NSEC_PER_SEC, NULL, &span));
	follow(&machine, three);
	assert_true(read_all(&machine, three, 2 * NSEC_PER_SEC, each_j, &span));
	assert_true(span.known);
	assert_int_equal(span.energy_uj, 50 * J);
	assert_true(read_all(&machine, three, 3 * NSEC_PER_SEC, each_j, &span));
	assert_int_equal(span.energy_uj, 40 * J);
	/* Its last reading is of a time that the whole has not reached yet. */
	assert_false(read_one(&machine, DRAM, 4 * NSEC_PER_SEC, 10 * J, &span));
	follow(&machine, two);
	assert_true(read_all(&machine, two, 4 * NSEC_PER_SEC, each_j, &span));
	assert_int_equal(span.energy_uj, 40 * J);
	assert_true(read_all(&machine, two, 5 * NSEC_PER_SEC, each_j, &span));
	assert_int_equal(span.energy_uj, 50 * J);
	remainder_release(&machine.remainder);
}

/* For a minute a part is waited for; its late energy is subtracted from the energy that follows. */
static void a_part_that_fails_does_not_stop_it(void **state)
{
	const unsigned both = BIT(PLATFORM) | BIT(PACKAGE_0);
	struct machine machine;
	struct energy_span span;
	uint64_t rest_uj = 0, second = 2;

	set_up(&machine, both);
	assert_true(read_all(&machine, both, NSEC_PER_SEC, NULL, &span));
	for (; second <= 61; second++)
		assert_false(read_one(&machine, PLATFORM, second * NSEC_PER_SEC, 100 * J, &span));
	for (; second <= 70; second++) {
		assert_true(read_one(&machine, PLATFORM, second * NSEC_PER_SEC, 100 * J, &span));
		rest_uj += span.energy_uj;
	}
	assert_int_equal(rest_uj, 69 * 100 * J);
	for (; second <= 200; second++) {
		const uint64_t each_j[ZONES] = {
			[PLATFORM] = 100, [PACKAGE_0] = second == 71 ? 70 * 40 : 40
		};

		assert_true(read_all(&machine, both, second * NSEC_PER_SEC, each_j, &span));
		rest_uj += span.energy_uj;
	}
	assert_int_equal(rest_uj, 199 * 60 * J);
	remainder_release(&machine.remainder);
}

/* It sees one of two supplies: the total is what the parts count, and no debt piles up. */
static void a_whole_that_misses_a_part(void **state)
{
	const unsigned both = BIT(PLATFORM) | BIT(PACKAGE_0);
	const uint64_t busy_j[ZONES] = { [PLATFORM] = 250, [PACKAGE_0] = 600 };
	const uint64_t quiet_j[ZONES] = { [PLATFORM] = 250, [PACKAGE_0] = 100 };
	struct machine machine;
	struct energy_span span;
	bool is_of_minute = false;

	set_up(&machine, both);
	assert_true(read_all(&machine, both, NSEC_PER_SEC, NULL, &span));
	assert_true(isnan(remainder_coverage(&machine.remainder, PLATFORM, NULL)));
	for (uint64_t second = 2; second <= 601; second++) {
		double coverage;

		assert_true(read_all(&machine, both, second * NSEC_PER_SEC, busy_j, &span));
		assert_int_equal(span.energy_uj, 0);
		coverage = remainder_coverage(&machine.remainder, PLATFORM, &is_of_minute);
		if (second >= 4)
			assert_true(fabs(coverage - 250.0 / 600) < 1e-9);
		else
			assert_true(isnan(coverage));
		assert_int_equal(is_of_minute, second >= 61);
	}
	assert_true(isnan(remainder_coverage(&machine.remainder, PACKAGE_0, NULL)));
	assert_true(read_all(&machine, both, 602 * NSEC_PER_SEC, quiet_j, &span));
	assert_int_equal(span.energy_uj, 150 * J);
	remainder_release(&machine.remainder);
}

static void a_psys_in_a_platform(void **state)
{
	const unsigned all = BIT(PLATFORM) | BIT(PSYS) | BIT(PACKAGE_0) | BIT(GPU);
	static const struct {
		uint64_t each_j[ZONES], rest_j;
	} table[] = {
		/*
		 * psys has 50 W more than the package, platform 100 W more than psys and the board
		 */
		{ { [PLATFORM] = 1050, [PSYS] = 250, [PACKAGE_0] = 200, [GPU] = 700 }, 150 },
		/* a platform that has less than the psys in it */
		{ { [PLATFORM] = 900, [PSYS] = 250, [PACKAGE_0] = 200, [GPU] = 700 }, 50 },
		{ { [PLATFORM] = 0, [PSYS] = 0, [PACKAGE_0] = 200, [GPU] = 700 }, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct machine machine;
		struct energy_span span;

		set_up(&machine, all);
		assert_true(read_all(&machine, all, NSEC_PER_SEC, NULL, &span));
		assert_true(read_all(&machine, all, 2 * NSEC_PER_SEC, table[i].each_j, &span));
		assert_int_equal(span.energy_uj, table[i].rest_j * J);
		remainder_release(&machine.remainder);
	}
}

/* However zones are read, what was counted up to a common time is the parts, the rest and debts. */
static const char *the_sum_is_the_whole(struct property_source *source, void *userdata)
{
	struct machine machine;
	struct energy_span span;
	uint64_t now_ns = NSEC_PER_SEC, rest_uj = 0, end_ns = 0;
	uint64_t steps = 1 + draw_below(source, 200);
	const struct remainder_level *level = &machine.remainder.level[REMAINDER_PLATFORM];
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
	if (!wrong && machine.total_uj[PLATFORM] + level->debt_uj + level->written_off_uj !=
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
		cmocka_unit_test(estimates_have_one_of_their_own),
		cmocka_unit_test(an_estimate_ends_when_a_meter_takes_over_a_part),
		cmocka_unit_test(it_is_of_the_time_that_all_reach),
		cmocka_unit_test(what_is_owed_is_taken_off_the_next),
		cmocka_unit_test(what_is_not_known_of_a_part_is_in_it),
		cmocka_unit_test(what_is_not_known_of_a_whole_is_not_known_of_it),
		cmocka_unit_test(parts_come_and_go),
		cmocka_unit_test(a_part_that_fails_does_not_stop_it),
		cmocka_unit_test(a_whole_that_misses_a_part),
		cmocka_unit_test(a_psys_in_a_platform),
		cmocka_unit_test(the_law_holds),
	};

	return unit_run(tests);
}

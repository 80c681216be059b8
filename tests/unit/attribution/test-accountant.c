// SPDX-License-Identifier: Apache-2.0
#include "attribution/accountant.h"

#include <math.h>

#include "energy/total.h"
#include "tests/unit/attribution/house.h"

static void a_socket_is_what_ran_there(void **state)
{
	(void)state;
	struct house house;

	set_up_house(&house);
	begin(&house, 2);
	end(&house, 0, 0);
	begin(&house, 2);
	ran(&house, 0, 0, NSEC_PER_SEC);
	ran(&house, 1, 1, NSEC_PER_SEC / 4);
	end(&house, 45, 20);
	assert_int_equal(joules(&house, 0, 0), 45);
	assert_int_equal(joules(&house, 1, 0), 0);
	assert_int_equal(joules(&house, 0, 1), 0);
	assert_int_equal(joules(&house, 1, 1), 20);
	tear_down_house(&house);
}

/* From how busy its own CPU was, not from 62.5 %. */
static void a_socket_learns_from_what_ran_there(void **state)
{
	(void)state;
	struct house house;

	set_up_house(&house);
	learn_idle_power(&house);
	begin(&house, 2);
	end(&house, 0, 0);
	begin(&house, 2);
	ran(&house, 0, 0, NSEC_PER_SEC);
	ran(&house, 1, 1, NSEC_PER_SEC / 4);
	end(&house, 45, 20);
	assert_float_equal(house.books.accountant.zones[0].learner.x_max, 1, 1e-9);
	assert_float_equal(house.books.accountant.zones[1].learner.x_max, 0.25, 1e-9);
	tear_down_house(&house);
}

/* Each socket is split by itself; a row has one sum of both, and each zone its own of the node. */
static void rows_sum_the_sockets_where_zones_are_not_told_apart(void **state)
{
	(void)state;
	struct house house;
	const struct ledger *ledger;

	set_up_house_for(&house, false);
	ledger = house.books.ledger;
	begin(&house, 2);
	end(&house, 0, 0);
	begin(&house, 2);
	ran(&house, 0, 0, NSEC_PER_SEC);
	ran(&house, 1, 1, NSEC_PER_SEC / 4);
	end(&house, 45, 20);
	begin(&house, 2);
	ran(&house, 0, 0, NSEC_PER_SEC / 2);
	ran(&house, 0, 1, NSEC_PER_SEC / 2);
	end(&house, 45, 20);
	assert_int_equal(ledger_columns(ledger), 2);
	assert_int_equal(joules(&house, 0, 0), 45 + 65);
	assert_int_equal(joules(&house, 1, 1), 20);
	assert_int_equal(ledger_node_value(ledger, 0, MODE_DYNAMIC), 90000000);
	assert_int_equal(ledger_node_value(ledger, 1, MODE_DYNAMIC), 40000000);
	tear_down_house(&house);
}

static const struct idle_options shared = {
	.mode = IDLE_MODE_FIXED,
	.share = IDLE_SHARE_USAGE,
	.watts = { { "package", 10 } },
	.watts_count = 1,
};

/* Until there is memory for their columns, no row has a part of idle energy, nor a series of it. */
static void idle_energy_waits_for_its_columns(void **state)
{
	(void)state;
	struct house house;
	struct ledger *ledger;

	set_up_house_for(&house, false);
	ledger = house.books.ledger;
	begin(&house, 2);
	end(&house, 0, 0);
	accountant_configure(&house.books.accountant, &shared, SETTLE_NS);
	for (unsigned i = 0; i < 2 * SETTLE_NS / NSEC_PER_SEC; i++) {
		begin(&house, 2);
		ran(&house, 0, 0, NSEC_PER_SEC);
		end(&house, 45, 20);
	}
	assert_int_equal(ledger_column(ledger, 0, MODE_IDLE), COLUMN_NONE);
	assert_false(house.books.accountant.zones[0].rows_have_mode[MODE_IDLE]);
	assert_true(ledger_node_value(ledger, 0, MODE_IDLE) > 0);
	assert_int_equal(ledger_unattributed_value(ledger, 0, MODE_IDLE, UNATTRIBUTED_IDLE_POLICY),
			 ledger_node_value(ledger, 0, MODE_IDLE));
	assert_int_equal(ledger_bear_idle(ledger), 0);
	begin(&house, 2);
	ran(&house, 0, 0, NSEC_PER_SEC);
	end(&house, 45, 20);
	assert_true(house.books.accountant.zones[0].rows_have_mode[MODE_IDLE]);
	assert_int_equal(idle_joules(&house, 0), 0); /* born: it settles */
	for (unsigned i = 0; i < SETTLE_NS / NSEC_PER_SEC; i++) {
		begin(&house, 2);
		ran(&house, 0, 0, NSEC_PER_SEC);
		end(&house, 45, 20);
	}
	assert_int_equal(idle_joules(&house, 0), 10);
	tear_down_house(&house);
}

static void cycles_weigh_what_ran(void **state)
{
	(void)state;
	struct house house;

	set_up_house(&house);
	share_by_cycles(&house);
	begin(&house, 2);
	end(&house, 0, 0);
	assert_int_equal(house.books.accountant.zones[0].rule, SHARE_CPU_TIME);
	begin(&house, 2);
	count_cycles(&house);
	ran_at(&house, 0, 0, NSEC_PER_SEC / 2, 3);
	ran_at(&house, 1, 0, NSEC_PER_SEC / 2, 1);
	ran_at(&house, 1, 1, NSEC_PER_SEC / 2, 1);
	end(&house, 40, 12);
	assert_int_equal(joules(&house, 0, 0), 30);
	assert_int_equal(joules(&house, 1, 0), 10);
	assert_int_equal(joules(&house, 1, 1), 12);
	assert_int_equal(house.books.accountant.zones[0].rule, SHARE_CYCLES);
	begin(&house, 2); /* without them, by CPU time again */
	ran(&house, 0, 0, NSEC_PER_SEC / 2);
	ran(&house, 1, 0, NSEC_PER_SEC / 2);
	end(&house, 40, 0);
	assert_int_equal(joules(&house, 0, 0), 50);
	assert_int_equal(joules(&house, 1, 0), 30);
	tear_down_house(&house);
}

/* All its weights are 0: what ran has used the energy all the same. */
static void without_a_cycle_time_weighs(void **state)
{
	(void)state;
	struct house house;

	set_up_house(&house);
	share_by_cycles(&house);
	begin(&house, 2);
	end(&house, 0, 0);
	begin(&house, 2);
	count_cycles(&house);
	ran_at(&house, 0, 0, NSEC_PER_SEC / 4, 0);
	ran_at(&house, 1, 0, NSEC_PER_SEC / 2, 0);
	end(&house, 30, 0);
	assert_int_equal(joules(&house, 0, 0), 10);
	assert_int_equal(joules(&house, 1, 0), 20);
	tear_down_house(&house);
}

static void count_all(struct house *house)
{
	parties_know(&house->books.parties, SIGNAL_BIT(SIGNAL_COUNTED_TIME) |
						    SIGNAL_BIT(SIGNAL_CPU_CYCLES) |
						    SIGNAL_BIT(SIGNAL_INSTRUCTIONS));
	assert_int_equal(parties_reserve(&house->books.parties, 8), 0);
}

/* For so many halves of a second; a has instructions and cycles, b has cycles only. */
static void run_halves(struct house *house, size_t container, uint64_t halves)
{
	uint64_t ns = halves * NSEC_PER_SEC / 2;

	ran(house, container, 0, ns);
	parties_add_signal(&house->books.parties, SIGNAL_COUNTED_TIME, ns);
	parties_add_signal(&house->books.parties, SIGNAL_CPU_CYCLES, ns * 2);
	parties_add_signal(&house->books.parties, SIGNAL_INSTRUCTIONS, container ? 0 : ns * 4);
}

/* 10 W, 3 J for 1e9 cycles, 5 J for 1e9 instructions: what differs in these differs in energy. */
static void a_regression_is_used_where_it_is_better(void **state)
{
	(void)state;
	struct house house;
	uint64_t before_j[2];

	set_up_house(&house);
	share_by_cycles(&house);
	house.books.accountant.share.may_fit = true;
	begin(&house, 2);
	end(&house, 0, 0);
	for (uint64_t i = 0; i < 400; i++) {
		uint64_t a = i * 7 % 5 % 3, b = i * 11 % 7 % 3;

		begin(&house, 2);
		count_all(&house);
		a = i == 399 ? 1 : a;
		b = i == 399 ? 1 : b;
		before_j[0] = joules(&house, 0, 0);
		before_j[1] = joules(&house, 1, 0);
		run_halves(&house, 0, a);
		run_halves(&house, 1, b);
		end(&house, 10 + 13 * a + 3 * b, 0);
		assert_true(i > 10 ||
			    house.books.accountant.zones[0].rule == SHARE_CYCLES_INSTRUCTIONS);
	}
	assert_int_equal(house.books.accountant.zones[0].rule, SHARE_FIT);
	assert_true(zone_fits_error_ratio(&house.books.accountant.fits, 0) < 0.05);
	assert_true(isnan(zone_fits_error_ratio(&house.books.accountant.fits, 2)));
	assert_in_range(joules(&house, 0, 0) - before_j[0], 12, 22); /* 13 of 16, and of idle */
	assert_in_range(joules(&house, 1, 0) - before_j[1], 2, 6);
	house.books.accountant.share.may_fit = false;
	begin(&house, 2);
	count_all(&house);
	run_halves(&house, 0, 1);
	end(&house, 10, 0);
	assert_int_equal(house.books.accountant.zones[0].rule, SHARE_CYCLES_INSTRUCTIONS);
	tear_down_house(&house);
}

/* Both at 2 GHz, with 2 instructions per cycle: no counter distinguishes them. */
static void run_alike(struct house *house, size_t container, uint64_t halves)
{
	uint64_t ns = halves * NSEC_PER_SEC / 2;

	ran(house, container, 0, ns);
	parties_add_signal(&house->books.parties, SIGNAL_COUNTED_TIME, ns);
	parties_add_signal(&house->books.parties, SIGNAL_CPU_CYCLES, ns * 2);
	parties_add_signal(&house->books.parties, SIGNAL_INSTRUCTIONS, ns * 4);
}

/* 10 W, 12 J for half a second of a, 4 J for one of b: only factors distinguish the two. */
static void what_no_counter_shows_is_learned_of_containers(void **state)
{
	(void)state;
	struct house house;
	static struct explanation explanation;
	struct explanation *explained = &explanation;
	uint64_t before_j[2];
	double error_ratio;

	set_up_house(&house);
	share_by_cycles(&house);
	house.books.accountant.share.may_fit = true;
	house.books.accountant.share.owner_factors = OWNER_FACTORS_TRUSTED;
	house.books.accountant.explained = &explained;
	house.books.accountant.explained_count = 1;
	begin(&house, 2);
	explanation = (struct explanation){ .level = LEVEL_CONTAINER, .row = house.owner[0] };
	end(&house, 0, 0);
	assert_true(explanation.zone[0].factor <= 0);
	for (uint64_t i = 0; i < 600; i++) {
		uint64_t a = i == 599 ? 1 : i * 7 % 5 % 3, b = i == 599 ? 1 : i * 11 % 7 % 3;

		begin(&house, 2);
		count_all(&house);
		before_j[0] = joules(&house, 0, 0);
		before_j[1] = joules(&house, 1, 0);
		run_alike(&house, 0, a);
		run_alike(&house, 1, b);
		end(&house, 10 + 12 * a + 4 * b, 0);
	}
	assert_int_equal(house.books.accountant.zones[0].rule, SHARE_FIT);
	/* The total is 26 J, or 16 J without idle energy; by counters each has half of it. */
	assert_in_range(
		(joules(&house, 0, 0) - before_j[0]) * 100 /
			(joules(&house, 0, 0) - before_j[0] + joules(&house, 1, 0) - before_j[1]),
		68, 80);
	assert_true(explanation.zone[0].factor > 1.2 && explanation.zone[0].factor < 1.8);
	house.books.accountant.explained_count = 0;
	/* The error belongs to the rule that is used. */
	error_ratio = zone_fits_error_ratio(&house.books.accountant.fits, 0);
	assert_true(error_ratio < 0.05);
	/* How much of the base is there only while anything runs is not known here. */
	assert_true(zone_fits_share_half_width(&house.books.accountant.fits, 0) < 0.1);
	assert_true(isnan(zone_fits_share_half_width(&house.books.accountant.fits, 2)));
	assert_true(isnan(
		zone_fits_smt_factor(&house.books.accountant.fits, 0))); /* nothing is paired */
	begin(&house, 2); /* signals of another kind: by those that are known */
	count_cycles(&house);
	ran_at(&house, 0, 0, NSEC_PER_SEC / 2, 1);
	ran_at(&house, 1, 0, NSEC_PER_SEC / 2, 1);
	end(&house, 10, 0);
	assert_int_equal(house.books.accountant.zones[0].rule, SHARE_CYCLES);
	tear_down_house(&house);
}

/* From the first interval on, for containers that have the same ids in other rows. */
static void what_was_learned_is_used_after_a_restart(void **state)
{
	(void)state;
	struct power_owners saved;
	struct house house;

	set_up_house(&house);
	share_by_cycles(&house);
	house.books.accountant.share.may_fit = true;
	house.books.accountant.share.owner_factors = OWNER_FACTORS_TRUSTED;
	begin(&house, 2);
	end(&house, 0, 0);
	assert_null(zone_fits_learned(&house.books.accountant.fits, 0));
	for (uint64_t i = 0; i < 300; i++) {
		begin(&house, 2);
		count_all(&house);
		run_alike(&house, 0, i * 7 % 5 % 3);
		run_alike(&house, 1, i * 11 % 7 % 3);
		end(&house, 10 + 12 * (i * 7 % 5 % 3) + 4 * (i * 11 % 7 % 3), 0);
	}
	saved = *zone_fits_learned(&house.books.accountant.fits, 0);
	tear_down_house(&house);
	set_up_house(&house);
	share_by_cycles(&house);
	house.books.accountant.share.may_fit = true;
	house.books.accountant.share.owner_factors = OWNER_FACTORS_TRUSTED;
	zone_fits_restore(&house.books.accountant.fits, 0, &saved, OWNER_FACTORS_TRUSTED);
	for (uint64_t i = 0; i < 2; i++) {
		begin(&house, 2);
		count_all(&house);
		run_alike(&house, 0, 1);
		run_alike(&house, 1, 1);
		end(&house, 26, 0);
	}
	assert_int_equal(house.books.accountant.zones[0].rule, SHARE_FIT);
	/* The total is 26 J; 10 J are idle energy that is not known. */
	assert_in_range(joules(&house, 0, 0), 17, 21);
	zone_fits_restore(&house.books.accountant.fits, 0, &saved,
			  OWNER_FACTORS_TRUSTED); /* newer knowledge stays */
	assert_true(zone_fits_learned(&house.books.accountant.fits, 0)->compared_s >
		    saved.compared_s);
	tear_down_house(&house);
}

/* Zone 0 appears late. Its series turn a settle after their birth, as long as settle is by then. */
static void settling_follows_its_length(uint64_t first_s, uint64_t changed_s, uint64_t turns_s)
{
	struct house house;
	uint64_t counted_s = 0;

	set_up_house(&house);
	accountant_set_settle(&house.books.accountant, first_s * NSEC_PER_SEC);
	house.books.accountant.zones[0].late = true;
	for (uint64_t second = 0; second < 40; second++) {
		begin(&house, 2);
		if (second == 5)
			accountant_set_settle(&house.books.accountant, changed_s * NSEC_PER_SEC);
		if (second == 30) /* what has turned stays so */
			accountant_set_settle(&house.books.accountant, 300 * NSEC_PER_SEC);
		ran(&house, 0, 0, NSEC_PER_SEC);
		end(&house, 1, 0);
		if (!counted_s && ledger_node_value(house.books.ledger, 0, MODE_DYNAMIC) > 0)
			counted_s = second;
	}
	assert_int_equal(counted_s, turns_s);
	assert_int_equal(ledger_node_value(house.books.ledger, 0, MODE_DYNAMIC),
			 (40 - turns_s) * 1000000);
	tear_down_house(&house);
}

static void a_birth_settles_as_long_as_is_needed_now(void **state)
{
	(void)state;
	settling_follows_its_length(10, 10, 10);
	settling_follows_its_length(10, 20, 20);
	settling_follows_its_length(20, 10, 10);
	settling_follows_its_length(20, 2, 5); /* at once */
	settling_follows_its_length(3, 20, 3); /* it had turned before */
}

/* A client that scrapes each 10 s is late: what was due when it should have come is held back. */
static void a_late_scrape_holds_a_birth_back(void **state)
{
	const uint64_t every_ns = 10 * NSEC_PER_SEC;
	struct house house;
	uint64_t shown_ns, counted_s = 0;

	(void)state;
	set_up_house(&house);
	accountant_set_settle(&house.books.accountant, every_ns);
	shown_ns = house.now_ns;
	house.books.accountant.zones[0].late = true;
	for (uint64_t second = 0; second < 40; second++) {
		uint64_t open_ns;

		begin(&house, 2);
		if (second == 25) /* it comes, and is given the snapshot of the second before */
			shown_ns = house.now_ns - NSEC_PER_SEC;
		open_ns = house.now_ns - shown_ns;
		accountant_set_settle(&house.books.accountant,
				      open_ns > every_ns ? open_ns : every_ns);
		ran(&house, 0, 0, NSEC_PER_SEC);
		end(&house, 1, 0);
		if (!counted_s && ledger_node_value(house.books.ledger, 0, MODE_DYNAMIC) > 0)
			counted_s = second;
	}
	assert_int_equal(counted_s, 25);
	tear_down_house(&house);
}

enum luck { READ, FAILED, QUIET, LUCKS };

/* Zone 0 is an estimate, and zone 1 a meter that was found with it, or later. */
static void set_up_takeover(struct house *house, bool late)
{
	set_up_house(house);
	accountant_set_settle(&house->books.accountant, 0);
	house->books.accountant.zone_count = 0;
	house->zones[0].kind = ZONE_PLATFORM;
	house->zones[0].quality = QUALITY_ESTIMATED;
	house->zones[0].rank = RANK_ESTIMATED;
	house->zones[0].source = "guessed";
	for (size_t z = 0; z < 2; z++)
		accountant_adopt(&house->books.accountant, &house->zones[z], &all_dynamic, 0);
	house->books.accountant.zones[1].late = late;
}

/* Each draws 1 W. */
static void take_over_step(struct house *house, bool pass_fails, enum luck meter)
{
	accountant_settle_ranks(&house->books.accountant);
	house->books.status[0].state =
		accountant_needs(&house->books.accountant, 0) ? ZONE_UP : ZONE_ABSENT;
	house->is_quiet[0] = pass_fails;
	house->books.status[1].state = meter == FAILED ? ZONE_ERROR : ZONE_UP;
	house->is_quiet[1] = meter == QUIET;
	begin(house, 2);
	end(house, 1, 1);
}

static uint64_t counted_j(const struct house *house)
{
	return (ledger_node_value(house->books.ledger, 0, MODE_DYNAMIC) +
		ledger_node_value(house->books.ledger, 1, MODE_DYNAMIC)) /
	       1000000;
}

/* Whatever fails, or comes slowly, around a takeover: each second is counted once. */
static void no_second_of_a_takeover_is_counted_twice_or_never(void **state)
{
	enum { STEPS = 5, CASES = 2 * 32 * 243 };

	(void)state;
	for (unsigned number = 0; number < CASES; number++) {
		unsigned fails = number / 2 % 32, lucks = number / 64;
		struct house house;

		set_up_takeover(&house, number % 2);
		take_over_step(&house, false, QUIET); /* the estimate's baseline */
		for (unsigned i = 0; i < STEPS; i++, fails /= 2, lucks /= LUCKS)
			take_over_step(&house, fails % 2, lucks % LUCKS);
		for (unsigned i = 0; i < 3; i++)
			take_over_step(&house, false, READ);
		if (!accountant_has_ended(&house.books.accountant, 0) ||
		    counted_j(&house) != STEPS + 3)
			fail_msg("case %u: %llu J in %d s", number,
				 (unsigned long long)counted_j(&house), STEPS + 3);
		tear_down_house(&house);
	}
}

/*
 * The host of a virtual machine is silent: an estimate counts after a minute, until the host's next
 * report. No second is counted twice, although that report is of all seconds.
 */
static void no_second_of_a_silence_is_counted_twice(void **state)
{
	struct house house;
	uint64_t measured_j, estimated_j;

	(void)state;
	set_up_takeover(&house, false);
	house.zones[1].rank = RANK_SHARE;
	for (unsigned second = 0; second < 5; second++)
		take_over_step(&house, false, READ);
	assert_int_equal(counted_j(&house), 4);
	for (unsigned second = 0; second < 100; second++)
		take_over_step(&house, false, FAILED);
	measured_j = ledger_node_value(house.books.ledger, 1, MODE_DYNAMIC) / 1000000;
	estimated_j = ledger_node_value(house.books.ledger, 0, MODE_DYNAMIC) / 1000000;
	assert_int_equal(measured_j, 4);
	assert_true(estimated_j >= 35 && estimated_j <= 40);
	take_over_step(&house, false, READ);
	assert_int_equal(counted_j(&house), measured_j + estimated_j + 1);
	assert_int_equal(ledger_node_value(house.books.ledger, 1, MODE_DYNAMIC), 4000000);
	for (unsigned second = 0; second < 3; second++)
		take_over_step(&house, false, READ);
	assert_true(accountant_has_ended(&house.books.accountant, 0));
	assert_int_equal(ledger_node_value(house.books.ledger, 1, MODE_DYNAMIC), 7000000);
	tear_down_house(&house);
}

/* A refused reading does not begin an account: the energy measured from it on is not known yet. */
static void a_refused_reading_ends_no_estimate(void **state)
{
	(void)state;
	struct house house;

	set_up_takeover(&house, false);
	take_over_step(&house, false, QUIET);
	house.books.status[1].state = ZONE_REFUSED;
	begin(&house, 2);
	{
		const struct energy_span spans[] = { span_of(&house, 0), span_of(&house, 1) };
		const struct interval interval = { .time_ns = house.now_ns,
						   .status = house.books.status,
						   .spans = spans,
						   .span_count = 2,
						   .parties = &house.books.parties,
						   .devices = &house.books.devices };

		accountant_book(&house.books.accountant, &interval);
		ledger_close(house.books.ledger);
	}
	accountant_settle_ranks(&house.books.accountant);
	assert_false(accountant_has_ended(&house.books.accountant, 0));
	take_over_step(&house, false, READ);
	accountant_settle_ranks(&house.books.accountant);
	assert_true(accountant_has_ended(&house.books.accountant, 0));
	tear_down_house(&house);
}

/*
 * Found one after the other: the zone that counts stays, though the second has all of its energy.
 */
static void what_is_found_later_ends_no_total(void **state)
{
	struct house house = { 0 };

	(void)state;
	for (uint32_t z = 0; z < 2; z++) {
		house.zones[z] =
			(struct zone){ .kind = z ? ZONE_PSYS : ZONE_PACKAGE, .source = "told" };
		accountant_adopt(&house.books.accountant, &house.zones[z], &all_dynamic, 0);
		accountant_choose_total(&house.books.accountant, z);
		house.books.accountant.zones[z].has_begun = true;
	}
	assert_int_equal(house.books.accountant.zones[0].total, 1);
	assert_int_equal(house.books.accountant.zones[1].total, TOTAL_NONE);
	assert_int_equal(house.books.accountant.totals, 1);
	accountant_release(&house.books.accountant);
}

/* Only the total that a restart would count, and nothing else, has missed it. */
static void what_is_found_too_late_has_missed_the_total(void **state)
{
	static const enum zone_kind kinds[] = { ZONE_PLATFORM, ZONE_PACKAGE, ZONE_CORE };
	struct zone zones[ARRAY_SIZE(kinds)];
	struct accountant accountant = { .zone_count = 0 };

	(void)state;
	for (uint32_t z = 0; z < ARRAY_SIZE(kinds); z++) {
		zones[z] = (struct zone){ .kind = kinds[z], .source = "told" };
		accountant_adopt(&accountant, &zones[z], &all_dynamic, 0);
		accountant_choose_total(&accountant, z);
		accountant.zones[0].has_begun = true;
	}
	assert_int_equal(accountant.zones[0].total, 1);
	assert_false(accountant.zones[0].missed_total);
	assert_int_equal(accountant.zones[1].total, TOTAL_NONE);
	assert_true(accountant.zones[1].missed_total);
	assert_false(accountant.zones[2].missed_total); /* it is in the package */
	accountant_release(&accountant);
}

/* The idle energy of memory follows the memory held, there or in all; a package's, the requests. */
static void idle_memory_is_shared_by_held_memory(void **state)
{
	const struct idle_options by_size = { .mode = IDLE_MODE_FIXED,
					      .share = IDLE_SHARE_SIZE,
					      .watts = { { "package", 8 }, { "dram", 8 } },
					      .watts_count = 2 };
	static const uint64_t held[2][2] = { { 2500, 500 }, { 0, 1000 } };
	static const uint64_t uj[2][2] = { { 12000000, 4000000 }, { 5333334, 10666666 } };
	struct ledger *ledger;
	struct house house;

	set_up_house(&house);
	ledger = house.books.ledger;
	house.zones[1].kind = ZONE_DRAM;
	accountant_configure(&house.books.accountant, &by_size, 0);
	assert_int_equal(ledger_bear_idle(ledger), 0);
	for (int interval = 0; interval < 3; interval++) {
		begin(&house, 2);
		parties_know(&house.books.parties, SIGNAL_BIT(SIGNAL_RESIDENT));
		if (*(const bool *)*state)
			parties_know_held(&house.books.parties);
		assert_int_equal(parties_reserve(&house.books.parties, 8), 0);
		for (uint32_t container = 0; container < 2; container++) {
			ran(&house, container, container, 500000000);
			parties_add_signal(&house.books.parties, SIGNAL_RESIDENT,
					   container ? 1000 : 3000);
			if (house.books.parties.knows_held)
				parties_add_held(&house.books.parties, held[container]);
		}
		end(&house, 10, 10);
	}
	for (size_t container = 0; container < 2; container++) {
		const uint64_t *sums =
			ledger_values(ledger, LEVEL_CONTAINER, house.owner[container]);

		assert_int_equal(sums[ledger_column(ledger, 0, MODE_IDLE)], 8000000);
		assert_int_equal(sums[ledger_column(ledger, 1, MODE_IDLE)],
				 uj[house.books.parties.knows_held][container]);
	}
	tear_down_house(&house);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_socket_is_what_ran_there),
		cmocka_unit_test(a_socket_learns_from_what_ran_there),
		cmocka_unit_test(rows_sum_the_sockets_where_zones_are_not_told_apart),
		cmocka_unit_test(idle_energy_waits_for_its_columns),
		cmocka_unit_test(cycles_weigh_what_ran),
		cmocka_unit_test(without_a_cycle_time_weighs),
		cmocka_unit_test(a_regression_is_used_where_it_is_better),
		cmocka_unit_test(what_was_learned_is_used_after_a_restart),
		cmocka_unit_test(what_no_counter_shows_is_learned_of_containers),
		cmocka_unit_test(no_second_of_a_takeover_is_counted_twice_or_never),
		cmocka_unit_test(no_second_of_a_silence_is_counted_twice),
		cmocka_unit_test(a_refused_reading_ends_no_estimate),
		cmocka_unit_test(a_birth_settles_as_long_as_is_needed_now),
		cmocka_unit_test(a_late_scrape_holds_a_birth_back),
		cmocka_unit_test(what_is_found_later_ends_no_total),
		cmocka_unit_test(what_is_found_too_late_has_missed_the_total),
		cmocka_unit_test_prestate(idle_memory_is_shared_by_held_memory, &(bool){ false }),
		cmocka_unit_test_prestate(idle_memory_is_shared_by_held_memory, &(bool){ true }),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

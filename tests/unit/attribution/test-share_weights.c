// SPDX-License-Identifier: Apache-2.0
#include "attribution/share_weights.h"

#include "attribution/attribute.h"
#include "base/num.h"
#include "tests/rig/property.h"
#include "tests/unit/unit.h"

#define COUNTERS                                                                                   \
	(SIGNAL_BIT(SIGNAL_COUNTED_TIME) | SIGNAL_BIT(SIGNAL_PAIRED_TIME) |                        \
	 SIGNAL_BIT(SIGNAL_CPU_CYCLES) | SIGNAL_BIT(SIGNAL_CACHE_MISSES) |                         \
	 SIGNAL_BIT(SIGNAL_INSTRUCTIONS))
#define MS  1000000ULL
#define ALL UINT32_MAX /* no socket: the whole machine */

/* The work of one party; times in ms, the others in millions. */
struct did {
	uint64_t cpu_ms, counted_ms, paired_ms, cycles, misses, instructions;
};

static void begin(struct parties *parties, uint32_t sockets, uint32_t signals)
{
	parties_begin(parties, sockets);
	parties_know(parties, signals);
	assert_int_equal(parties_reserve(parties, 16), 0);
}

static void add(struct parties *parties, const struct did *did)
{
	parties_add(parties, LEDGER_NONE, (uint32_t)parties->count, did->cpu_ms * MS, NULL);
	parties_add_signal(parties, SIGNAL_COUNTED_TIME, did->counted_ms * MS);
	parties_add_signal(parties, SIGNAL_PAIRED_TIME, did->paired_ms * MS);
	parties_add_signal(parties, SIGNAL_CPU_CYCLES, did->cycles * MS);
	parties_add_signal(parties, SIGNAL_CACHE_MISSES, did->misses * MS);
	parties_add_signal(parties, SIGNAL_INSTRUCTIONS, did->instructions * MS);
}

/* The example of docs/attribution.md. */
static const struct did example[] = {
	{ 1000, 1000, 0, 3000, 1, 6000 },
	{ 1000, 1000, 1000, 3000, 9, 600 },
	{ 1000, 1000, 1000, 3000, 2, 3000 },
	{ 400, 200, 0, 400, 0, 400 },
};
#define EXAMPLE_DROPPED_NS (100 * MS)

static void enter_example(struct parties *parties)
{
	begin(parties, 0, COUNTERS);
	for (size_t i = 0; i < ARRAY_SIZE(example); i++)
		add(parties, &example[i]);
}

static void split_example(enum share_rule rule, uint64_t energy_uj, uint64_t weights[static 5],
			  uint64_t parts[static 5])
{
	uint64_t idle[ARRAY_SIZE(example)];
	struct parties parties = { 0 };
	struct share_weights made = { 0 };
	struct split_scratch scratch = { 0 };
	struct attribution_result result = { .parts = { parts, idle } };
	struct attribution_input input = { .energy_uj = energy_uj, .rule = rule };

	enter_example(&parties);
	input.count = parties.count;
	assert_int_equal(share_weights_make(&made, &parties, rule, SHARE_SMT_PPM, ALL,
					    EXAMPLE_DROPPED_NS, 0),
			 0);
	input.dynamic_weights = made.weight;
	input.dropped_weight = made.dropped;
	assert_int_equal(attribute_zone(&input, &result, &scratch), 0);
	for (size_t i = 0; i < ARRAY_SIZE(example); i++)
		weights[i] = made.weight[i];
	weights[4] = made.dropped;
	parts[4] = result.unattributed_uj[MODE_DYNAMIC][UNATTRIBUTED_DROPPED];
	split_scratch_release(&scratch);
	share_weights_release(&made);
	parties_release(&parties);
}

static void the_example_of_the_page_is_right(void **state)
{
	static const struct {
		enum share_rule rule;
		uint64_t energy_uj, weights[5], parts[5];
	} cases[] = {
		{ SHARE_CYCLES_INSTRUCTIONS,
		  30000000,
		  { 7500000000, 1950000000, 3750000000, 1400000000, 434375000 },
		  { 14965703, 3891083, 7482852, 2793598, 866764 } },
		{ SHARE_CYCLES,
		  30000000,
		  { 3000000000, 1725000000, 1725000000, 800000000, 214062500 },
		  { 12057777, 6933222, 6933221, 3215407, 860373 } },
		{ SHARE_CACHE_MISSES,
		  6000000,
		  { 1000000, 9000000, 2000000, 0, 375000 },
		  { 484849, 4363636, 969697, 0, 181818 } },
	};

	for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
		uint64_t weights[5], parts[5], sum_uj = 0;

		split_example(cases[c].rule, cases[c].energy_uj, weights, parts);
		for (size_t i = 0; i < 5; i++) {
			assert_int_equal(weights[i], cases[c].weights[i]);
			assert_int_equal(parts[i], cases[c].parts[i]);
			sum_uj += parts[i];
		}
		assert_int_equal(sum_uj, cases[c].energy_uj);
	}
}

static void pairing_takes_off_what_the_factor_says(void **state)
{
	static const struct did half_paired = { 1000, 1000, 500, 2000, 0, 4000 };
	struct parties parties = { 0 };
	struct share_weights made = { 0 };

	begin(&parties, 0, COUNTERS);
	add(&parties, &half_paired);
	assert_int_equal(share_weights_make(&made, &parties, SHARE_SMT_TIME, 600000, ALL, 0, 0), 0);
	assert_int_equal(made.weight[0], 800 * MS); /* 500 + 0.6 × 500 */
	assert_int_equal(share_weights_make(&made, &parties, SHARE_CYCLES, 600000, ALL, 0, 0), 0);
	assert_int_equal(made.weight[0], 1600 * MS);
	assert_int_equal(share_weights_make(&made, &parties, SHARE_CYCLES, SHARE_PPM, ALL, 0, 0),
			 0);
	assert_int_equal(made.weight[0], 2000 * MS);
	/* With instructions the factor is the rule's own: 1000 + 0.5 × 1000 + 0.75 × 4000. */
	assert_int_equal(
		share_weights_make(&made, &parties, SHARE_CYCLES_INSTRUCTIONS, 600000, ALL, 0, 0),
		0);
	assert_int_equal(made.weight[0], 4500 * MS);
	/* Without pairing each cycle is whole. */
	parties.signals &= ~SIGNAL_BIT(SIGNAL_PAIRED_TIME);
	assert_int_equal(share_weights_make(&made, &parties, SHARE_CYCLES, 600000, ALL, 0, 0), 0);
	assert_int_equal(made.weight[0], 2000 * MS);
	share_weights_release(&made);
	parties_release(&parties);
}

/* A large part that was counted speaks for the rest; for others the mean of all does. */
static void what_was_not_counted_weighs_as_well(void **state)
{
	static const struct did did[] = {
		{ 1000, 1000, 0, 3000, 0, 0 }, { 800, 100, 0, 100, 0, 0 }, /* an eighth: at 1 GHz */
		{ 800, 50, 0, 50, 0, 0 },                                  /* less than that */
		{ 100, 0, 0, 0, 0, 0 },                                    /* nothing */
		{ 100, 200, 0, 900, 0, 0 }, /* more than it ran, by the time of the readings */
	};
	struct parties parties = { 0 };
	struct share_weights made = { 0 };
	uint64_t cycles = 3000 + 100 + 50 + 900, ms = 1000 + 100 + 50 + 100;

	begin(&parties, 0, COUNTERS);
	for (size_t i = 0; i < ARRAY_SIZE(did); i++)
		add(&parties, &did[i]);
	assert_int_equal(share_weights_make(&made, &parties, SHARE_CYCLES, SHARE_SMT_PPM, ALL,
					    10 * MS, 20 * MS),
			 0);
	assert_int_equal(made.weight[0], 3000 * MS);
	assert_int_equal(made.weight[1], 800 * MS);
	assert_int_equal(made.weight[2], 50 * MS + muldiv_u64(cycles * MS, 750, ms));
	assert_int_equal(made.weight[3], muldiv_u64(cycles * MS, 100, ms));
	assert_int_equal(made.weight[4], 900 * MS);
	assert_int_equal(made.dropped, muldiv_u64(cycles * MS, 10, ms));
	assert_int_equal(made.unseen, muldiv_u64(cycles * MS, 20, ms));
	share_weights_release(&made);
	parties_release(&parties);
}

/* Processes of a container share its memory; a process with unknown memory has the mean. */
static void time_is_weighed_by_held_memory(void **state)
{
	const uint64_t mib = 1 << 20;
	struct parties parties = { 0 };
	struct share_weights made = { 0 };

	begin(&parties, 0, SIGNAL_BIT(SIGNAL_RESIDENT));
	parties_add(&parties, LEDGER_NONE, 0, 300 * MS, NULL);
	parties_add(&parties, LEDGER_NONE, 0, 100 * MS, NULL);
	parties_add(&parties, LEDGER_NONE, 2, 400 * MS, NULL);
	parties_add(&parties, LEDGER_NONE, 1, 50 * MS, NULL);
	parties_add(&parties, LEDGER_NONE, 0, 0, NULL); /* the container itself */
	parties_add_signal(&parties, SIGNAL_RESIDENT, 6 * mib);
	parties_add(&parties, LEDGER_NONE, 2, 0, NULL);
	parties_add_signal(&parties, SIGNAL_RESIDENT, 2 * mib);
	assert_int_equal(share_weights_make(&made, &parties, SHARE_RESIDENT_TIME, SHARE_SMT_PPM,
					    ALL, 85 * MS, 0),
			 0);
	assert_int_equal(made.weight[0], 1800 * MS);
	assert_int_equal(made.weight[1], 600 * MS);
	assert_int_equal(made.weight[2], 800 * MS);
	assert_int_equal(made.weight[3], 50 * 4 * MS);
	assert_int_equal(made.weight[4], 0);
	assert_int_equal(made.dropped, 340 * MS);
	share_weights_release(&made);
	parties_release(&parties);
}

/*
 * All ran on the first socket, but what the first container holds is at the second, all but a
 * quarter. Of the second container it is not known: it has the mean, and is where it ran.
 */
static void memory_counts_where_it_is(void **state)
{
	const uint64_t mib = 1 << 20;
	const uint64_t socket_ns[] = { 400 * MS, 0 };
	const uint64_t held[] = { 2 * mib, 6 * mib };
	struct parties parties = { 0 };
	struct share_weights made = { 0 };

	parties_begin(&parties, 2);
	parties_know(&parties, SIGNAL_BIT(SIGNAL_RESIDENT));
	parties_know_held(&parties);
	assert_int_equal(parties_reserve(&parties, 16), 0);
	parties_add(&parties, LEDGER_NONE, 0, 400 * MS, socket_ns);
	parties_add(&parties, LEDGER_NONE, 1, 400 * MS, socket_ns);
	parties_add(&parties, LEDGER_NONE, 0, 0, NULL); /* the container itself */
	parties_add_signal(&parties, SIGNAL_RESIDENT, 8 * mib);
	parties_add_held(&parties, held);
	for (uint32_t place = 0; place < 2; place++) {
		assert_int_equal(share_weights_make(&made, &parties, SHARE_RESIDENT_TIME,
						    SHARE_SMT_PPM, place, 0, 0),
				 0);
		assert_int_equal(made.weight[0], (place ? 6ULL : 2ULL) * 400 * MS);
		assert_int_equal(made.weight[1], place ? 0 : 8 * 400 * MS);
		assert_int_equal(made.weight[2], 0);
	}
	share_weights_release(&made);
	parties_release(&parties);
}

static void a_socket_has_the_part_that_ran_there(void **state)
{
	struct parties parties = { 0 };
	struct share_weights made = { 0 };
	const uint64_t socket_ns[] = { 100 * MS, 300 * MS };
	const uint32_t signals = SIGNAL_BIT(SIGNAL_NET_TX_IRQ) | SIGNAL_BIT(SIGNAL_NET_RX_IRQ);

	begin(&parties, 2, signals);
	parties_add(&parties, LEDGER_NONE, 0, 400 * MS, socket_ns);
	parties_add_signal(&parties, SIGNAL_NET_TX_IRQ, 3000);
	parties_add_signal(&parties, SIGNAL_NET_RX_IRQ, 1000);
	parties_add(&parties, LEDGER_NONE, 1, 0, NULL); /* known by its cgroup alone */
	parties_add_signal(&parties, SIGNAL_NET_RX_IRQ, 800);
	for (uint32_t place = 0; place < 2; place++) {
		assert_int_equal(share_weights_make(&made, &parties, SHARE_NETWORK, SHARE_SMT_PPM,
						    place, 0, 0),
				 0);
		assert_int_equal(made.weight[0], place ? 3000 : 1000);
		assert_int_equal(made.weight[1], place ? 600 : 200);
	}
	share_weights_release(&made);
	parties_release(&parties);
}

static void counters_of_less_than_half_are_not_used(void **state)
{
	static const struct did did[] = { { 1000, 600, 0, 1, 1, 1 }, { 1000, 400, 0, 1, 1, 1 } };
	struct parties parties = { 0 };
	const uint32_t bytes = SIGNAL_BIT(SIGNAL_NET_BYTES);

	begin(&parties, 0, COUNTERS | bytes);
	add(&parties, &did[0]);
	add(&parties, &did[1]);
	assert_int_equal(share_weights_signals(&parties), COUNTERS | bytes);
	parties.signal[SIGNAL_COUNTED_TIME][1]--;
	assert_int_equal(share_weights_signals(&parties), bytes);
	parties_release(&parties);
}

/* Whatever is counted, the weights are there, and their sum fits. */
static const char *weights_fit(struct property_source *source, void *userdata)
{
	struct parties *parties = userdata;
	static struct share_weights made;
	static const enum share_rule rules[] = {
		SHARE_SMT_TIME, SHARE_CYCLES,  SHARE_CYCLES_INSTRUCTIONS, SHARE_INSTRUCTIONS,
		SHARE_RESIDENT, SHARE_NETWORK, SHARE_RESIDENT_TIME
	};
	uint32_t sockets = (uint32_t)draw_below(source, 3);
	size_t count = draw_below(source, 12);
	enum share_rule rule = rules[draw_below(source, ARRAY_SIZE(rules))];
	unsigned __int128 sum;

	begin(parties, sockets, SIGNAL_BIT(SIGNAL_COUNT) - 1);
	if (draw_below(source, 2)) {
		parties_know_held(parties);
		if (parties_reserve(parties, 16) < 0)
			return "no memory";
	}
	for (size_t i = 0; i < count; i++) {
		uint64_t cpu_ns = draw_scaled(source) >> 8;
		const uint64_t socket_ns[] = { cpu_ns / 3, cpu_ns - cpu_ns / 3 };

		parties_add(parties, LEDGER_NONE, (uint32_t)i, cpu_ns, socket_ns);
		for (enum signal signal = 0; signal < SIGNAL_COUNT; signal++)
			parties_add_signal(parties, signal, draw_scaled(source));
		if (parties->knows_held && draw_below(source, 2)) {
			const uint64_t held[] = { draw_scaled(source), draw_scaled(source) };

			parties_add_held(parties, held);
		}
	}
	parties_spread_sockets(parties);
	if (share_weights_make(&made, parties, rule, draw_below(source, SHARE_PPM + 1),
			       (uint32_t)draw_below(source, 3), draw_scaled(source) >> 8,
			       draw_scaled(source) >> 8) < 0)
		return "no memory";
	sum = (unsigned __int128)made.dropped + made.unseen;
	for (size_t i = 0; i < count; i++)
		sum += made.weight[i];
	return sum <= SHARE_WEIGHTS_MAX ? NULL : "more than fits";
}

static void no_amount_is_too_large(void **state)
{
	struct parties parties = { 0 };

	assert_true(property_check("weights fit", weights_fit, &parties, 20000));
	parties_release(&parties);
}

/*
 * 2 J for 1e9 cycles, × the factor of the party; and 6 J for a second that the zone is awake; a
 * party's part of that follows its time alone.
 */
static void learned_power_of_being_awake_is_shared_by_time(void **state)
{
	const struct did did[] = { { 500, 500, 0, 1000, 0, 0 }, { 1500, 1500, 0, 3000, 0, 0 } };
	const struct share_factor factor[] = { { 3, 1 }, { 1, 1 } };
	struct parties parties = { 0 };
	struct share_weights made = {
		.coefficient = { [POWER_FIT_ALONE] = 2, [POWER_FIT_AWAKE] = 6 },
		.awake_ratio = power_fit_work_awake_ratio(2, 1),
		.factor = factor,
	};

	begin(&parties, 0, COUNTERS);
	for (size_t i = 0; i < ARRAY_SIZE(did); i++)
		add(&parties, &did[i]);
	assert_int_equal(share_weights_make(&made, &parties, SHARE_FIT, SHARE_SMT_PPM, ALL, 0, 0),
			 0);
	assert_in_range(made.weight[0], 7499999999, 7500000001); /* nJ: 2 × 3 + 6 / 4 */
	assert_in_range(made.weight[1], 10499999999, 10500000001);
	share_weights_release(&made);
	parties_release(&parties);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(learned_power_of_being_awake_is_shared_by_time),
		cmocka_unit_test(the_example_of_the_page_is_right),
		cmocka_unit_test(pairing_takes_off_what_the_factor_says),
		cmocka_unit_test(what_was_not_counted_weighs_as_well),
		cmocka_unit_test(time_is_weighed_by_held_memory),
		cmocka_unit_test(memory_counts_where_it_is),
		cmocka_unit_test(a_socket_has_the_part_that_ran_there),
		cmocka_unit_test(counters_of_less_than_half_are_not_used),
		cmocka_unit_test(no_amount_is_too_large),
	};

	return unit_run(tests);
}

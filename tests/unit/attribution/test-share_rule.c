// SPDX-License-Identifier: Apache-2.0
#include "attribution/share_rule.h"

#include "tests/unit/unit.h"

#define ALL          (SIGNAL_BIT(SIGNAL_COUNT) - 1)
#define COUNTED      SIGNAL_BIT(SIGNAL_COUNTED_TIME)
#define PAIRED       (COUNTED | SIGNAL_BIT(SIGNAL_PAIRED_TIME))
#define CYCLES       SIGNAL_BIT(SIGNAL_CPU_CYCLES)
#define INSTRUCTIONS SIGNAL_BIT(SIGNAL_INSTRUCTIONS)
#define MISSES       SIGNAL_BIT(SIGNAL_CACHE_MISSES)
#define TRAFFIC      SIGNAL_BIT(SIGNAL_MEMORY_TRAFFIC)
#define FREQUENCY    SIGNAL_BIT(SIGNAL_FREQUENCY_TIME)
#define TX           SIGNAL_BIT(SIGNAL_NET_TX_IRQ)
#define RX           SIGNAL_BIT(SIGNAL_NET_RX_IRQ)

static struct share_options all_auto(void)
{
	struct share_options options = { .smt_ppm = SHARE_SMT_PPM };

	for (size_t kind = 0; kind < ZONE_KIND_COUNT; kind++)
		options.rule[kind] = SHARE_AUTO;
	return options;
}

static void the_best_known_signal_is_used(void **state)
{
	static const struct {
		enum zone_kind kind;
		uint32_t signals;
		enum share_rule want;
	} cases[] = {
		{ ZONE_PACKAGE, ALL, SHARE_CYCLES_INSTRUCTIONS },
		{ ZONE_PACKAGE, CYCLES, SHARE_CYCLES },
		{ ZONE_CORE, ALL & ~INSTRUCTIONS, SHARE_CYCLES },
		{ ZONE_CORE, ALL & ~CYCLES, SHARE_FREQUENCY_TIME },
		{ ZONE_CORE, ALL & ~CYCLES & ~FREQUENCY, SHARE_SMT_TIME },
		{ ZONE_PACKAGE, FREQUENCY, SHARE_FREQUENCY_TIME },
		{ ZONE_PACKAGE, FREQUENCY | CYCLES, SHARE_CYCLES },
		{ ZONE_UNCORE, FREQUENCY | PAIRED, SHARE_FREQUENCY_TIME },
		{ ZONE_DRAM, FREQUENCY, SHARE_CPU_TIME },
		{ ZONE_DRAM, CYCLES | SIGNAL_BIT(SIGNAL_RESIDENT), SHARE_RESIDENT_TIME },
		{ ZONE_PACKAGE, COUNTED, SHARE_CPU_TIME }, /* pairing is not known */
		{ ZONE_PACKAGE, 0, SHARE_CPU_TIME },
		{ ZONE_UNCORE, ALL, SHARE_MEMORY_TRAFFIC },
		{ ZONE_UNCORE, MISSES | CYCLES | INSTRUCTIONS, SHARE_CACHE_MISSES },
		{ ZONE_UNCORE, CYCLES | INSTRUCTIONS,
		  SHARE_CYCLES_INSTRUCTIONS }, /* as the package */
		{ ZONE_UNCORE, CYCLES, SHARE_CYCLES },
		{ ZONE_UNCORE, PAIRED, SHARE_SMT_TIME },
		{ ZONE_DRAM, MISSES | CYCLES, SHARE_CACHE_MISSES },
		{ ZONE_DRAM, ALL, SHARE_MEMORY_TRAFFIC },
		{ ZONE_DRAM, TRAFFIC | CYCLES, SHARE_MEMORY_TRAFFIC },
		{ ZONE_DRAM, CYCLES | PAIRED, SHARE_CPU_TIME }, /* cycles move no memory */
		{ ZONE_PSYS, CYCLES | INSTRUCTIONS, SHARE_CYCLES_INSTRUCTIONS },
		{ ZONE_PLATFORM, ALL, SHARE_CYCLES_INSTRUCTIONS },
		{ ZONE_PLATFORM, PAIRED, SHARE_SMT_TIME },
		{ ZONE_GPU, ALL, SHARE_CPU_TIME },
		{ ZONE_OTHER, ALL, SHARE_CYCLES_INSTRUCTIONS },
	};
	const struct share_options options = all_auto();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(share_rule_choose(&options, cases[i].kind, cases[i].signals),
				 cases[i].want);
}

static void what_is_asked_for_goes_first(void **state)
{
	struct share_options options = all_auto();

	options.rule[ZONE_PLATFORM] = SHARE_NETWORK;
	assert_int_equal(share_rule_choose(&options, ZONE_PLATFORM, ALL), SHARE_NETWORK);
	/* One direction is not the network. */
	assert_int_equal(share_rule_choose(&options, ZONE_PLATFORM, TX | CYCLES), SHARE_CYCLES);
	assert_int_equal(share_rule_choose(&options, ZONE_PLATFORM, TX | RX), SHARE_NETWORK);
	options.rule[ZONE_PLATFORM] = SHARE_CPU_TIME;
	assert_int_equal(share_rule_choose(&options, ZONE_PLATFORM, ALL), SHARE_CPU_TIME);
}

static void lists_end_with_a_signal_that_is_always_known(void **state)
{
	for (enum zone_kind kind = 0; kind < ZONE_KIND_COUNT; kind++) {
		enum share_rule rule = SHARE_AUTO;

		for (uint32_t i = 0; share_rule_in_list(kind, i, &rule); i++)
			assert_true(i < 8);
		assert_int_equal(rule, SHARE_CPU_TIME);
	}
}

/* The factor of the option is of one signal alone; the mix has its own. */
static void pairing_counts_as_the_rule_says(void **state)
{
	assert_int_equal(share_rule_pairing_ppm(SHARE_CYCLES, 600000), 600000);
	assert_int_equal(share_rule_pairing_ppm(SHARE_SMT_TIME, 600000), 600000);
	assert_int_equal(share_rule_pairing_ppm(SHARE_FREQUENCY_TIME, 600000), 600000);
	assert_int_equal(share_rule_pairing_ppm(SHARE_CYCLES_INSTRUCTIONS, 600000), 500000);
	assert_int_equal(share_rule_pairing_ppm(SHARE_INSTRUCTIONS, 600000), SHARE_PPM);
	assert_int_equal(share_rule_pairing_ppm(SHARE_CPU_TIME, 600000), SHARE_PPM);
}

static void each_rule_has_its_words(void **state)
{
	for (enum share_rule rule = 0; rule < SHARE_RULE_COUNT; rule++) {
		for (enum share_rule other = 0; other < rule; other++)
			assert_string_not_equal(share_rule_name(rule), share_rule_name(other));
		assert_true(strlen(share_rule_words(rule)) > 0);
		assert_true(strlen(share_rule_unit(rule)) > 0);
		assert_int_equal(share_rule_has_signals(rule), share_rule_signals(rule) != 0);
	}
	assert_string_equal(share_rule_name(SHARE_AUTO), "auto");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_known_signal_is_used),
		cmocka_unit_test(what_is_asked_for_goes_first),
		cmocka_unit_test(lists_end_with_a_signal_that_is_always_known),
		cmocka_unit_test(pairing_counts_as_the_rule_says),
		cmocka_unit_test(each_rule_has_its_words),
	};

	return unit_run(tests);
}

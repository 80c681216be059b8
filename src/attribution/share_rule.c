// SPDX-License-Identifier: Apache-2.0
#include "attribution/share_rule.h"

#include "base/macro.h"

static const struct {
	const char *name, *unit, *words;
	uint32_t signals;
	bool is_counted; /* its signals are of SIGNAL_COUNTED_TIME */
} rules[SHARE_RULE_COUNT] = {
	[SHARE_CPU_TIME] = { "cpu-time", "ns", "CPU time", 0, false },
	[SHARE_SMT_TIME] = { "smt-time", "ns", "CPU time",
			     SIGNAL_BIT(SIGNAL_COUNTED_TIME) | SIGNAL_BIT(SIGNAL_PAIRED_TIME),
			     true },
	[SHARE_CYCLES] = { "cycles", "cycles", "CPU cycles", SIGNAL_BIT(SIGNAL_CPU_CYCLES), true },
	[SHARE_CYCLES_INSTRUCTIONS] = { "cycles-instructions", "cycle equivalents",
					"CPU cycles and instructions",
					SIGNAL_BIT(SIGNAL_CPU_CYCLES) |
						SIGNAL_BIT(SIGNAL_INSTRUCTIONS),
					true },
	[SHARE_INSTRUCTIONS] = { "instructions", "instructions", "instructions",
				 SIGNAL_BIT(SIGNAL_INSTRUCTIONS), true },
	[SHARE_FREQUENCY_TIME] = { "frequency-time", "cycles", "CPU time times frequency",
				   SIGNAL_BIT(SIGNAL_FREQUENCY_TIME), false },
	[SHARE_CACHE_MISSES] = { "cache-misses", "misses", "misses of the last-level cache",
				 SIGNAL_BIT(SIGNAL_CACHE_MISSES), true },
	[SHARE_MEMORY_TRAFFIC] = { "memory-traffic", "bytes", "memory traffic",
				   SIGNAL_BIT(SIGNAL_MEMORY_TRAFFIC), false },
	[SHARE_RESIDENT] = { "resident", "bytes", "resident memory", SIGNAL_BIT(SIGNAL_RESIDENT),
			     false },
	[SHARE_RESIDENT_TIME] = { "resident-time", "ns × MiB", "CPU time times resident memory",
				  SIGNAL_BIT(SIGNAL_RESIDENT), false },
	[SHARE_NETWORK] = { "network", "softirqs", "network softirqs",
			    SIGNAL_BIT(SIGNAL_NET_TX_IRQ) | SIGNAL_BIT(SIGNAL_NET_RX_IRQ), false },
	[SHARE_BLOCK] = { "block", "bytes", "bytes of block devices",
			  SIGNAL_BIT(SIGNAL_BLOCK_BYTES), false },
	[SHARE_FIT] = { "fit", "nJ", "regression of power on counters",
			SIGNAL_BIT(SIGNAL_COUNTED_TIME), true },
	[SHARE_DEVICE_TIME] = { "device-time", "ns", "time for which each process kept it busy", 0,
				false },
	[SHARE_PARTS] = { "parts", "µJ", "dynamic energy that each used of the parts", 0, false },
};

/* Each ends with SHARE_CPU_TIME, which is 0: what is not named here has that alone. */
#define RULES_MAX 7

static const enum share_rule lists[ZONE_KIND_COUNT][RULES_MAX] = {
	[ZONE_PACKAGE] = { SHARE_CYCLES_INSTRUCTIONS, SHARE_CYCLES, SHARE_FREQUENCY_TIME,
			   SHARE_SMT_TIME },
	[ZONE_CORE] = { SHARE_CYCLES_INSTRUCTIONS, SHARE_CYCLES, SHARE_FREQUENCY_TIME,
			SHARE_SMT_TIME },
	/* The data that the last level of cache and the fabric move; else as the package. */
	[ZONE_UNCORE] = { SHARE_MEMORY_TRAFFIC, SHARE_CACHE_MISSES, SHARE_CYCLES_INSTRUCTIONS,
			  SHARE_CYCLES, SHARE_FREQUENCY_TIME, SHARE_SMT_TIME },
	[ZONE_DRAM] = { SHARE_MEMORY_TRAFFIC, SHARE_CACHE_MISSES, SHARE_RESIDENT_TIME },
	[ZONE_PSYS] = { SHARE_CYCLES_INSTRUCTIONS, SHARE_CYCLES, SHARE_FREQUENCY_TIME,
			SHARE_SMT_TIME },
	[ZONE_PLATFORM] = { SHARE_CYCLES_INSTRUCTIONS, SHARE_CYCLES, SHARE_FREQUENCY_TIME,
			    SHARE_SMT_TIME },
	/* Where it does not follow its parts, because the energy of CPUs is not among them. */
	[ZONE_OTHER] = { SHARE_CYCLES_INSTRUCTIONS, SHARE_CYCLES, SHARE_FREQUENCY_TIME,
			 SHARE_SMT_TIME },
};

const char *share_rule_name(enum share_rule rule)
{
	return rule < SHARE_RULE_COUNT ? rules[rule].name : "auto";
}

const char *share_rule_unit(enum share_rule rule)
{
	return rules[rule].unit;
}

const char *share_rule_words(enum share_rule rule)
{
	return rules[rule].words;
}

uint32_t share_rule_signals(enum share_rule rule)
{
	return rules[rule].signals;
}

bool share_rule_has_signals(enum share_rule rule)
{
	return rules[rule].signals != 0;
}

bool share_rule_is_of_counted_time(enum share_rule rule)
{
	return rules[rule].is_counted;
}

uint64_t share_rule_pairing_ppm(enum share_rule rule, uint64_t smt_ppm)
{
	if (rule == SHARE_CYCLES_INSTRUCTIONS)
		return SHARE_MIX_PAIRED_PPM;
	return rule == SHARE_SMT_TIME || rule == SHARE_CYCLES || rule == SHARE_FREQUENCY_TIME
		       ? smt_ppm
		       : SHARE_PPM;
}

bool share_rule_in_list(enum zone_kind kind, uint32_t index, enum share_rule *ret)
{
	if (index >= RULES_MAX || (index && lists[kind][index - 1] == SHARE_CPU_TIME))
		return false;
	*ret = lists[kind][index];
	return true;
}

static bool is_known(enum share_rule rule, uint32_t signals)
{
	return (rules[rule].signals & ~signals) == 0;
}

enum share_rule share_rule_choose(const struct share_options *options, enum zone_kind kind,
				  uint32_t signals)
{
	enum share_rule rule = options->rule[kind];

	if (rule < SHARE_RULE_COUNT && is_known(rule, signals))
		return rule;
	for (uint32_t i = 0; share_rule_in_list(kind, i, &rule); i++) {
		if (is_known(rule, signals))
			return rule;
	}
	return SHARE_CPU_TIME;
}

// SPDX-License-Identifier: Apache-2.0
#include "profile/sample_clock.h"

#include <stdbool.h>

const char *sample_clock_name(enum sample_clock clock)
{
	static const char *const names[SAMPLE_CLOCKS] = {
		[SAMPLED_BY_TIME] = "time",
		[SAMPLED_BY_INSTRUCTIONS] = "instructions",
		[SAMPLED_BY_MISSES] = "cache misses",
	};

	return names[clock];
}

/* floor(energy × instructions' weight / whole weight), as SHARE_CYCLES_INSTRUCTIONS weighs them. */
static uint64_t instructions_uj(const struct clock_work *work, uint64_t energy_uj)
{
	unsigned __int128 cycles = (unsigned __int128)work->cycles * SHARE_PPM;
	unsigned __int128 instructions =
		(unsigned __int128)work->instructions * SHARE_MIX_INSTRUCTION_PPM;

	/* Both are below 2^84: 2^20 less leaves room for a product of 2^64. */
	cycles >>= 20;
	instructions >>= 20;
	if (!(cycles + instructions))
		return 0;
	return (uint64_t)(instructions * energy_uj / (cycles + instructions));
}

void sample_clock_divide(enum share_rule rule, const struct clock_work *work, uint32_t clocks,
			 uint64_t energy_uj, uint64_t ret[static SAMPLE_CLOCKS])
{
	bool has_instructions = clocks & SAMPLE_CLOCK_BIT(SAMPLED_BY_INSTRUCTIONS);
	bool has_misses = clocks & SAMPLE_CLOCK_BIT(SAMPLED_BY_MISSES);
	enum sample_clock clock = SAMPLED_BY_TIME;

	if (rule == SHARE_CYCLES_INSTRUCTIONS && has_instructions) {
		uint64_t part_uj = instructions_uj(work, energy_uj);

		ret[SAMPLED_BY_INSTRUCTIONS] += part_uj;
		energy_uj -= part_uj;
	} else if (rule == SHARE_INSTRUCTIONS && has_instructions) {
		clock = SAMPLED_BY_INSTRUCTIONS;
	} else if ((rule == SHARE_CACHE_MISSES || rule == SHARE_MEMORY_TRAFFIC) && has_misses) {
		clock = SAMPLED_BY_MISSES;
	}
	ret[clock] += energy_uj;
}

// SPDX-License-Identifier: Apache-2.0
#include "profile/sample_clock.h"

#include "tests/rig/property.h"
#include "tests/unit/unit.h"

#define ALL_CLOCKS ((1U << SAMPLE_CLOCKS) - 1)

static void each_rule_has_its_samples(void **state)
{
	static const struct {
		enum share_rule rule;
		struct clock_work work;
		uint32_t clocks;
		uint64_t expected[SAMPLE_CLOCKS];
	} cases[] = {
		{ SHARE_CPU_TIME, { 0 }, ALL_CLOCKS, { 1000 } },
		{ SHARE_CYCLES, { 5, 5 }, ALL_CLOCKS, { 1000 } },
		{ SHARE_FIT, { 5, 5 }, ALL_CLOCKS, { 1000 } },
		{ SHARE_CACHE_MISSES, { 0 }, ALL_CLOCKS, { [SAMPLED_BY_MISSES] = 1000 } },
		{ SHARE_MEMORY_TRAFFIC, { 0 }, ALL_CLOCKS, { [SAMPLED_BY_MISSES] = 1000 } },
		{ SHARE_INSTRUCTIONS, { 0 }, ALL_CLOCKS, { [SAMPLED_BY_INSTRUCTIONS] = 1000 } },
		/* 600 cycles and 800 instructions of 0.75: 600 to 600. */
		{ SHARE_CYCLES_INSTRUCTIONS,
		  { 600ULL << 40, 800ULL << 40 },
		  ALL_CLOCKS,
		  { 500, 500 } },
		{ SHARE_CYCLES_INSTRUCTIONS, { 0 }, ALL_CLOCKS, { 1000 } },
		/* Without these samples, by time. */
		{ SHARE_CACHE_MISSES, { 0 }, SAMPLE_CLOCK_BIT(SAMPLED_BY_TIME), { 1000 } },
		{ SHARE_INSTRUCTIONS, { 0 }, SAMPLE_CLOCK_BIT(SAMPLED_BY_MISSES), { 1000 } },
		{ SHARE_CYCLES_INSTRUCTIONS, { 1, 9 }, 0, { 1000 } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t parts[SAMPLE_CLOCKS] = { 0 };

		sample_clock_divide(cases[i].rule, &cases[i].work, cases[i].clocks, 1000, parts);
		for (size_t clock = 0; clock < SAMPLE_CLOCKS; clock++)
			assert_true(parts[clock] == cases[i].expected[clock]);
	}
}

static const char *parts_sum(struct property_source *source, void *userdata)
{
	const uint32_t shift = (uint32_t)draw_below(source, 64);
	const uint64_t energy_uj = draw_below(source, UINT64_MAX) >> shift;
	const struct clock_work work = { draw_below(source, UINT64_MAX) >> draw_below(source, 64),
					 draw_below(source, UINT64_MAX) >> draw_below(source, 64) };
	uint64_t parts[SAMPLE_CLOCKS] = { 0 }, sum = 0;

	sample_clock_divide((enum share_rule)draw_below(source, SHARE_RULE_COUNT), &work,
			    (uint32_t)draw_below(source, ALL_CLOCKS + 1), energy_uj, parts);
	for (size_t clock = 0; clock < SAMPLE_CLOCKS; clock++)
		sum += parts[clock];
	return sum == energy_uj ? NULL : "a microjoule is lost";
}

static void random_parts_are_exact(void **state)
{
	assert_true(property_check("parts", parts_sum, NULL, 20000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule_has_its_samples),
		cmocka_unit_test(random_parts_are_exact),
	};

	return unit_run(tests);
}

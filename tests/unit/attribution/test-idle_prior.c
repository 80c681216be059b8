// SPDX-License-Identifier: Apache-2.0
/* The shares are taken from the built-in models for a typical machine. */
#include "attribution/learning/idle_prior.h"

#include "model/component_power.h"
#include "model/platform_power.h"
#include "tests/unit/unit.h"

#define ROUNDING 0.0006

static void assert_share(enum zone_kind kind, size_t level, const struct power_estimate *power)
{
	double share = power->idle_w / (power->idle_w + power->dynamic_w);

	assert_true(fabs(idle_prior_share(kind)[level] - share) < ROUNDING);
}

static void test_shares_come_from_the_models(void **state)
{
	const struct machine_facts typical = { 0 };

	for (size_t level = 0; level < IDLE_SHARE_LEVELS; level++) {
		double x = (double)level / (IDLE_SHARE_LEVELS - 1);
		struct power_estimate platform, part[COMPONENT_COUNT];

		power_model_estimate(&platform_power_model, &typical, x, &platform);
		component_power_estimate(builtin_component_model.weights, &platform_power_model,
					 &typical, x, part);
		assert_share(ZONE_PLATFORM, level, &platform);
		assert_share(ZONE_PSYS, level, &platform);
		assert_share(ZONE_PACKAGE, level, &part[COMPONENT_PACKAGE]);
		assert_share(ZONE_DRAM, level, &part[COMPONENT_DRAM]);
	}
}

static void test_shares_begin_with_all_and_never_rise(void **state)
{
	for (enum zone_kind kind = 0; kind < ZONE_KIND_COUNT; kind++) {
		const double *share = idle_prior_share(kind);

		assert_true(share[0] >= 1 && share[0] <= 1);
		for (size_t level = 1; level < IDLE_SHARE_LEVELS; level++) {
			assert_true(share[level] > 0);
			assert_true(share[level] < share[level - 1]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares_come_from_the_models),
		cmocka_unit_test(test_shares_begin_with_all_and_never_rise),
	};

	return unit_run(tests);
}

// SPDX-License-Identifier: Apache-2.0
#include "attribution/learning/share_bound.h"

#include "../../rig/property.h"
#include "tests/unit/unit.h"

#define OWNERS 12

static void limits_are_odds(void **state)
{
	assert_true(fabs(share_bound_limit(0.5, SHARE_BOUND_ODDS) - 0.625) < 1e-12);
	assert_true(fabs(share_bound_limit(0.001, SHARE_BOUND_ODDS) - 0.001 * 5 / 3) < 1e-5);
	assert_true(fabs(share_bound_limit(0, 8)) < 1e-12 &&
		    fabs(share_bound_limit(1, 8) - 1) < 1e-12);
}

static void what_is_within_its_limits_stays(void **state)
{
	const double learned[] = { 0.5, 0.3, 0.2 }, known[] = { 0.4, 0.4, 0.2 };
	const double limit[] = { 0.5, 0.6, 0.3 };
	double share[3];

	share_bound_apply(learned, known, limit, 3, share);
	assert_memory_equal(share, learned, sizeof(share));
}

/* The first is beyond its limit, and with its part of that the second is as well. */
static void what_is_beyond_goes_to_the_others(void **state)
{
	const double learned[] = { 0.9, 0.08, 0.02, 0 }, known[] = { 0.3, 0.4, 0.2, 0.1 };
	const double limit[] = { 0.55, 0.23, 0.3, 0.2 };
	double share[4];

	share_bound_apply(learned, known, limit, 4, share);
	assert_true(fabs(share[0] - 0.55) < 1e-12 && fabs(share[1] - 0.23) < 1e-12);
	assert_true(fabs(share[2] - (0.02 + 0.2 * 2 / 3)) < 1e-12);
	assert_true(fabs(share[3] - 0.2 / 3) < 1e-12);
}

static const char *shares_are_bounded(struct property_source *source, void *data)
{
	size_t count = 1 + draw_below(source, OWNERS);
	double learned[OWNERS], known[OWNERS], limit[OWNERS], share[OWNERS];
	double odds = 1 + (double)draw_below(source, 100) / 10, sums[2] = { 0 }, sum = 0;

	(void)data;
	for (size_t i = 0; i < count; i++) {
		sums[0] += learned[i] = (double)(1 + draw_below(source, 1000000));
		sums[1] += known[i] = (double)(1 + draw_below(source, 1000));
	}
	for (size_t i = 0; i < count; i++) {
		learned[i] /= sums[0];
		known[i] /= sums[1];
		limit[i] = share_bound_limit(known[i], odds);
	}
	share_bound_apply(learned, known, limit, count, share);
	for (size_t i = 0; i < count; i++) {
		sum += share[i];
		if (share[i] > limit[i] || !(share[i] >= fmin(learned[i], limit[i])))
			return "a share is beyond its limit, or was lowered within it";
	}
	return fabs(sum - 1) < 1e-9 ? NULL : "shares do not add up";
}

static void all_shares_are_bounded_and_complete(void **state)
{
	assert_true(property_check("shares are bounded", shares_are_bounded, NULL, 20000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_are_odds),
		cmocka_unit_test(what_is_within_its_limits_stays),
		cmocka_unit_test(what_is_beyond_goes_to_the_others),
		cmocka_unit_test(all_shares_are_bounded_and_complete),
	};

	return unit_run(tests);
}

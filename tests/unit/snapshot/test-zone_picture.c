// SPDX-License-Identifier: Apache-2.0
#include "snapshot/zone_picture.h"

#include "tests/unit/unit.h"

#define SECOND_NS 1000000000ULL

static struct snapshot_zone picture_of(const struct zone_account *account)
{
	struct snapshot_zone zone;

	zone_picture(account, false, 9 * SECOND_NS, &zone);
	return zone;
}

static void the_age_is_counted_from_the_last_good_reading(void **state)
{
	static const struct zone kind = { .kind = ZONE_DRAM, .source = "told" };
	struct zone_account account = { .zone = &kind, .up_time_ns = 7 * SECOND_NS };

	assert_true(fabs(picture_of(&account).age_s - 2) < 1e-9);
	account.up_time_ns = 0; /* there was none yet */
	assert_true(isnan(picture_of(&account).age_s));
}

static void what_is_not_known_is_not_zero(void **state)
{
	static const struct zone kind = { .kind = ZONE_DRAM, .source = "told" };
	struct zone_account account = { .zone = &kind };
	const struct snapshot_zone unknown = picture_of(&account);

	assert_true(isnan(unknown.idle_estimate_w));
	assert_true(isnan(unknown.delay_s));
	assert_true(isnan(unknown.window_s));
	account.idle_power_uw = 1500000;
	account.delay_ns = 4 * SECOND_NS;
	account.window_ns = SECOND_NS / 2;
	const struct snapshot_zone known = picture_of(&account);

	assert_true(fabs(known.idle_estimate_w - 1.5) < 1e-9);
	assert_true(fabs(known.delay_s - 4) < 1e-9);
	assert_true(fabs(known.window_s - 0.5) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_age_is_counted_from_the_last_good_reading),
		cmocka_unit_test(what_is_not_known_is_not_zero),
	};

	return unit_run(tests);
}

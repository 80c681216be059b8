// SPDX-License-Identifier: Apache-2.0
#include "units/unit_targets.h"

#include "tests/unit/unit.h"

static const struct pod_address pods[] = {
	{ .uid = "u1", .namespace_ = "shop", .name = "a", .address = "10.0.0.1", .selectors = 5 },
	{ .uid = "u2", .namespace_ = "shop", .name = "b", .address = "10.0.0.2", .selectors = 1 },
};

static void test_pods_that_come_and_go(void **state)
{
	CLEANUP(unit_targets_release) struct unit_targets targets = { .count = 0 };

	unit_targets_begin(&targets);
	unit_targets_put_pods(&targets, pods, 2);
	unit_targets_prune(&targets, 7);
	assert_int_equal(targets.count, 3); /* units 0 and 2 of u1, unit 0 of u2 */
	assert_non_null(unit_targets_put(&targets, 1, "shop", "a"));
	unit_targets_begin(&targets);
	unit_targets_put_pods(&targets, pods + 1, 1);
	unit_targets_prune(&targets, 5);
	assert_int_equal(targets.count, 2);
	unit_targets_prune(&targets, 2);
	assert_int_equal(targets.count, 1);
	assert_string_equal(targets.targets[0].pod_id, "u2");
	assert_string_equal(targets.targets[0].address, "10.0.0.2");
}

static void test_failures_pause(void **state)
{
	struct unit_target target = { .unit = 0 };
	unsigned read = 0;

	for (unsigned round = 0; round < 1000; round++) {
		if (!unit_target_is_due(&target))
			continue;
		read++;
		unit_target_fail(&target);
	}
	/* At first at once, then after 1, 3, 7 and 15 rounds. */
	assert_in_range(read, 1000 / (UNIT_PAUSE_MAX + 1), 1000 / (UNIT_PAUSE_MAX + 1) + 4);
	assert_int_equal(unit_series_add(&target.series, 1, 1), 0);
	assert_int_equal(unit_target_end(&target), 0);
	assert_true(unit_target_is_due(&target));
	unit_target_fail(&target);
	assert_true(unit_target_is_due(&target));
	unit_series_release(&target.series);
}

static void test_targets_are_bounded(void **state)
{
	CLEANUP(unit_targets_release) struct unit_targets targets = { .count = 0 };
	char name[POD_NAME_MAX + 2];

	for (unsigned i = 0; i < UNIT_ACCOUNTS_MAX; i++) {
		(void)snprintf(name, sizeof(name), "pod-%u", i);
		assert_non_null(unit_targets_put(&targets, 0, "shop", name));
	}
	assert_null(unit_targets_put(&targets, 0, "shop", "one-more"));
	assert_int_equal(targets.beyond, 1);
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_null(unit_targets_put(&targets, 0, "shop", name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pods_that_come_and_go),
		cmocka_unit_test(test_failures_pause),
		cmocka_unit_test(test_targets_are_bounded),
	};

	return unit_run(tests);
}

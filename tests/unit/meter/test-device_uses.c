// SPDX-License-Identifier: Apache-2.0
#include "meter/device_uses.h"

#include "tests/unit/unit.h"

static void what_is_moved_is_there_once(void **state)
{
	struct device_uses from = { 0 }, to = { 0 };
	const struct device_use some[] = { { 0, 10, 5 }, { 1, 10, 7 } };

	device_uses_add(&from, some, 2);
	device_uses_move(&from, &to);
	device_uses_move(&from, &to);
	assert_int_equal(from.count, 0);
	assert_int_equal(to.count, 2);
	assert_int_equal(to.use[1].device, 1);
	assert_int_equal(to.use[1].busy_ns, 7);
	device_uses_release(&from);
	device_uses_release(&to);
}

/* An interval of an hour has as many uses as one of a second. */
static void readings_of_one_process_are_one_use(void **state)
{
	struct device_uses uses = { 0 };
	const struct device_use some[] = { { 0, 10, 5 }, { 1, 10, 7 }, { 1, 0, 2 } };

	for (size_t i = 0; i < DEVICE_USES_MAX; i++)
		device_uses_add(&uses, some, 3);
	assert_int_equal(uses.count, 3);
	assert_int_equal(uses.use[0].busy_ns, 5 * DEVICE_USES_MAX);
	assert_int_equal(uses.use[1].busy_ns, 7 * DEVICE_USES_MAX);
	assert_int_equal(uses.nameless_ns[0] + uses.nameless_ns[1], 0);
	device_uses_clear(&uses);
	device_uses_add(&uses, some, 1);
	assert_int_equal(uses.count, 1);
	assert_int_equal(uses.use[0].busy_ns, 5);
	device_uses_release(&uses);
}

static void what_says_nothing_is_left_out(void **state)
{
	struct device_uses uses = { 0 };
	const struct device_use some[] = { { 0, 10, 0 }, { DEVICES_MAX, 10, 7 } };

	device_uses_add(&uses, some, 2);
	assert_int_equal(uses.count, 0);
	device_uses_release(&uses);
}

/* Busy or not, and however often that is reported. */
static void what_is_held_is_kept(void **state)
{
	struct device_uses uses = { 0 };
	const struct device_use some[] = { { 0, 10, 4, 0 }, { 0, 10, 0, 7 }, { 0, 11, 0, 3 },
					   { 0, 11, 0, 2 }, { 0, 10, 5, 0 }, { 0, 12, 6, 0 } };

	device_uses_add(&uses, some, 6);
	assert_int_equal(uses.count, 3);
	assert_true(uses.use[0].held == 7 && uses.use[0].busy_ns == 9);
	assert_true(uses.use[1].held == 3 && uses.use[1].busy_ns == 0);
	assert_int_equal(uses.use[2].held, 0);
	device_uses_release(&uses);
}

/* They have no pid here, and are no process without a name. */
static void machines_are_kept_by_uuid(void **state)
{
	struct device_uses uses = { 0 };
	const struct uuid one = { 1, 2 }, other = { 1, 3 };
	const struct device_use some[] = {
		{ .device = 0, .busy_ns = 4, .vm = one },
		{ .device = 0, .busy_ns = 5, .vm = other },
		{ .device = 0, .busy_ns = 6, .vm = one },
		{ .device = 1, .busy_ns = 7, .vm = one },
		{ .device = 0, .busy_ns = 8 },
	};
	/* It would be found where the first one is. */
	const struct device_use made = { .device = 3, .busy_ns = 9, .vm = { 1 ^ 3, 2 } };

	device_uses_add(&uses, some, 5);
	assert_int_equal(uses.count, 4);
	assert_int_equal(uses.use[0].busy_ns, 10);
	assert_int_equal(uses.use[3].busy_ns, 8);
	assert_false(uuid_is_set(&uses.use[3].vm));
	device_uses_add(&uses, &made, 1);
	assert_int_equal(uses.count, 4);
	assert_int_equal(uses.use[0].busy_ns, 10);
	assert_int_equal(uses.nameless_ns[3], 9);
	device_uses_release(&uses);
}

static void the_time_beyond_the_limit_stays_the_device_s(void **state)
{
	struct device_uses uses = { 0 }, to = { 0 };

	for (uint32_t pid = 1; pid <= DEVICE_USES_MAX + 4; pid++)
		device_uses_add(&uses, &(struct device_use){ 2, pid, 3 }, 1);
	assert_int_equal(uses.count, DEVICE_USES_MAX);
	assert_int_equal(uses.nameless_ns[2], 12);
	device_uses_move(&uses, &to);
	assert_int_equal(uses.nameless_ns[2], 0);
	assert_int_equal(to.count, DEVICE_USES_MAX);
	assert_int_equal(to.nameless_ns[2], 12);
	device_uses_release(&uses);
	device_uses_release(&to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_moved_is_there_once),
		cmocka_unit_test(readings_of_one_process_are_one_use),
		cmocka_unit_test(what_says_nothing_is_left_out),
		cmocka_unit_test(what_is_held_is_kept),
		cmocka_unit_test(machines_are_kept_by_uuid),
		cmocka_unit_test(the_time_beyond_the_limit_stays_the_device_s),
	};

	return unit_run(tests);
}

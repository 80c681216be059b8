// SPDX-License-Identifier: Apache-2.0
#include "model/vm_share.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macro.h"

#define MIDDLE (VM_SHARE_LOADS / 2)
#define LAST   (VM_SHARE_LOADS - 1)

static void assert_near(double value, double expected)
{
	assert_true(fabs(value - expected) < 1e-9);
}

static struct vm_share share_of(unsigned vcpus, unsigned host_cpus, struct vm_hints hints)
{
	struct vm_share share;

	vm_share_init(&share, vcpus, host_cpus, &hints);
	return share;
}

static void test_share(void **state)
{
	struct vm_share share = share_of(8, 32, (struct vm_hints){ 0 });

	(void)state;
	assert_near(share.share, 0.25);
	assert_near(share.load_low, 0);
	assert_near(share.load_high, 1);
	share = share_of(8, 32, (struct vm_hints){ 64, 0.2, 0.6 });
	assert_near(share.share, 0.125);
	assert_near(share.load_low, 0.2);
	assert_near(share.load_high, 0.6);
	assert_near(share_of(8, 4, (struct vm_hints){ 0 }).share, 1);
	assert_near(share_of(8, 0, (struct vm_hints){ 0 }).share, 1);
}

/* k is the host's load over the machine's part of it. */
static void test_ratio(void **state)
{
	struct vm_share share = share_of(8, 32, (struct vm_hints){ 0 });

	(void)state;
	assert_near(vm_share_ratio(&share, 0.5, 0), 1); /* it is alone */
	assert_near(vm_share_ratio(&share, 0.5, LAST), (0.25 * 0.5 + 0.75) / (0.25 * 0.5));
	assert_near(vm_share_ratio(&share, 0.5, MIDDLE), (0.25 * 0.5 + 0.375) / (0.25 * 0.5));
	/* The host is as busy as the machine where the neighbours are. */
	share = share_of(8, 32, (struct vm_hints){ 0, 0.5, 0.5 });
	assert_near(vm_share_ratio(&share, 0.5, 3) * 0.25 * 0.5, 0.5);
	share = share_of(32, 32, (struct vm_hints){ 0 });
	assert_near(vm_share_ratio(&share, 0.5, LAST), 1); /* no neighbours */
}

/* Points in any order: the median, and the deviation that 19 of 21 do not exceed. */
static void test_combine(void **state)
{
	struct vm_point points[VM_SHARE_LOADS], both;

	(void)state;
	for (size_t i = 0; i < VM_SHARE_LOADS; i++)
		points[i] = (struct vm_point){ 10 + (double)(i * 8 % VM_SHARE_LOADS), 0 };
	vm_share_combine(points, &both);
	assert_near(both.watts, 20);
	assert_near(both.bound_w, 9);
	for (size_t i = 0; i < VM_SHARE_LOADS; i++)
		points[i].bound_w = 12;
	vm_share_combine(points, &both);
	assert_near(both.bound_w, 15);
	points[MIDDLE].bound_w = (double)NAN;
	vm_share_combine(points, &both);
	assert_true(isnan(both.bound_w));
}

/* A straight line costs the same whatever the neighbours do. */
static void test_no_spread_on_a_line(void **state)
{
	struct vm_share share = share_of(4, 64, (struct vm_hints){ 0 });
	struct vm_point points[VM_SHARE_LOADS], both;

	(void)state;
	for (size_t i = 0; i < VM_SHARE_LOADS; i++) {
		double ratio = vm_share_ratio(&share, 0.3, i);

		points[i] = (struct vm_point){ 400 * share.share * 0.3 * ratio / ratio, 0 };
	}
	vm_share_combine(points, &both);
	assert_near(both.watts, 400 * 4.0 / 64 * 0.3);
	assert_near(both.bound_w, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_ratio),
		cmocka_unit_test(test_combine),
		cmocka_unit_test(test_no_spread_on_a_line),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

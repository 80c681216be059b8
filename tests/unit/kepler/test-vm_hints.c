// SPDX-License-Identifier: Apache-2.0
#include "kepler/vm_hints.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"

static void test_loads_that_are_refused(void **state)
{
	static const char *const refused[] = {
		"",         "x",     "0.5-",      "-0.5",
		"0.6-0.2",  "0-1.5", "50-60",     "0-0",
		"0.2-0.3-", "nan",   "0.2 - 0.3", "0.00000000000000000000000000000000001"
	};
	struct diag diag;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		if (vm_hints_check_load(refused[i], &diag) != -EINVAL)
			fail_msg("\"%s\" was accepted", refused[i]);
		assert_non_null(strstr(diag.text, "as in 0.2-0.6"));
	}
	assert_int_equal(vm_hints_check_load("0-1", &diag), 0);
	assert_int_equal(vm_hints_check_load("0.25", &diag), 0);
	assert_int_equal(vm_hints_check_load("0", &diag), 0);
}

static struct host_info apply(bool is_vm, char *load, char *processor)
{
	const struct vm_options options = { processor, load, 96 };
	struct host_info host = { .is_vm = is_vm, .cpu_year = 2012, .cpu_model = "QEMU" };

	vm_hints_apply(&options, &host);
	return host;
}

static void test_hints_of_a_virtual_machine(void **state)
{
	char range[] = "0.2-0.6", one[] = "0.95", none[] = "", name[] = "AMD EPYC 7763";
	struct host_info host = apply(true, range, name);

	(void)state;
	assert_int_equal(host.vm_host_cpus, 96);
	assert_true(fabs(host.vm_load_low - 0.2) < 1e-9 && fabs(host.vm_load_high - 0.6) < 1e-9);
	assert_string_equal(host.cpu_model, "AMD EPYC 7763");
	assert_string_equal(host.cpu_vendor, "AuthenticAMD");
	assert_int_equal(host.cpu_year, 0);
	host = apply(true, one, none);
	assert_true(fabs(host.vm_load_low - 0.85) < 1e-9 && fabs(host.vm_load_high - 1) < 1e-9);
	assert_string_equal(host.cpu_model, "QEMU");
	assert_int_equal(host.cpu_year, 2012);
}

static void test_no_hints_elsewhere(void **state)
{
	char range[] = "0.2-0.6", name[] = "AMD EPYC 7763";
	struct host_info host = apply(false, range, name);

	(void)state;
	assert_int_equal(host.vm_host_cpus, 0);
	assert_true(!(host.vm_load_high > 0));
	assert_string_equal(host.cpu_model, "QEMU");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loads_that_are_refused),
		cmocka_unit_test(test_hints_of_a_virtual_machine),
		cmocka_unit_test(test_no_hints_elsewhere),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

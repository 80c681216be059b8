// SPDX-License-Identifier: Apache-2.0
#include "config/vm_hints.h"

#include "tests/unit/unit.h"

static void test_loads_that_are_refused(void **state)
{
	static const char *const refused[] = {
		"",         "x",     "0.5-",      "-0.5",
		"0.6-0.2",  "0-1.5", "50-60",     "0-0",
		"0.2-0.3-", "nan",   "0.2 - 0.3", "0.00000000000000000000000000000000001"
	};
	struct diag diag;

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

	assert_int_equal(host.vm_host_cpus, 0);
	assert_true(!(host.vm_load_high > 0));
	assert_string_equal(host.cpu_model, "QEMU");
}

/* A guest of EC2, as it sees itself. */
static struct host_info guest_of_type(const char *type, const char *cpu_model)
{
	struct host_info host = {
		.is_vm = true, .cpus = 8, .cpu_year = 2023, .dmi_vendor = "Amazon EC2"
	};

	(void)snprintf(host.dmi_product, sizeof(host.dmi_product), "%s", type);
	(void)snprintf(host.cpu_model, sizeof(host.cpu_model), "%s", cpu_model);
	return host;
}

static void test_an_instance_type_is_a_hint(void **state)
{
	char none[] = "", load[] = "0-1";
	const struct vm_options options = { none, load, 0 };
	struct host_info host = guest_of_type("m7i.2xlarge", "Intel(R) Xeon(R) Processor");

	vm_hints_apply(&options, &host);
	assert_int_equal(host.vm_host_cpus, 192);
	assert_int_equal(host.vm_host_cores, 96);
	assert_int_equal(host.vm_host_sockets, 2);
	assert_non_null(strstr(host.cpu_model, "8488C"));
	assert_int_equal(host.cpu_year, 2023);
	assert_true(host.vm_cpus_by_type && host.vm_cpu_by_type);
	host = guest_of_type("m7i.2xlarge", "Intel(R) Xeon(R) Platinum 8488C");
	vm_hints_apply(&options, &host);
	assert_true(host.vm_cpus_by_type && !host.vm_cpu_by_type); /* the name is its own */
	assert_string_equal(host.cpu_model, "Intel(R) Xeon(R) Platinum 8488C");
	host = guest_of_type("t3.2xlarge", "Intel(R) Xeon(R) Processor");
	vm_hints_apply(&options, &host);
	assert_int_equal(host.vm_host_cpus, 0);
	assert_string_equal(host.cpu_model, "Intel(R) Xeon(R) Processor");
	assert_true(!host.vm_cpus_by_type && !host.vm_cpu_by_type);
}

/* The user's statement takes precedence, also if it means that the type's host is another one. */
static void test_options_override_the_instance_type(void **state)
{
	char none[] = "", load[] = "0-1", name[] = "Intel(R) Xeon(R) Gold 6330";
	struct vm_options options = { none, load, 64 };
	struct host_info host = guest_of_type("m7i.2xlarge", "Intel(R) Xeon(R) Processor");

	vm_hints_apply(&options, &host);
	assert_int_equal(host.vm_host_cpus, 64);
	assert_int_equal(host.vm_host_cores, 0);
	assert_true(!host.vm_cpus_by_type && host.vm_cpu_by_type);
	options = (struct vm_options){ name, load, 0 };
	host = guest_of_type("m7i.2xlarge", "Intel(R) Xeon(R) Processor");
	vm_hints_apply(&options, &host);
	assert_int_equal(host.vm_host_cpus, 0);
	assert_string_equal(host.cpu_model, name);
	assert_true(!host.vm_cpus_by_type && !host.vm_cpu_by_type);
	host = guest_of_type("m7i.2xlarge", "Intel(R) Xeon(R) Processor");
	host.is_vm = false;
	vm_hints_apply(&options, &host);
	assert_int_equal(host.vm_host_cpus, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loads_that_are_refused),
		cmocka_unit_test(test_hints_of_a_virtual_machine),
		cmocka_unit_test(test_no_hints_elsewhere),
		cmocka_unit_test(test_an_instance_type_is_a_hint),
		cmocka_unit_test(test_options_override_the_instance_type),
	};

	return unit_run(tests);
}

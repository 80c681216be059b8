// SPDX-License-Identifier: Apache-2.0
#include "host/hypervisor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"

static void test_known_machines(void **state)
{
	static const struct {
		struct hypervisor_clues clues;
		const char *name; /* NULL: real */
	} cases[] = {
		{ { .cpu_flag_exists = true }, NULL },
		{ { .cpu_flag_exists = true, .sys_vendor = "Dell Inc.", .product = "R740" }, NULL },
		{ { .cpu_flag = true, .cpu_flag_exists = true }, "unknown" },
		{ { .cpu_flag = true, .cpu_flag_exists = true, .acpi_oem = "FIRECK" },
		  "firecracker" },
		{ { .cpu_flag = true, .sys_vendor = "QEMU", .product = "Standard PC" }, "qemu" },
		{ { .cpu_flag = true, .sys_vendor = "VMware, Inc." }, "vmware" },
		{ { .cpu_flag = true,
		    .sys_vendor = "Microsoft Corporation",
		    .product = "Virtual Machine" },
		  "microsoft" },
		{ { .cpu_flag_exists = true,
		    .sys_vendor = "Microsoft Corporation",
		    .product = "Surface" },
		  NULL },
		{ { .cpu_flag_exists = true,
		    .sys_vendor = "innotek GmbH",
		    .product = "VirtualBox" },
		  "virtualbox" },
		{ { .cpu_flag = true,
		    .cpu_flag_exists = true,
		    .sys_vendor = "Amazon EC2",
		    .product = "m5.large" },
		  "amazon" },
		{ { .cpu_flag_exists = true, .sys_vendor = "Amazon EC2", .product = "m5.metal" },
		  NULL },
		{ { .sys_vendor = "Amazon EC2", .product = "m6g.large" }, "amazon" },
		{ { .sys_vendor = "Amazon EC2", .product = "m6g.metal" }, NULL },
		{ { .device_tree = "linux,kvm" }, "kvm" },
		{ { .xen_type = "xen", .cpu_flag = true }, "xen" },
		{ { .xen_type = "xen", .cpu_flag = true, .xen_dom0 = true }, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *name = hypervisor_name(&cases[i].clues);

		if ((name == NULL) != (cases[i].name == NULL) ||
		    (name && strcmp(name, cases[i].name) != 0))
			fail_msg("case %zu: %s instead of %s", i, name ? name : "real",
				 cases[i].name ? cases[i].name : "real");
	}
}

static void test_trees_without_clues(void **state)
{
	struct hypervisor_clues clues, none = { 0 };

	(void)state;
	hypervisor_clues_read("/nonexistent", "/nonexistent", &clues);
	assert_memory_equal(&clues, &none, sizeof(none));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_machines),
		cmocka_unit_test(test_trees_without_clues),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

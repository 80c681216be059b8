// SPDX-License-Identifier: Apache-2.0
#include "host/hypervisor.h"

#include <sys/stat.h>

#include "tests/rig/remove_tree.h"
#include "tests/unit/unit.h"

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
		{ { .sys_vendor = "Hetzner", .product = "vServer" }, "kvm" },
		{ { .sys_vendor = "Apple Inc.",
		    .product = "Apple Virtualization Generic Platform" },
		  "apple" },
		{ { .sys_vendor = "Nobody", .product = "Known" }, NULL },
		{ { .sys_vendor = "Nobody", .product = "Known", .firmware_flag = true },
		  "unknown" },
		{ { .sys_vendor = "Amazon EC2", .product = "m6g.metal", .firmware_flag = true },
		  "amazon" },
		{ { .firmware_flag = true, .xen_dom0 = true }, NULL },
		{ { .xen_type = "xen", .cpu_flag = true }, "xen" },
		{ { .xen_type = "xen", .cpu_flag = true, .xen_dom0 = true }, NULL },
	};

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

	hypervisor_clues_read("/nonexistent", "/nonexistent", &clues);
	assert_memory_equal(&clues, &none, sizeof(none));
}

/* The firmware's bit, in a tree as /sys has it (DMTF DSP0134, structure type 0). */
static void test_the_firmware_may_say_it(void **state)
{
	const unsigned char good[0x18] = { 0, 0x18, [0x13] = 0x1c };
	static const struct {
		unsigned char type, length, extension;
		size_t size;
		bool virtual;
	} cases[] = {
		{ 0, 0x18, 0x1c, 0x18, true },  { 0, 0x18, 0x0c, 0x18, false },
		{ 1, 0x18, 0x1c, 0x18, false }, { 0, 0x12, 0x1c, 0x18, false },
		{ 0, 0x18, 0x1c, 0x13, false }, { 0, 0x18, 0x1c, 0, false },
	};
	char root[] = "/tmp/kepler-smbios-XXXXXX", path[128];
	struct hypervisor_clues clues;

	assert_non_null(mkdtemp(root));
	(void)snprintf(path, sizeof(path), "%s/firmware/dmi/entries/0-0", root);
	for (char *slash = path + sizeof(root); (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		assert_int_equal(mkdir(path, 0700), 0);
	}
	assert_int_equal(mkdir(path, 0700), 0);
	(void)snprintf(path, sizeof(path), "%s/firmware/dmi/entries/0-0/raw", root);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		unsigned char bios[sizeof(good)];
		FILE *file = fopen(path, "we");

		memcpy(bios, good, sizeof(good));
		bios[0] = cases[i].type;
		bios[1] = cases[i].length;
		bios[0x13] = cases[i].extension;
		assert_non_null(file);
		assert_int_equal(fwrite(bios, 1, cases[i].size, file), cases[i].size);
		assert_int_equal(fclose(file), 0);
		hypervisor_clues_read("/nonexistent", root, &clues);
		assert_int_equal(clues.firmware_flag, cases[i].virtual);
	}
	assert_int_equal(remove_tree(root), 0);
}

/* The features of the CPU, in a tree as /sys has it. */
static void test_registers_by_the_tree(void **state)
{
	static const struct {
		const char *text; /* NULL: there is no file */
		bool xen_dom0, virtual;
	} cases[] = {
		{ NULL, false, false },
		{ "cpu:type:x86,ven0000fam0006mod008F:feature:,0000,009F\n", false, true },
		{ "cpu:type:x86,ven0000fam0006mod008F:feature:,009F,00C0\n", false, true },
		{ "cpu:type:x86,ven0000fam0006mod008F:feature:,009E,00A0\n", false, false },
		{ "cpu:type:x86,ven0000fam0006mod009F:feature:,0000\n", false, false },
		{ "cpu:type:x86,ven0000fam0006mod008F:feature:,009F\n", true, false },
		{ "cpu:type:aarch64:feature:,0000,009F\n", false, false },
	};
	char root[] = "/tmp/kepler-modalias-XXXXXX", folder[128], path[192];
	struct hypervisor_clues clues;

	assert_non_null(mkdtemp(root));
	(void)snprintf(folder, sizeof(folder), "%s/devices/system/cpu", root);
	for (char *slash = folder + sizeof(root); (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		assert_int_equal(mkdir(folder, 0700), 0);
	}
	assert_int_equal(mkdir(folder, 0700), 0);
	(void)snprintf(path, sizeof(path), "%s/modalias", folder);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		FILE *file = cases[i].text ? fopen(path, "we") : NULL;

		if (file) {
			assert_true(fputs(cases[i].text, file) >= 0);
			assert_int_equal(fclose(file), 0);
		}
		hypervisor_clues_read("/nonexistent", root, &clues);
		clues.xen_dom0 = cases[i].xen_dom0;
		if (hypervisor_makes_registers(&clues) != cases[i].virtual)
			fail_msg("case %zu", i);
	}
	assert_int_equal(remove_tree(root), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_machines),
		cmocka_unit_test(test_the_firmware_may_say_it),
		cmocka_unit_test(test_registers_by_the_tree),
		cmocka_unit_test(test_trees_without_clues),
	};

	return unit_run(tests);
}

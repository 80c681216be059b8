// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/host.h"
#include "tests/unit/unit.h"
#include "tree.h"

static int read_info(struct host_info *ret)
{
	char procfs[64], sysfs[64];

	(void)snprintf(procfs, sizeof(procfs), "%s/proc", root);
	(void)snprintf(sysfs, sizeof(sysfs), "%s/sys", root);
	return host_info_read(procfs, sysfs, ret);
}

static void test_full_tree(void **state)
{
	struct host_info info;

	put("proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\n"
			    "model\t\t: 1\nmodel name\t: AMD EPYC 7763 64-Core Processor\n"
			    "stepping\t: 1\ncpu MHz\t\t: 1500.000\nflags\t\t: fpu\n");
	put("proc/meminfo", "MemTotal:       268435456 kB\nMemFree: 1 kB\n");
	put("sys/devices/system/cpu/online", "0-1\n");
	put("sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
	put("sys/devices/system/cpu/cpu0/topology/core_id", "0\n");
	put("sys/devices/system/cpu/cpu1/topology/physical_package_id", "1\n");
	put("sys/devices/system/cpu/cpu1/topology/core_id", "0\n");
	put("sys/devices/system/cpu/cpu0/acpi_cppc/nominal_freq", "2450\n");
	assert_int_equal(read_info(&info), 0);
	assert_string_equal(info.cpu_vendor, "AuthenticAMD");
	assert_string_equal(info.cpu_model, "AMD EPYC 7763 64-Core Processor");
	assert_string_equal(info.cpu_architecture, "Zen 3");
	assert_int_equal(info.cpu_year, 2021);
	assert_int_equal(info.cpus, 2);
	assert_int_equal(info.cores, 2);
	assert_int_equal(info.sockets, 2);
	assert_true(fabs(info.frequency_ghz - 2.45) < 1e-9);
	assert_true(fabs(info.memory_gib - 256) < 1e-9);
	assert_true(strlen(info.kernel) > 0 && strlen(info.machine) > 0);
}

/* The current frequency is not a fact of the machine: two starts give the same. */
static void test_the_nominal_frequency_is_not_that_of_the_moment(void **state)
{
	static const char cpuinfo[] = "processor: 0\nmodel name: %s\ncpu MHz: 3350.000\n";
	struct host_info info;
	char text[256];

	(void)snprintf(text, sizeof(text), cpuinfo, "AMD EPYC 7702 64-Core Processor");
	put("proc/cpuinfo", text);
	assert_int_equal(read_info(&info), 0);
	assert_true(fabs(info.frequency_ghz - 2) < 1e-9);
	(void)snprintf(text, sizeof(text), cpuinfo, "X");
	put("proc/cpuinfo", text);
	assert_int_equal(read_info(&info), 0);
	assert_true(info.frequency_ghz <= 0); /* nothing says it */
	put("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3700000\n");
	put("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "amd-pstate-epp\n");
	assert_int_equal(read_info(&info), 0);
	assert_true(info.frequency_ghz <= 0); /* that is a boost's */
	put("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "cppc_cpufreq\n");
	assert_int_equal(read_info(&info), 0);
	assert_true(fabs(info.frequency_ghz - 3.7) < 1e-9);
	put("sys/devices/system/cpu/cpu0/cpufreq/base_frequency", "2900000\n");
	assert_int_equal(read_info(&info), 0);
	assert_true(fabs(info.frequency_ghz - 2.9) < 1e-9);
}

/*
 * --host.sysfs may hold nothing but powercap: topology then comes from cpuinfo, the rest is
 * unknown.
 */
static void test_tree_with_nothing_but_cpuinfo(void **state)
{
	struct host_info info;

	put("proc/cpuinfo", "processor: 0\nphysical id: 0\ncore id: 0\nmodel name: X @ 3.00GHz\n"
			    "processor: 1\nphysical id: 0\ncore id: 1\n");
	assert_int_equal(read_info(&info), 0);
	assert_int_equal(info.cpus, 2);
	assert_int_equal(info.cores, 2);
	assert_int_equal(info.sockets, 1);
	assert_true(fabs(info.frequency_ghz - 3) < 1e-9);
	assert_string_equal(info.cpu_architecture, "unknown");
	assert_int_equal(info.cpu_year, 0);
	assert_true(info.memory_gib <= 0);
}

static void test_virtual_machine_by_flag_and_table(void **state)
{
	struct host_info info;

	put("proc/cpuinfo", "processor: 0\nflags: fpu hypervisor\n");
	put("sys/firmware/acpi/tables/DSDT", "DSDT....xxFIRECKFCVMDSDT");
	assert_int_equal(read_info(&info), 0);
	assert_true(info.is_vm);
	assert_string_equal(info.hypervisor, "firecracker");
}

static void test_unreadable_proc_is_an_error(void **state)
{
	struct host_info info = { .cpus = 77 };

	assert_int_equal(read_info(&info), -ENOENT);
	assert_int_equal(info.cpus, 77);
}

static void test_empty_proc_is_unknown_not_failure(void **state)
{
	struct host_info info;

	put("proc/x", "");
	assert_int_equal(read_info(&info), 0);
	assert_int_equal(info.cpus, 0);
	assert_false(info.is_vm);
}

static void test_node_name_from_environment(void **state)
{
	struct host_info info;

	put("proc/x", "");
	assert_int_equal(setenv("NODE_NAME", "second", 1), 0);
	assert_int_equal(read_info(&info), 0);
	assert_string_equal(info.node_name, "second");
	assert_int_equal(setenv("KEPLER_NODE_NAME", "first", 1), 0);
	assert_int_equal(read_info(&info), 0);
	assert_string_equal(info.node_name, "first");
	assert_int_equal(unsetenv("KEPLER_NODE_NAME"), 0);
	assert_int_equal(unsetenv("NODE_NAME"), 0);
	assert_int_equal(read_info(&info), 0);
	assert_true(strlen(info.node_name) > 0);
}

static void test_this_machine(void **state)
{
	struct host_info info;

	assert_int_equal(host_info_read("/proc", "/sys", &info), 0);
	assert_true(info.cpus > 0);
	assert_true(info.memory_gib > 0);
	print_message("# %s, %s (%s, %s, %u), %u CPUs %u cores %u sockets, VM %s\n", info.node_name,
		      info.cpu_model, info.cpu_vendor, info.cpu_architecture, info.cpu_year,
		      info.cpus, info.cores, info.sockets, info.is_vm ? info.hypervisor : "no");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TREE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		TREE_TEST(test_full_tree),
		TREE_TEST(test_tree_with_nothing_but_cpuinfo),
		TREE_TEST(test_virtual_machine_by_flag_and_table),
		TREE_TEST(test_unreadable_proc_is_an_error),
		TREE_TEST(test_empty_proc_is_unknown_not_failure),
		TREE_TEST(test_node_name_from_environment),
		TREE_TEST(test_the_nominal_frequency_is_not_that_of_the_moment),
		cmocka_unit_test(test_this_machine),
	};

	return unit_run(tests);
}

// SPDX-License-Identifier: Apache-2.0
#include "host/cpuinfo.h"

#include "base/strbuf.h"
#include "tests/unit/unit.h"

static void test_x86_with_two_sockets_and_threads(void **state)
{
	char text[16384];
	size_t len = 0;
	struct cpuinfo info;

	(void)state; /* 2 sockets × 2 cores × 2 threads; core ids with a gap, as real ones */
	for (unsigned cpu = 0; cpu < 8; cpu++)
		len += (size_t)snprintf(
			text + len, sizeof(text) - len,
			"processor\t: %u\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: "
			"85\n"
			"model name\t: Intel(R) Xeon(R) Gold 6140 CPU @ 2.30GHz\nstepping\t: 4\n"
			"cpu MHz\t\t: %u.125\nphysical id\t: %u\nsiblings\t: 4\ncore id\t\t: %u\n"
			"flags\t\t: fpu vme hypervisor_like de\n\n",
			cpu, 1000 + cpu, cpu / 4, (cpu / 2) % 2 * 8);
	assert_int_equal(cpuinfo_parse(text, &info), 0);
	assert_string_equal(info.vendor, "GenuineIntel");
	assert_string_equal(info.model, "Intel(R) Xeon(R) Gold 6140 CPU @ 2.30GHz");
	assert_int_equal(info.family, 6);
	assert_int_equal(info.model_number, 85);
	assert_int_equal(info.stepping, 4);
	assert_int_equal(info.cpus, 8);
	assert_int_equal(info.cores, 4);
	assert_int_equal(info.sockets, 2);
	assert_false(info.hypervisor); /* only the whole word counts */
}

static void test_virtual_machine(void **state)
{
	struct cpuinfo info;

	assert_int_equal(cpuinfo_parse("processor\t: 0\nvendor_id\t: AuthenticAMD\n"
				       "model name\t: AMD EPYC\nflags\t\t: fpu x2apic hypervisor\n",
				       &info),
			 0);
	assert_true(info.hypervisor);
	assert_int_equal(info.cpus, 1);
	assert_int_equal(info.cores, 0); /* not said */
	assert_int_equal(info.sockets, 0);
}

static void test_arm64_numbers(void **state)
{
	struct cpuinfo info;

	assert_int_equal(
		cpuinfo_parse("processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd\n"
			      "CPU implementer\t: 0x41\nCPU architecture: 8\n"
			      "CPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n\n"
			      "processor\t: 1\nCPU implementer\t: 0x48\n",
			      &info),
		0);
	assert_string_equal(info.vendor, "ARM");
	assert_int_equal(info.family, 0x41);
	assert_int_equal(info.model_number, 0xd0c);
	assert_int_equal(info.stepping, 3);
	assert_int_equal(info.cpus, 2);
}

/* The numbers of all CPUs first, each with a key of its own, and then each CPU. */
static void test_s390x(void **state)
{
	static const char text[] =
		"vendor_id       : IBM/S390\n"
		"# processors    : 3\n"
		"bogomips per cpu: 3241.00\n"
		"processor 0: version = FF,  identification = 0133E8,  machine = 8561\n"
		"processor 1: version = FF,  identification = 0133E8,  machine = 8561\n"
		"processor 2: version = FF,  identification = 0133E8,  machine = 8561\n"
		"\n"
		"cpu number      : 0\nphysical id     : 1\ncore id         : 4\n"
		"cpu MHz dynamic : 5200\n\n"
		"cpu number      : 1\nphysical id     : 1\ncore id         : 4\n\n"
		"cpu number      : 2\nphysical id     : 2\ncore id         : 4\n";
	struct cpuinfo_cpu *cpus;
	struct cpuinfo info;
	size_t count;

	assert_int_equal(cpuinfo_parse(text, &info), 0);
	assert_int_equal(info.cpus, 3);
	assert_int_equal(info.cores, 2);
	assert_int_equal(info.sockets, 2);
	assert_int_equal(cpuinfo_list(text, &cpus, &count), 0);
	assert_int_equal(count, 3);
	assert_int_equal(cpus[2].processor, 2);
	assert_int_equal(cpus[2].package, 2);
	free(cpus);
}

static void test_hostile_text(void **state)
{
	char *big = malloc(100001);
	struct cpuinfo info;

	assert_non_null(big);
	assert_int_equal(cpuinfo_parse("", &info), 0);
	assert_int_equal(info.cpus, 0);
	assert_int_equal(
		cpuinfo_parse(":\n::\n\n\t:\t\nmodel name:\nmodel:-1\ncpu family: 99999999999\n"
			      "stepping: 0xzz\ncpu MHz: 1e999\nphysical id: 4294967296\n",
			      &info),
		0);
	assert_int_equal(info.family, 0);
	assert_int_equal(info.model_number, 0);
	memset(big, 'x', 100000);
	big[100000] = '\0';
	memcpy(big, "model name: ", 12);
	assert_int_equal(cpuinfo_parse(big, &info), 0);
	assert_int_equal(strlen(info.model), sizeof(info.model) - 1);
	free(big);
}

static void test_each_cpu_is_listed(void **state)
{
	struct cpuinfo_cpu *cpus;
	size_t count;

	assert_int_equal(cpuinfo_list("physical id: 9\nprocessor\t: 0\nphysical id\t: 1\n"
				      "core id\t\t: 7\n\nprocessor\t: 12\ncore id: x\n",
				      &cpus, &count),
			 0);
	assert_int_equal(count, 2);
	assert_int_equal(cpus[0].processor, 0);
	assert_int_equal(cpus[0].package, 1);
	assert_int_equal(cpus[0].core, 7);
	assert_int_equal(cpus[1].processor, 12);
	assert_int_equal(cpus[1].package, CPU_NUMBER_NONE);
	assert_int_equal(cpus[1].core, CPU_NUMBER_NONE);
	free(cpus);
	assert_int_equal(cpuinfo_list("", &cpus, &count), 0);
	assert_int_equal(count, 0);
	free(cpus);
}

/* Entries beyond the bound are left out, and do not change those in the list. */
static void cpus_beyond_the_bound_are_left_out(void **state)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct cpuinfo_cpu *cpus;
	size_t count;

	for (unsigned cpu = 0; cpu < 8194; cpu++)
		strbuf_addf(&text, "processor : %u\nphysical id : %u\ncore id : %u\n\n", cpu,
			    cpu % 3, cpu);
	assert_int_equal(cpuinfo_list(text.data, &cpus, &count), 0);
	assert_int_equal(count, 8192);
	assert_int_equal(cpus[8191].processor, 8191);
	assert_int_equal(cpus[8191].package, 8191 % 3);
	assert_int_equal(cpus[8191].core, 8191);
	free(cpus);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86_with_two_sockets_and_threads),
		cmocka_unit_test(test_virtual_machine),
		cmocka_unit_test(test_arm64_numbers),
		cmocka_unit_test(test_s390x),
		cmocka_unit_test(test_hostile_text),
		cmocka_unit_test(test_each_cpu_is_listed),
		cmocka_unit_test(cpus_beyond_the_bound_are_left_out),
	};

	return unit_run(tests);
}

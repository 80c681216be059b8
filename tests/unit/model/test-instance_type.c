// SPDX-License-Identifier: Apache-2.0
/* Which host an instance type has, when that is not known, and rules that the table keeps. */
#include "model/processor/instance_type.h"

#include "model/processor/cpu_name.h"
#include "tests/unit/unit.h"

#define EC2    "Amazon EC2"
#define HIDDEN "Intel(R) Xeon(R) Processor"

static void assert_host(const char *product, const char *cpu_model, unsigned vcpus, unsigned cpus,
			const char *processor)
{
	const struct instance_host *host = instance_host_find(EC2, product, cpu_model, vcpus);

	if (!host)
		fail_msg("%s with \"%s\" has no host", product, cpu_model);
	assert_int_equal(host->cpus, cpus);
	if (!strstr(host->processor, processor))
		fail_msg("%s has %s, not %s", product, host->processor, processor);
}

static void test_the_type_says_the_host(void **state)
{
	assert_host("m5.large", "Intel(R) Xeon(R) Platinum 8175M CPU @ 2.50GHz", 2, 96, "8175M");
	assert_host("m5.large", "Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz", 2, 96, "8259CL");
	assert_host("r6i.xlarge", "Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz", 4, 128, "8375C");
	assert_host("m6a.large", "AMD EPYC 7R13 Processor", 2, 192, "7R13");
	assert_host("m7i.48xlarge", "Intel(R) Xeon(R) Platinum 8488C", 192, 192, "8488C");
	assert_host("c8i.large", "Intel(R) Xeon(R) 6975P-C", 2, 384, "6975P-C");
	assert_host("c7g.medium", "", 1, 64, "Graviton3"); /* Arm's have no name */
}

/* Hosts of c5 have 72 or 96 CPUs, by their processors. */
static void test_hosts_of_a_family_differ(void **state)
{
	assert_host("c5.large", "Intel(R) Xeon(R) Platinum 8124M CPU @ 3.00GHz", 2, 72, "8124M");
	assert_host("c5.large", "Intel(R) Xeon(R) Platinum 8275CL CPU @ 3.00GHz", 2, 96, "8275CL");
	assert_host("c5.large", HIDDEN, 2, 96, "8275CL"); /* the larger one */
	assert_null(instance_host_find(EC2, "c5.24xlarge", "Intel(R) Xeon(R) Platinum 8124M", 96));
	assert_host("c5n.large", HIDDEN, 2, 72, "8124M");
}

static void test_what_is_not_known_changes_nothing(void **state)
{
	static const char *const products[] = { "",
						"m5",
						".",
						"m5large",
						"m55.large",
						"m.large",
						"M5.large",
						".large",
						"t3.large",
						"Google Compute Engine",
						"Virtual Machine" };

	for (size_t i = 0; i < ARRAY_SIZE(products); i++) {
		if (instance_host_find(EC2, products[i], HIDDEN, 2))
			fail_msg("\"%s\" has a host", products[i]);
	}
	assert_null(instance_host_find("", "m5.large", HIDDEN, 2));
	assert_null(instance_host_find("QEMU", "m5.large", HIDDEN, 2));
	assert_null(instance_host_find(EC2, "m5.large", HIDDEN, 97)); /* more than the host */
	assert_null(instance_host_find(EC2, "m5.large", "Intel(R) Xeon(R) Platinum 8375C", 2));
	assert_null(instance_host_find(EC2, "m7a.large", "AMD EPYC 9R45 Processor", 2));
}

/* Whole cores, the cores that processors are known to have, and a family's largest host first. */
static void test_the_table(void **state)
{
	for (size_t i = 0; i < instance_hosts_count; i++) {
		const struct instance_host *host = &instance_hosts[i], *next = host + 1;
		struct cpu_name name;

		cpu_name_read(host->processor, &name);
		if (!name.key[0] || (name.cores && name.cores * host->sockets != host->cores) ||
		    (host->cpus != host->cores && host->cpus != 2 * host->cores))
			fail_msg("%s: %u CPUs, %u cores, %u sockets of %s", host->family,
				 host->cpus, host->cores, host->sockets, host->processor);
		assert_in_range(host->sockets, 1, 2);
		for (size_t k = i + 1; k < instance_hosts_count; k++, next++) {
			if (strcmp(host->family, next->family) == 0 && next->cpus > host->cpus)
				fail_msg("%s: a larger host is not first", host->family);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_type_says_the_host),
		cmocka_unit_test(test_hosts_of_a_family_differ),
		cmocka_unit_test(test_what_is_not_known_changes_nothing),
		cmocka_unit_test(test_the_table),
	};

	return unit_run(tests);
}

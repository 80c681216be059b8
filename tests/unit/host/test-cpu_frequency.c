// SPDX-License-Identifier: Apache-2.0
/* Policies of cpufreq: which CPUs they have, drivers that cannot say, and reads in turn. */
#include "host/cpu_frequency.h"

#include "base/macro.h"
#include "tree.h"

static void put_policy(unsigned number, const char *cpus, const char *khz)
{
	char path[96];

	(void)snprintf(path, sizeof(path), "devices/system/cpu/cpufreq/policy%u/affected_cpus",
		       number);
	put(path, cpus);
	(void)snprintf(path, sizeof(path), "devices/system/cpu/cpufreq/policy%u/scaling_cur_freq",
		       number);
	put(path, khz);
}

static struct cpu_frequency *open_tree(const char *sysfs)
{
	struct cpu_frequency *frequency = NULL;

	assert_int_equal(cpu_frequency_open(sysfs, &frequency), 0);
	assert_int_equal(cpu_frequency_scan(frequency), 0);
	return frequency;
}

static void a_tree_without_policies_has_no_frequency(void **state)
{
	struct cpu_frequency *frequency = open_tree("/nonexistent");

	(void)state;
	assert_false(cpu_frequency_read(frequency));
	assert_int_equal(cpu_frequencies_of(cpu_frequency_get(frequency), 0), 0);
	assert_int_equal(cpu_frequencies_of(NULL, 0), 0);
	assert_int_equal(cpu_frequencies_cycles(NULL, 0, 1000), 0);
	cpu_frequency_close(frequency);
}

static void a_policy_is_of_all_its_cpus(void **state)
{
	struct cpu_frequency *frequency;
	const struct cpu_frequencies *known;

	(void)state;
	put_policy(0, "0 1 2\n", "1000000\n");
	put_policy(3, "3\n", "3000000\n");
	frequency = open_tree(root);
	assert_true(cpu_frequency_read(frequency));
	known = cpu_frequency_get(frequency);
	assert_int_equal(cpu_frequencies_of(known, 0), 1000000);
	assert_int_equal(cpu_frequencies_of(known, 2), 1000000);
	assert_int_equal(cpu_frequencies_of(known, 3), 3000000);
	assert_int_equal(known->mean_khz, 1500000);
	/* A CPU without a policy, or an unknown one: the mean. */
	assert_int_equal(cpu_frequencies_of(known, 9), 1500000);
	assert_int_equal(cpu_frequencies_of(known, UINT32_MAX), 1500000);
	assert_int_equal(cpu_frequencies_cycles(known, 3, 2000000000), 6000000000);
	put_policy(3, "3\n", "2000000\n");
	assert_true(cpu_frequency_read(frequency));
	assert_int_equal(cpu_frequencies_of(known, 3), 2000000);
	cpu_frequency_close(frequency);
}

static void an_invalid_frequency_is_unknown(void **state)
{
	static const char *const texts[] = { "<unknown>\n", "", "-1\n", "0\n", "99999999999\n" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct cpu_frequency *frequency;

		put_policy(0, "0\n", "2000000\n");
		put_policy(1, "1\n", texts[i]);
		frequency = open_tree(root);
		assert_true(cpu_frequency_read(frequency));
		assert_int_equal(cpu_frequency_get(frequency)->mean_khz, 2000000);
		assert_int_equal(cpu_frequency_get(frequency)->khz[1], 0);
		put_policy(0, "0\n", texts[i]);
		assert_false(cpu_frequency_read(frequency));
		cpu_frequency_close(frequency);
	}
}

static void cpus_that_go_have_no_frequency(void **state)
{
	struct cpu_frequency *frequency;

	(void)state;
	put_policy(0, "0 1\n", "2000000\n");
	frequency = open_tree(root);
	assert_true(cpu_frequency_read(frequency));
	put_policy(0, "0\n", "2000000\n");
	put_policy(1, "\n", "2000000\n");
	assert_int_equal(cpu_frequency_scan(frequency), 0);
	assert_true(cpu_frequency_read(frequency));
	assert_int_equal(cpu_frequency_get(frequency)->khz[0], 2000000);
	assert_int_equal(cpu_frequency_get(frequency)->khz[1], 0);
	cpu_frequency_close(frequency);
}

/* No more files than the limit are read at once, and each has its turn. */
static void many_policies_are_read_in_turn(void **state)
{
	struct cpu_frequency *frequency;
	unsigned count = FREQUENCY_READS + 8, known = 0;
	char cpu[16];

	(void)state;
	for (unsigned i = 0; i < count; i++) {
		(void)snprintf(cpu, sizeof(cpu), "%u\n", i);
		put_policy(i, cpu, "1500000\n");
	}
	frequency = open_tree(root);
	for (int reads = 1; reads <= 2; reads++, known = 0) {
		assert_true(cpu_frequency_read(frequency));
		for (unsigned i = 0; i < count; i++)
			known += cpu_frequency_get(frequency)->khz[i] != 0;
		assert_int_equal(known, reads == 1 ? FREQUENCY_READS : count);
	}
	cpu_frequency_close(frequency);
}

static void lists_are_of_numbers(void **state)
{
	unsigned cpus[4];

	(void)state;
	assert_int_equal(cpu_frequency_list("0 2 5\n", cpus, 4), 3);
	assert_int_equal(cpus[2], 5);
	assert_int_equal(cpu_frequency_list("1-2\n", cpus, 4), 2);
	assert_int_equal(cpu_frequency_list("0 1 2 3 4 5\n", cpus, 4), 4);
	assert_int_equal(cpu_frequency_list("0 x\n", cpus, 4), 0);
	assert_int_equal(cpu_frequency_list("0 9999999\n", cpus, 4), 0);
	assert_int_equal(cpu_frequency_list("\n", cpus, 4), 0);
}

static void a_copy_is_as_good(void **state)
{
	uint32_t khz[] = { 0, 1200000 };
	const struct cpu_frequencies from = { 1200000, 2, khz };
	struct cpu_frequencies to = { 0 };

	(void)state;
	assert_int_equal(cpu_frequencies_copy(&to, &from), 0);
	assert_int_equal(cpu_frequencies_of(&to, 1), 1200000);
	assert_int_equal(to.mean_khz, 1200000);
	cpu_frequencies_release(&to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_tree_without_policies_has_no_frequency, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_policy_is_of_all_its_cpus, setup, teardown),
		cmocka_unit_test_setup_teardown(an_invalid_frequency_is_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(cpus_that_go_have_no_frequency, setup, teardown),
		cmocka_unit_test_setup_teardown(many_policies_are_read_in_turn, setup, teardown),
		cmocka_unit_test(lists_are_of_numbers),
		cmocka_unit_test(a_copy_is_as_good),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/checks/cpu_check.h"

#include "tests/unit/unit.h"

#define LENGTH_S 60

static void add(struct series *series, double cpus)
{
	for (int i = 0; i <= LENGTH_S && cpus >= 0; i++)
		assert_int_equal(series_add_counter(series, i, cpus * i), 0);
	series_finish(series);
}

/*
 * The verdict on an exporter that shows @said CPUs as busy, with @ticks by the kernel's ticks, and
 * @tasks by its scheduler; negative: the kernel has no such account.
 */
static enum verdict judge(double said, double ticks, double tasks, const char *word)
{
	static const struct exporter_options options = { "http://127.0.0.1:1/", 1, NULL };
	static const struct check_bounds bounds = { .max_error = 0.05, .max_effect_error = 0.1 };
	struct observation *observation = calloc(1, sizeof(*observation));
	struct result_list results = { 0 };
	struct diag diag = { "" };

	assert_non_null(observation);
	observation->cpu = series_new("cpu", "CPUs");
	observation->tasks = series_new("tasks", "CPUs");
	add(observation->cpu, ticks);
	add(observation->tasks, tasks);
	assert_int_equal(exporter_open(&options, &observation->exporters[0], &diag), 0);
	observation->exporter_count = 1;
	for (int i = 0; i <= LENGTH_S; i++) {
		char text[512];
		int len = snprintf(text, sizeof(text),
				   "# TYPE kepler_node_package_joules_total counter\n"
				   "kepler_node_package_joules_total{mode=\"dynamic\"} %d\n"
				   "# TYPE kepler_node_bpf_cpu_time_ms_total counter\n"
				   "kepler_node_bpf_cpu_time_ms_total %.3f\n"
				   "kepler_exporter_snapshot_timestamp_seconds %d\n",
				   i, 1000 * said * i, i);

		assert_int_equal(
			exporter_take_page(observation->exporters[0], i, i, text, (size_t)len), 0);
	}
	exporter_finish(observation->exporters[0]);
	const struct checking checking = { observation, observation->exporters[0], &bounds,
					   &results, false };
	assert_int_equal(check_cpu_time(&checking), 0);
	assert_int_equal(results.count, 1);
	enum verdict verdict = results.items[0]->verdict;
	assert_non_null(strstr(results.items[0]->reason, word));
	result_list_release(&results);
	observation_release(observation);
	free(observation);
	return verdict;
}

static void accounts_that_agree_decide(void **state)
{
	assert_int_equal(judge(1, 1, 1.01, "kernel's account"), VERDICT_PASS);
	assert_int_equal(judge(1.3, 1, 1, "1.3 times"), VERDICT_FAIL);
	assert_int_equal(judge(0.7, 1, 1, "0.7 times"), VERDICT_FAIL);
}

static void a_single_account_decides(void **state)
{
	assert_int_equal(judge(1, 1, -1, "kernel's account"), VERDICT_PASS);
	assert_int_equal(judge(1.3, 1, -1, "1.3 times"), VERDICT_FAIL);
}

/* 300 ticks in a minute scatter; 3,000 do not, as far as that matters. */
static void few_ticks_decide_nothing(void **state)
{
	assert_int_equal(judge(0.06, 0.05, -1, "too little"), VERDICT_INCONCLUSIVE);
	assert_int_equal(judge(0.1, 0.05, -1, "2 times"), VERDICT_FAIL);
	assert_int_equal(judge(0.6, 0.5, -1, "1.2 times"), VERDICT_FAIL);
}

/* As in a virtual machine that misses a quarter of its ticks. */
static void between_accounts_that_disagree_nothing_is_decided(void **state)
{
	assert_int_equal(judge(1.3, 1, 1.3, "/proc/schedstat"), VERDICT_INCONCLUSIVE);
	assert_int_equal(judge(1, 1, 1.3, "/proc/schedstat"), VERDICT_INCONCLUSIVE);
	assert_int_equal(judge(1.6, 1, 1.3, "1.231 times"), VERDICT_FAIL);
	assert_int_equal(judge(0.8, 1, 1.3, "0.8 times"), VERDICT_FAIL);
}

static void an_idle_machine_decides_nothing(void **state)
{
	assert_int_equal(judge(0, 0, 0, "No CPU was busy"), VERDICT_INCONCLUSIVE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accounts_that_agree_decide),
		cmocka_unit_test(a_single_account_decides),
		cmocka_unit_test(few_ticks_decide_nothing),
		cmocka_unit_test(between_accounts_that_disagree_nothing_is_decided),
		cmocka_unit_test(an_idle_machine_decides_nothing),
	};
	return unit_run(tests);
}

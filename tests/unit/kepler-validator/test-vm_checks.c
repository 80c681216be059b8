// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/checks/vm_checks.h"

#include "tests/unit/unit.h"

#define LENGTH_S 20

static void take_page(struct exporter *exporter, int time_s, double cpu_s)
{
	char text[512];
	int len = snprintf(text, sizeof(text),
			   "# TYPE kepler_node_package_joules_total counter\n"
			   "kepler_node_package_joules_total{mode=\"dynamic\"} %d\n"
			   "# TYPE kepler_vm_bpf_cpu_time_ms_total counter\n"
			   "kepler_vm_bpf_cpu_time_ms_total{vm_id=\"one\"} %.3f\n"
			   "kepler_vm_bpf_cpu_time_ms_total{vm_id=\"two\"} 1\n"
			   "kepler_exporter_snapshot_timestamp_seconds %d\n",
			   time_s, 1000 * cpu_s, time_s);

	assert_int_equal(exporter_take_page(exporter, time_s, time_s, text, (size_t)len), 0);
}

/* The exporter shows @said_s of CPU time of a virtual machine with a process that used @true_s. */
static enum verdict judge(double said_s, double true_s, const char *word)
{
	static const struct check_bounds bounds = { .max_error = 0.05, .max_effect_error = 0.1 };
	static struct own_rows mine;
	static const struct exporter_options options = { "http://127.0.0.1:1/", 1, &mine };
	struct observation *observation = calloc(1, sizeof(*observation));
	struct result_list results = { 0 };
	struct diag diag = { "" };

	assert_non_null(observation);
	mine = (struct own_rows){ 0 };
	own_rows_add(&mine, ENERGY_VM, "one");
	observation->vm.pid = 1;
	observation->vm_cpu = series_new("vm", "CPUs");
	assert_int_equal(exporter_open(&options, &observation->exporters[0], &diag), 0);
	observation->exporter_count = 1;
	for (int i = 0; i <= LENGTH_S; i++) {
		assert_int_equal(series_add_counter(observation->vm_cpu, i, true_s * i / LENGTH_S),
				 0);
		take_page(observation->exporters[0], i, said_s * i / LENGTH_S);
	}
	series_finish(observation->vm_cpu);
	exporter_finish(observation->exporters[0]);
	const struct checking checking = { observation, observation->exporters[0], &bounds,
					   &results, false };
	assert_int_equal(check_vm_cpu(&checking), 0);
	assert_int_equal(results.count, 1);
	enum verdict verdict = results.items[0]->verdict;
	assert_non_null(strstr(results.items[0]->reason, word));
	assert_true((verdict == VERDICT_FAIL) == (results.items[0]->cause == CAUSE_SCALE));
	result_list_release(&results);
	observation_release(observation);
	free(observation);
	return verdict;
}

static void a_machine_and_its_process_have_the_same_cpu_time(void **state)
{
	assert_int_equal(judge(10.5, 10, "its process 10.00 s."), VERDICT_PASS);
	assert_int_equal(judge(20, 10, "20.00 s"), VERDICT_FAIL);
	assert_int_equal(judge(5, 10, "5.00 s"), VERDICT_FAIL);
}

/* After an interrupt, there may be two ticks. */
static void a_little_cpu_time_decides_nothing(void **state)
{
	assert_int_equal(judge(0.001, 0.02, "too little"), VERDICT_INCONCLUSIVE);
	assert_int_equal(judge(0.3, 0.2, "too little"), VERDICT_INCONCLUSIVE);
	assert_int_equal(judge(5, 0.2, "5.00 s"), VERDICT_FAIL);
}

static void a_machine_that_rests_decides_nothing(void **state)
{
	assert_int_equal(judge(0.001, 0, "used no CPU time"), VERDICT_INCONCLUSIVE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_and_its_process_have_the_same_cpu_time),
		cmocka_unit_test(a_little_cpu_time_decides_nothing),
		cmocka_unit_test(a_machine_that_rests_decides_nothing),
	};
	return unit_run(tests);
}

// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/checks/page_checks.h"

#include "kepler-validator/checks/upstream_specs.h"
#include "tests/unit/unit.h"

#define LENGTH_S 30

/* One exporter, whose pages a test writes. */
struct trial {
	struct observation *observation;
	struct check_bounds bounds;
	struct result_list results;
};

static void begin(struct trial *trial)
{
	static const struct exporter_options options = {
		"http://127.0.0.1:1/", 1, NULL, NULL, 2, 10
	};
	struct diag diag = { "" };

	*trial = (struct trial){ .bounds = { 0.05, 0.1, 10, 0 } };
	trial->observation = calloc(1, sizeof(*trial->observation));
	assert_non_null(trial->observation);
	assert_int_equal(exporter_open(&options, &trial->observation->exporters[0], &diag), 0);
	trial->observation->exporter_count = 1;
}

/* The page with "JOULES" in it as the node's energy. */
static void take(struct trial *trial, double time_s, const char *page, double joules)
{
	char text[1024], number[32];
	size_t len = 0;

	(void)snprintf(number, sizeof(number), "%.3f", joules);
	for (const char *at = page; *at && len + sizeof(number) < sizeof(text);) {
		bool is_number = strncmp(at, "JOULES", 6) == 0;

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%.*s", is_number ? 31 : 1,
					is_number ? number : at);
		at += is_number ? 6 : 1;
	}
	assert_int_equal(
		exporter_take_page(trial->observation->exporters[0], time_s, time_s, text, len), 0);
}

static void judge(struct trial *trial)
{
	const struct checking checking = { trial->observation, trial->observation->exporters[0],
					   &trial->bounds, &trial->results };

	assert_int_equal(check_pages(&checking), 0);
	assert_int_equal(check_upstream_specs(&checking), 0);
}

static enum verdict verdict_on(const struct trial *trial, const char *name)
{
	for (size_t i = 0; i < trial->results.count; i++)
		if (strcmp(trial->results.items[i]->name, name) == 0)
			return trial->results.items[i]->verdict;
	fail_msg("no result %s", name);
	return VERDICT_FAIL;
}

static void end(struct trial *trial)
{
	result_list_release(&trial->results);
	observation_release(trial->observation);
	free(trial->observation);
}

#define NODE    "kepler_node_cpu_joules_total{zone=\"package\"} JOULES\n"
#define PROCESS "kepler_process_cpu_joules_total{pid=\"1\",zone=\"package\"} 1\n"

static void numbers_that_stand_still_fail(void **state)
{
	struct trial trial;

	begin(&trial);
	for (int i = 0; i < LENGTH_S; i++)
		take(&trial, i, NODE PROCESS, i < 10 ? i : 10);
	judge(&trial);
	assert_int_equal(verdict_on(&trial, "correctness/updates"), VERDICT_FAIL);
	assert_int_equal(verdict_on(&trial, "correctness/levels"), VERDICT_PASS);
	end(&trial);
	begin(&trial);
	for (int i = 0; i < LENGTH_S; i++)
		take(&trial, i, NODE PROCESS, i / 5);
	judge(&trial);
	assert_int_equal(verdict_on(&trial, "correctness/updates"), VERDICT_PASS);
	end(&trial);
}

static void processes_that_vanish_fail(void **state)
{
	struct trial trial;

	begin(&trial);
	for (int i = 0; i < LENGTH_S; i++)
		take(&trial, i, i < 10 ? NODE PROCESS : NODE, i);
	judge(&trial);
	assert_int_equal(verdict_on(&trial, "correctness/levels"), VERDICT_FAIL);
	end(&trial);
}

static void a_level_that_is_required_must_be_there(void **state)
{
	struct trial trial;

	begin(&trial);
	for (int i = 0; i < LENGTH_S; i++)
		take(&trial, i, NODE, i);
	trial.bounds.required_levels = 1U << ENERGY_PROCESS;
	judge(&trial);
	assert_int_equal(verdict_on(&trial, "correctness/levels"), VERDICT_FAIL);
	end(&trial);
}

static void no_process_has_more_time_than_the_cpus(void **state)
{
	struct trial trial;

	/* 2 CPUs, 1 s, and 10 s by which numbers may be late. */
	for (int over = 0; over < 2; over++) {
		begin(&trial);
		take(&trial, 0, NODE "kepler_process_cpu_seconds_total{pid=\"1\"} 5\n", 0);
		take(&trial, 1, NODE "kepler_process_cpu_seconds_total{pid=\"1\"} 5\n", 1);
		take(&trial, 2,
		     over ? NODE "kepler_process_cpu_seconds_total{pid=\"1\"} 27.1\n"
			  : NODE "kepler_process_cpu_seconds_total{pid=\"1\"} 26.9\n",
		     2);
		judge(&trial);
		assert_int_equal(verdict_on(&trial, "correctness/cpu-limit"),
				 over ? VERDICT_FAIL : VERDICT_PASS);
		end(&trial);
	}
}

static void a_zone_has_energy_if_the_machine_has_it(void **state)
{
	struct trial trial;

	begin(&trial);
	trial.observation->truth.source = TRUTH_RAPL_SYSFS;
	trial.observation->truth.zone_count = 2;
	(void)snprintf(trial.observation->truth.zones[0].kind, TRUTH_KIND_MAX, "package");
	(void)snprintf(trial.observation->truth.zones[1].kind, TRUTH_KIND_MAX, "dram");
	take(&trial, 0,
	     "kepler_node_package_joules_total{mode=\"dynamic\"} 1\n"
	     "kepler_node_core_joules_total{mode=\"dynamic\"} JOULES\n"
	     "kepler_container_package_joules_total{mode=\"dynamic\"} 0\n",
	     3);
	judge(&trial);
	assert_int_equal(verdict_on(&trial, "upstream/2-1/package"), VERDICT_PASS);
	assert_int_equal(verdict_on(&trial, "upstream/2-1/dram"), VERDICT_FAIL);
	assert_int_equal(verdict_on(&trial, "upstream/2-1/core"), VERDICT_FAIL);
	assert_int_equal(verdict_on(&trial, "upstream/2-1/uncore"), VERDICT_PASS);
	assert_int_equal(verdict_on(&trial, "upstream/2-2/package"), VERDICT_FAIL);
	assert_int_equal(verdict_on(&trial, "upstream/2-2/core"), VERDICT_PASS);
	end(&trial);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_that_stand_still_fail),
		cmocka_unit_test(processes_that_vanish_fail),
		cmocka_unit_test(a_level_that_is_required_must_be_there),
		cmocka_unit_test(no_process_has_more_time_than_the_cpus),
		cmocka_unit_test(a_zone_has_energy_if_the_machine_has_it),
	};
	return unit_run(tests);
}

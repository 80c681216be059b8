// SPDX-License-Identifier: Apache-2.0
#include "stat/stat_runs.h"

#include <math.h>
#include <string.h>

#include "tests/unit/unit.h"

static void add(struct stat_runs *runs, double joules, double seconds)
{
	struct stat_result result = { .command = "make", .elapsed_seconds = seconds };
	struct stat_reading *reading = &result.reading;

	reading->zone_count = reading->command_count = 1;
	reading->zones[0] = (struct stat_zone){
		.zone = "package", .mode = "dynamic", .in_total = true, .joules = joules
	};
	reading->commands[0] = (struct stat_command){ .command = "cc1", .joules = joules };
	reading->cpu_seconds = 2 * seconds;
	assert_int_equal(stat_runs_add(runs, &result), 0);
}

static struct stat_runs ten_runs(double joules)
{
	struct stat_runs runs = { .count = 0 };

	for (int i = 0; i < 10; i++)
		add(&runs, joules + i % 3, 1 + 0.1 * i);
	return runs;
}

static struct strbuf json_of(const struct stat_runs *runs, const struct stat_baseline *baseline)
{
	struct strbuf text = STRBUF_INIT;

	assert_int_equal(stat_runs_json(runs, baseline, &text), 0);
	return text;
}

static struct stat_baseline baseline_of(struct stat_runs *runs)
{
	struct stat_baseline none = { .name = NULL }, baseline = { .name = "before.json" };
	struct strbuf saved = json_of(runs, &none);
	struct diag diag = { "" };

	assert_int_equal(stat_baseline_parse(saved.data, saved.len, &baseline, &diag), 0);
	strbuf_release(&saved);
	return baseline;
}

static void the_result_is_the_mean(void **state)
{
	struct stat_runs runs = { .count = 0 };

	add(&runs, 10, 1);
	add(&runs, 20, 2);
	add(&runs, 60, 6);
	assert_true(fabs(stat_result_joules(&runs.mean) - 30) < 1e-9);
	assert_true(fabs(runs.mean.elapsed_seconds - 3) < 1e-9);
	assert_true(fabs(runs.mean.reading.cpu_seconds - 6) < 1e-9);
	assert_true(fabs(runs.mean.reading.commands[0].joules - 30) < 1e-9);
	assert_int_equal(runs.mean.reading.zone_count, 1);
	stat_runs_release(&runs);
}

static void a_saved_result_is_a_baseline(void **state)
{
	struct stat_runs before = ten_runs(100), same = ten_runs(100), more = ten_runs(110);
	struct stat_baseline baseline = baseline_of(&before);
	struct strbuf text;

	assert_int_equal(baseline.count, 10);
	text = json_of(&same, &baseline);
	assert_non_null(strstr(text.data, "\"verdict\":\"no clear difference\""));
	assert_non_null(strstr(text.data, "\"mean\":1.450000,"));
	assert_non_null(strstr(text.data, "\"joules_mean\":100.900000,"));
	assert_non_null(strstr(text.data, "\"exit_codes\":[0,0,0,0,0,0,0,0,0,0]"));
	strbuf_release(&text);
	text = json_of(&more, &baseline);
	assert_non_null(strstr(text.data, "\"difference_joules\":10.000000,"));
	assert_non_null(strstr(text.data, "\"verdict\":\"more energy\""));
	strbuf_release(&text);
	assert_int_equal(stat_runs_text(&more, &baseline, &text), 0);
	assert_non_null(strstr(text.data, " Compared with before.json: +10.000 J (+9.9 %), 95 %"));
	assert_non_null(strstr(text.data, ": more energy\n"));
	assert_null(strstr(text.data, "Warning"));
	strbuf_release(&text);
	assert_int_equal(stat_runs_markdown(&more, &baseline, &text), 0);
	assert_non_null(strstr(text.data, "| against the baseline | +9.9 % ("));
	strbuf_release(&text);
	free(baseline.joules);
	stat_runs_release(&before);
	stat_runs_release(&same);
	stat_runs_release(&more);
}

static void an_outlier_is_reported(void **state)
{
	struct stat_runs runs = { .count = 0 };
	const struct stat_baseline none = { .name = NULL };
	struct strbuf text = STRBUF_INIT;

	add(&runs, 500, 1);
	for (int i = 0; i < 9; i++)
		add(&runs, 100 + i % 3, 1);
	assert_int_equal(stat_runs_text(&runs, &none, &text), 0);
	assert_non_null(strstr(text.data, "Warning: 1 of the runs is far from the others."));
	assert_non_null(strstr(text.data, "--warmup=1"));
	strbuf_release(&text);
	stat_runs_release(&runs);
}

static void one_run_is_not_compared(void **state)
{
	struct stat_runs before = ten_runs(100), one = { .count = 0 };
	struct stat_baseline baseline = baseline_of(&before);
	struct strbuf text = STRBUF_INIT;

	add(&one, 200, 1);
	assert_int_equal(stat_runs_text(&one, &baseline, &text), 0);
	assert_non_null(strstr(text.data, "two runs on either side are needed"));
	strbuf_release(&text);
	free(baseline.joules);
	stat_runs_release(&before);
	stat_runs_release(&one);
}

static void other_files_are_no_baseline(void **state)
{
	static const char *const bad[] = { "", "{}", "{\"joules_each\":[]}",
					   "{\"joules_each\":3}" };
	struct stat_baseline baseline = { .name = "x" };
	struct diag diag = { "" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_true(stat_baseline_parse(bad[i], strlen(bad[i]), &baseline, &diag) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_result_is_the_mean),
		cmocka_unit_test(a_saved_result_is_a_baseline),
		cmocka_unit_test(an_outlier_is_reported),
		cmocka_unit_test(one_run_is_not_compared),
		cmocka_unit_test(other_files_are_no_baseline),
	};

	return unit_run(tests);
}

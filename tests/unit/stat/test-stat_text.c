// SPDX-License-Identifier: Apache-2.0
#include "stat/stat_text.h"

#include <math.h>
#include <string.h>

#include "tests/unit/unit.h"

static const char answer[] =
	"{\"processes\":12,\"short_processes\":9,\"missed\":0,\"cpu_seconds\":4.0,\"zones\":["
	"{\"zone\":\"package\",\"mode\":\"dynamic\",\"source\":\"rapl\",\"quality\":\"measured\","
	"\"of_node\":false,\"joules\":90.5,\"in_total\":true,\"error_joules\":9.05},"
	"{\"zone\":\"package\",\"mode\":\"idle\",\"source\":\"rapl\",\"quality\":\"measured\","
	"\"of_node\":true,\"joules\":20,\"in_total\":true,\"error_joules\":0},"
	"{\"zone\":\"core\",\"mode\":\"dynamic\",\"source\":\"rapl\",\"quality\":\"measured\","
	"\"of_node\":false,\"joules\":70,\"in_total\":false,\"late\":true,\"error_joules\":0}],"
	"\"commands\":["
	"{\"command\":\"sh\",\"processes\":2,\"joules\":0.5,\"cpu_seconds\":0.5},"
	"{\"command\":\"\\u001b]0;x\",\"processes\":10,\"joules\":90,\"cpu_seconds\":3.5}],"
	"\"left_count\":1,\"left\":[{\"pid\":77,\"command\":\"daemon\"}]}";

static struct stat_result result(void)
{
	struct stat_result result = { .command = "make \033[2J",
				      .elapsed_seconds = 2,
				      .exit_status = 3 };
	struct diag diag = { "" };

	assert_int_equal(stat_reading_parse(answer, strlen(answer), &result.reading, &diag), 0);
	return result;
}

static struct strbuf text_of(const struct stat_result *result,
			     void (*write)(const struct stat_result *result, struct strbuf *out))
{
	struct strbuf text = STRBUF_INIT;

	write(result, &text);
	assert_int_equal(strbuf_error(&text), 0);
	return text;
}

static void the_total_has_no_energy_twice(void **state)
{
	struct stat_result of = result();

	assert_true(fabs(stat_result_joules(&of) - 90.5) < 1e-9);
	of.with_idle = true;
	assert_true(fabs(stat_result_joules(&of) - 110.5) < 1e-9);
	assert_true(fabs(stat_reading_error(&of.reading) - 9.05) < 1e-9);
	assert_false(stat_reading_is_estimated(&of.reading));
}

static void lines_begin_with_value_unit_and_name(void **state)
{
	struct stat_result of = result();
	struct strbuf text = text_of(&of, stat_text);

	assert_non_null(strstr(text.data, "\n            90.500 J     total"));
	assert_non_null(strstr(text.data, "# 45.250 W on average, +- 10.0 %\n"));
	assert_non_null(strstr(text.data, "\n            90.500 J     package/dynamic"));
	assert_null(strstr(text.data, "package/idle"));
	assert_non_null(strstr(text.data, "J     core/dynamic             # measured, part of "
					  "another zone, incomplete: the meter is late\n"));
	assert_null(strstr(strstr(text.data, "package/dynamic"), "measured, incomplete"));
	assert_non_null(strstr(text.data, "\n          4.000000 s     cpu"));
	assert_non_null(strstr(text.data, "# 2.00 CPUs used\n"));
	assert_non_null(strstr(text.data, "# 9 were too short for two readings\n"));
	assert_non_null(
		strstr(text.data, " 1 process of the command still runs: daemon (pid 77)\n"));
	/* The largest command is the first. */
	assert_true(strstr(text.data, "?]0;x") < strstr(text.data, "J     sh "));
	strbuf_release(&text);
}

static void no_name_commands_the_terminal(void **state)
{
	struct stat_result of = result();
	struct strbuf text = text_of(&of, stat_text);
	struct strbuf table = text_of(&of, stat_markdown);
	struct strbuf json = text_of(&of, stat_json_members);

	assert_null(strchr(text.data, '\033'));
	assert_null(strchr(table.data, '\033'));
	assert_null(strchr(json.data, '\033'));
	assert_non_null(strstr(text.data, "Energy of 'make ?[2J'"));
	strbuf_release(&text);
	strbuf_release(&table);
	strbuf_release(&json);
}

static void json_has_the_documented_keys(void **state)
{
	struct stat_result of = result();
	struct strbuf json = text_of(&of, stat_json_members);

	assert_non_null(strstr(json.data, "\"exit_status\":3,"));
	assert_non_null(strstr(json.data, "\"elapsed_seconds\":2.000000,"));
	assert_non_null(strstr(json.data, "\"cpu_seconds\":4.000000,"));
	assert_non_null(strstr(json.data, "\"joules\":90.500000,"));
	assert_non_null(
		strstr(json.data, "{\"zone\":\"package\",\"mode\":\"dynamic\",\"joules\":90.5"));
	assert_null(strstr(json.data, "\"mode\":\"idle\""));
	assert_null(strstr(json.data, "budget"));
	strbuf_release(&json);
}

/* 90.5 J with a PUE of 2 are 50.28 mWh. */
static void money_and_carbon_follow_from_the_rates(void **state)
{
	struct stat_result of = result();
	struct strbuf text = text_of(&of, stat_text);

	assert_null(strstr(text.data, "cost"));
	assert_null(strstr(text.data, "CO2e"));
	strbuf_release(&text);
	of.reading.rates = (struct stat_rates){ 400, "EUR", 3600, "average", 2 };
	text = text_of(&of, stat_text);
	assert_non_null(strstr(text.data,
			       "\n          0.020111 EUR   cost                     # at "
			       "400 EUR/kWh, PUE 2\n"));
	assert_non_null(strstr(text.data,
			       "\n          0.181000 g     CO2e                     # at "
			       "3600 g/kWh (average), PUE 2\n"));
	strbuf_release(&text);
	text = text_of(&of, stat_json_members);
	assert_non_null(strstr(text.data, "\"cost\":{\"amount\":0.0201111111,\"currency\":"
					  "\"EUR\",\"per_kwh\":400}"));
	assert_non_null(strstr(text.data, "\"carbon\":{\"grams\":0.181,\"grams_per_kwh\":3600,"
					  "\"kind\":\"average\"}"));
	assert_non_null(strstr(text.data, "\"pue\":2"));
	strbuf_release(&text);
	text = text_of(&of, stat_markdown);
	assert_non_null(strstr(text.data, "| cost, at 400 EUR/kWh, PUE 2 | 0.020111 EUR |\n"));
	assert_non_null(strstr(text.data, "| 0.181000 g |\n"));
	strbuf_release(&text);
}

static void a_cost_of_an_estimate_is_marked(void **state)
{
	struct stat_result of = result();
	struct strbuf text;

	of.reading.zones[0].is_estimated = true;
	of.reading.rates = (struct stat_rates){ -0.02, "EUR", NAN, "average", NAN };
	text = text_of(&of, stat_text);
	assert_non_null(strstr(text.data, " ~-5.028e-07 EUR   cost                     # at -0.02 "
					  "EUR/kWh\n"));
	assert_null(strstr(text.data, "CO2e"));
	strbuf_release(&text);
	text = text_of(&of, stat_markdown);
	assert_non_null(strstr(text.data, "| ~-5.028e-07 EUR |\n"));
	strbuf_release(&text);
	text = text_of(&of, stat_json_members);
	assert_null(strstr(text.data, "carbon"));
	assert_null(strstr(text.data, "pue"));
	strbuf_release(&text);
}

static void rates_are_read_from_the_answer(void **state)
{
	static const char with_rates[] =
		"{\"zones\":[],\"rates\":{\"price_per_kwh\":0.31,\"currency\":\"EUR\","
		"\"carbon_kind\":\"marginal\"}}";
	struct stat_reading reading;
	struct diag diag = { "" };

	assert_int_equal(stat_reading_parse(with_rates, strlen(with_rates), &reading, &diag), 0);
	assert_true(fabs(stat_cost_money(&reading.rates, 3.6e6) - 0.31) < 1e-12);
	assert_true(isnan(stat_cost_grams(&reading.rates, 3.6e6)));
	assert_int_equal(stat_reading_parse(answer, strlen(answer), &reading, &diag), 0);
	assert_true(isnan(stat_cost_money(&reading.rates, 3.6e6)));
	assert_true(isnan(stat_cost_grams(&reading.rates, 3.6e6)));
}

static void a_budget_is_kept_or_not(void **state)
{
	struct stat_result of = result();
	struct strbuf text;

	of.budget_joules = 90.5;
	assert_false(stat_result_is_over(&of));
	of.budget_joules = 90;
	assert_true(stat_result_is_over(&of));
	text = text_of(&of, stat_text);
	assert_non_null(strstr(text.data, "\n over the budget of 90 J\n"));
	strbuf_release(&text);
	text = text_of(&of, stat_json_members);
	assert_non_null(strstr(text.data, "\"budget\":\"over\""));
	strbuf_release(&text);
	text = text_of(&of, stat_markdown);
	assert_non_null(strstr(text.data, "| budget of 90 J | **over** |\n"));
	strbuf_release(&text);
}

static void missing_time_is_reported(void **state)
{
	struct stat_result of = result();
	struct strbuf text = text_of(&of, stat_text);

	assert_null(strstr(text.data, "missing"));
	strbuf_release(&text);
	of.missing_seconds = 0.25;
	text = text_of(&of, stat_text);
	assert_non_null(strstr(text.data, "\n 0.250 s of CPU time and their energy are missing"));
	strbuf_release(&text);
}

static void other_answers_are_refused(void **state)
{
	static const char *const bad[] = { "", "{}", "[1]", "{\"zones\":3}", "403: no\n" };
	struct stat_reading reading;
	struct diag diag = { "" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_true(stat_reading_parse(bad[i], strlen(bad[i]), &reading, &diag) < 0);
}

static void a_meter_that_is_late_is_awaited_and_not_one_that_is_broken(void **state)
{
	struct stat_reading reading = { .zone_count = 1 };

	reading.zones[0] = (struct stat_zone){ .in_total = true, .read_ns = 100 };
	assert_false(stat_reading_is_behind(&reading, 100, 20));
	assert_true(stat_reading_is_behind(&reading, 101, 20));
	assert_true(stat_reading_is_behind(&reading, 120, 20));
	assert_false(stat_reading_is_behind(&reading, 121, 20));
	reading.zones[0].in_total = false;
	assert_false(stat_reading_is_behind(&reading, 101, 20));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_total_has_no_energy_twice),
		cmocka_unit_test(lines_begin_with_value_unit_and_name),
		cmocka_unit_test(no_name_commands_the_terminal),
		cmocka_unit_test(json_has_the_documented_keys),
		cmocka_unit_test(money_and_carbon_follow_from_the_rates),
		cmocka_unit_test(a_cost_of_an_estimate_is_marked),
		cmocka_unit_test(rates_are_read_from_the_answer),
		cmocka_unit_test(a_budget_is_kept_or_not),
		cmocka_unit_test(missing_time_is_reported),
		cmocka_unit_test(other_answers_are_refused),
		cmocka_unit_test(a_meter_that_is_late_is_awaited_and_not_one_that_is_broken),
	};

	return unit_run(tests);
}

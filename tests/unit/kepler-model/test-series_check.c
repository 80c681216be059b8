// SPDX-License-Identifier: Apache-2.0
#include "kepler-model/series_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char series[] =
	"{\"a\": [{\"metric\": {\"__name__\": \"kepler_container_x_total\", \"pod_name\": "
	"\"load-1\"}, "
	"\"values\": [[1, \"0\"], [2, \"5\"], [3, \"NaN\"]]},"
	"{\"metric\": {\"__name__\": \"kepler_container_x_total\", \"pod_name\": \"other\"}, "
	"\"values\": [[1, \"70\"]]},"
	"{\"metric\": {\"__name__\": \"kepler_container_y,\\\"z\\\"\", \"pod_name\": \"other\"}, "
	"\"values\": [[1, \"-3\"]]}],"
	"\"b\": [{\"metric\": {\"__name__\": \"kepler_node_package_joules_total\", \"source\": "
	"\"rapl-sysfs\"}, \"values\": [[1, \"2\"], [2, \"3.5\"]]},"
	"{\"metric\": {\"__name__\": \"kepler_node_package_joules_total\", \"source\": \"mine\"}, "
	"\"values\": [[1, \"9\"]]},"
	"{\"metric\": {\"__name__\": \"kepler_node_info\"}, \"values\": [[1, \"1\"]]}]}";

static void check(const char *benchmark, struct strbuf *csv, struct strbuf *table)
{
	struct series_check result = { .benchmark = benchmark };
	const struct series_sink sink = series_check_sink(&result);
	struct series_reader reader;
	struct diag diag = { "" };

	series_reader_init(&reader, &sink);
	assert_int_equal(series_reader_feed(&reader, series, strlen(series), &diag), 0);
	assert_int_equal(series_reader_end(&reader, &diag), 0);
	series_reader_release(&reader);
	series_check_add_csv(&result, csv);
	series_check_add_table(&result, table);
	series_check_release(&result);
}

static void assert_has(const struct strbuf *text, const char *line)
{
	if (!strstr(text->data, line))
		fail_msg("no \"%s\" in\n%s", line, text->data);
}

static void columns_of_upstream(void **state)
{
	struct strbuf csv = STRBUF_INIT, table = STRBUF_INIT;

	(void)state;
	check("", &csv, &table);
	assert_int_equal(strncmp(csv.data, ",pod,scenarioID,query,count,>0,total\n", 37), 0);
	assert_has(&csv, "\n0,,,kepler_container_x_total,4,2,70\n");
	assert_has(&csv, "\n1,,,\"kepler_container_y,\"\"z\"\"\",1,0,-3\n");
	assert_has(&csv, "\n2,,rapl-sysfs,kepler_node_package_joules_total,2,2,3.5\n");
	assert_has(&csv, "\n3,,rapl-sysfs,kepler_node_core_joules_total,0,0,0\n");
	assert_has(&csv, ",,acpi,kepler_node_platform_joules_total,0,0,0\n");
	assert_has(&csv, ",,,kepler_node_info,1,1,1\n");
	assert_null(strstr(table.data, "acpi")); /* nothing is there of it */
	strbuf_release(&csv);
	strbuf_release(&table);
}

static void pods_of_a_benchmark(void **state)
{
	struct strbuf csv = STRBUF_INIT, table = STRBUF_INIT;

	(void)state;
	check("load", &csv, &table);
	assert_has(&csv, "\n0,load,,kepler_container_x_total,3,1,5\n");
	assert_has(&csv,
		   "\n1,load,,\"kepler_container_y,\"\"z\"\"\",1,0,-3\n"); /* has no such pod */
	strbuf_release(&csv);
	strbuf_release(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_of_upstream),
		cmocka_unit_test(pods_of_a_benchmark),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

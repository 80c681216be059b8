// SPDX-License-Identifier: Apache-2.0
/* Every writer of a report, over results whose names and numbers are not harmless. */
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/unit/unit.h"
#include "verdict-report/html_page.h"
#include "verdict-report/junit_xml.h"
#include "verdict-report/markdown.h"
#include "verdict-report/report_folder.h"
#include "verdict-report/report_json.h"

#define NAME "pod|<script>\"\x1b[1m&\xff"

static struct series *steps(const char *name, double factor, size_t count)
{
	struct series *series = series_new(name, "W");

	for (size_t i = 0; i < count; i++)
		assert_int_equal(series_add_window(series, 1000 + (double)i, 1001 + (double)i,
						   factor * (double)(10 + i % 7)),
				 0);
	series_finish(series);
	return series;
}

static struct result *a_result(size_t samples)
{
	struct result *result = result_new(NAME, RESULT_ACCURACY);

	result->threshold = (struct threshold){ .max_error = 0.05, .max_lag_s = 10 };
	result->actual = steps(NAME, 1, samples);
	result->predicted = steps("predicted", 0.5, samples);
	result->has_errors = true;
	result->errors = (struct errors){
		.energy_ratio = 0.5, .scale = NAN, .mape = INFINITY, .mse = 2.25, .pairs = samples
	};
	result->error = 0.5;
	result->phases = calloc(1, sizeof(*result->phases));
	assert_non_null(result->phases);
	result->phase_count = 1;
	result->phases[0].phase = (struct phase){ "half", 1000, 1010 };
	result->cause = CAUSE_SCALE;
	result_set_verdict(result, VERDICT_FAIL, "half of <it>");
	return result;
}

static struct verdict_report a_report(struct result_list *list, size_t samples)
{
	assert_int_equal(result_list_add(list, a_result(samples)), 0);
	return (struct verdict_report){ .results = list,
					.command = "kepler-validator judge",
					.version = "1.2",
					.created = 1700000000 };
}

static void json_has_null_in_place_of_nan(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct result_list list = { 0 };
	const struct verdict_report report = a_report(&list, 20);

	report_json_add(&out, &report);
	assert_int_equal(strbuf_error(&out), 0);
	json_t *root = json_loads(out.data, 0, NULL);
	assert_non_null(root);
	const json_t *result = json_array_get(json_object_get(root, "results"), 0);
	const json_t *errors = json_object_get(result, "errors");
	assert_true(json_is_null(json_object_get(errors, "scale")));
	assert_true(json_is_null(json_object_get(errors, "mape")));
	assert_true(fabs(json_real_value(json_object_get(errors, "mse")) - 2.25) < 1e-12);
	assert_string_equal(json_string_value(json_object_get(root, "verdict")), "fail");
	assert_string_equal(json_string_value(json_object_get(root, "created")),
			    "2023-11-14T22:13:20Z");
	/* A text that is no UTF-8 stays a text. */
	assert_string_equal(json_string_value(json_object_get(result, "name")),
			    "pod|<script>\"?[1m&?");
	json_decref(root);
	result_list_release(&list);
}

static void names_are_no_markup(void **state)
{
	CLEANUP(strbuf_release) struct strbuf html = STRBUF_INIT;
	CLEANUP(strbuf_release) struct strbuf xml = STRBUF_INIT;
	CLEANUP(strbuf_release) struct strbuf markdown = STRBUF_INIT;
	struct result_list list = { 0 };
	const struct verdict_report report = a_report(&list, 20);

	assert_int_equal(html_page_add(&html, &report), 0);
	junit_xml_add(&xml, &report);
	markdown_add(&markdown, &report);
	assert_null(strstr(html.data, "<script"));
	assert_non_null(strstr(html.data, "pod|&lt;script&gt;&quot;"));
	assert_non_null(strstr(html.data, "<svg"));
	assert_null(strstr(xml.data, "<script"));
	assert_non_null(strstr(xml.data, "failures=\"1\" errors=\"0\" skipped=\"0\""));
	assert_non_null(
		strstr(xml.data, "<failure message=\"half of &lt;it&gt;\" type=\"scale\"/>"));
	assert_non_null(strstr(markdown.data, "| pod\\|\\<script\\>\"?\\[1m&"));
	assert_non_null(strstr(markdown.data, "| Phase | Actual J | Predicted J |"));
	assert_non_null(strstr(html.data, ">actual, J</th>"));
	assert_non_null(strstr(html.data, ">predicted, J</th>"));
	assert_null(strchr(html.data, '\x1b'));
	assert_null(strchr(xml.data, '\x1b'));
	assert_null(strchr(markdown.data, '\x1b'));
	result_list_release(&list);
}

static void a_table_is_in_each_report(void **state)
{
	CLEANUP(strbuf_release) struct strbuf html = STRBUF_INIT;
	CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT;
	CLEANUP(strbuf_release) struct strbuf markdown = STRBUF_INIT;
	struct result_list list = { 0 };
	struct verdict_report report = a_report(&list, 20);
	struct result_table *table = calloc(1, sizeof(*table));

	assert_non_null(table);
	*table = (struct result_table){ .columns = { "replicas", "step W", "ratio" },
					.column_count = 3,
					.rows = { { "<0>", { NAN, NAN } },
						  { "1", { 0.069, 1.029 } } },
					.row_count = 2 };
	list.items[0]->table = table;
	assert_int_equal(html_page_add(&html, &report), 0);
	report_json_add(&json, &report);
	markdown_add(&markdown, &report);
	assert_non_null(strstr(markdown.data, "| replicas | step W | ratio |\n|---|---:|---:|\n"
					      "| \\<0\\> | – | – |\n| 1 | 0.069 | 1.029 |\n"));
	assert_non_null(strstr(html.data, "<td>&lt;0&gt;</td><td class=\"n\">–</td>"));
	assert_non_null(strstr(html.data, "<td>1</td><td class=\"n\">0.069</td>"));
	json_t *root = json_loads(json.data, 0, NULL);
	const json_t *rows = json_object_get(
		json_object_get(json_array_get(json_object_get(root, "results"), 0), "table"),
		"rows");
	const json_t *cells = json_object_get(json_array_get(rows, 1), "cells");
	assert_true(fabs(json_real_value(json_array_get(cells, 0)) - 0.069) < 1e-9);
	json_decref(root);
	result_list_release(&list);
}

static void a_long_series_is_a_small_picture(void **state)
{
	CLEANUP(strbuf_release) struct strbuf html = STRBUF_INIT;
	struct result_list list = { 0 };
	const struct verdict_report report = a_report(&list, 36000);

	assert_int_equal(html_page_add(&html, &report), 0);
	assert_in_range(html.len, 5000, 60000);
	result_list_release(&list);
}

static struct result *a_correct(const char *name, const char *exporter)
{
	struct result *result = result_new(name, RESULT_CORRECTNESS);

	result->threshold.max_error = 0;
	(void)snprintf(result->exporter, sizeof(result->exporter), "%s", exporter);
	result_set_verdict(result, VERDICT_PASS, "Counters that went down: none of 7.");
	return result;
}

static size_t count_of(const char *text, const char *word)
{
	size_t count = 0;

	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
		count++;
	return count;
}

/* Why is before the results; what has no more than a reason has no details. */
static void the_page_begins_with_the_reason(void **state)
{
	CLEANUP(strbuf_release) struct strbuf html = STRBUF_INIT;
	struct result_list list = { 0 };

	assert_int_equal(result_list_add(&list, a_correct("correctness/first", "")), 0);
	const struct verdict_report report = a_report(&list, 20);
	assert_int_equal(html_page_add(&html, &report), 0);
	const char *lead = strstr(html.data, "<p class=\"lead\">");
	assert_non_null(lead);
	assert_non_null(strstr(lead, "half of &lt;it&gt;"));
	assert_true(strstr(lead, "half of &lt;it&gt;") < strstr(html.data, "<h2>Results</h2>"));
	assert_int_equal(count_of(html.data, ">correctness/first<"), 1);
	assert_null(strstr(html.data, "nan"));
	result_list_release(&list);
}

static void each_exporter_has_its_results(void **state)
{
	CLEANUP(strbuf_release) struct strbuf html = STRBUF_INIT, markdown = STRBUF_INIT;
	struct result_list list = { 0 };
	const struct verdict_report report = { .results = &list, .command = "", .version = "1" };

	assert_int_equal(result_list_add(&list, a_correct("correctness/types", "one")), 0);
	assert_int_equal(result_list_add(&list, a_correct("correctness/types", "two")), 0);
	assert_int_equal(result_list_add(&list, a_correct("correctness/more", "one")), 0);
	assert_int_equal(html_page_add(&html, &report), 0);
	markdown_add(&markdown, &report);
	assert_int_equal(count_of(html.data, "<table class=\"results\">"), 2);
	assert_true(strstr(html.data, ">correctness/more<") < strstr(html.data, "id=\"e2\""));
	assert_non_null(strstr(markdown.data, "| correctness/types of two |"));
	result_list_release(&list);
}

static void a_line_says_what_fails_and_where(void **state)
{
	CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT;
	struct result_list list = { 0 };
	struct machine_facts machine = { .count = 1, .items = { { "kernel", "Linux 6.1" } } };

	assert_int_equal(result_list_add(&list, a_correct("correctness/first", "")), 0);
	struct verdict_report report = a_report(&list, 20);
	report.machine = &machine;
	report_line_add(&line, &report);
	assert_non_null(strstr(line.data,
			       "kepler-validator 1.2: fail (1 pass, 1 fail, 0 inconclusive, "
			       "0 not applicable), Linux 6.1, 2023-11-14T22:13:20Z. "
			       "pod|<script>"));
	assert_non_null(strstr(line.data, ": half of <it>"));
	assert_null(strchr(line.data, '\n'));
	result_list_release(&list);
}

static void a_new_report_replaces_an_old_one(void **state)
{
	char folder[] = "/tmp/test-report-XXXXXX", path[PATH_MAX], text[64];
	struct result_list list = { 0 };
	struct diag diag = { "" };
	const struct verdict_report report = a_report(&list, 20);

	assert_non_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/report", folder);
	assert_int_equal(report_folder_write(path, &report, &diag), 0);
	(void)snprintf(path, sizeof(path), "%s/report/series/002-actual.csv.gz", folder);
	assert_int_equal(write_file_atomic(path, "old", 3, 0644), 0);
	(void)snprintf(path, sizeof(path), "%s/report", folder);
	assert_int_equal(report_folder_write(path, &report, &diag), 0);
	(void)snprintf(path, sizeof(path), "%s/report/series/002-actual.csv.gz", folder);
	assert_int_equal(access(path, F_OK), -1);
	static const char *const files[] = { "series/001-actual.csv.gz",
					     "series/001-predicted.csv.gz",
					     "report.json",
					     "report.html",
					     "report.md",
					     "junit.xml" };
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		(void)snprintf(path, sizeof(path), "%s/report/%s", folder, files[i]);
		assert_int_equal(access(path, R_OK), 0);
	}
	/* A file that is not of a report stays, and a link is not followed. */
	(void)snprintf(path, sizeof(path), "%s/report/series/mine.csv.gz", folder);
	assert_int_equal(write_file_atomic(path, "mine", 4, 0644), 0);
	(void)snprintf(path, sizeof(path), "%s/report", folder);
	assert_int_equal(report_folder_write(path, &report, &diag), 0);
	(void)snprintf(path, sizeof(path), "%s/report/series/mine.csv.gz", folder);
	assert_int_equal(access(path, F_OK), 0);
	(void)snprintf(path, sizeof(path), "%s/linked", folder);
	assert_int_equal(mkdir(path, 0755), 0);
	(void)snprintf(path, sizeof(path), "%s/linked/series", folder);
	assert_int_equal(symlink("../report/series", path), 0);
	(void)snprintf(path, sizeof(path), "%s/linked", folder);
	assert_true(report_folder_write(path, &report, &diag) < 0);
	assert_non_null(strstr(diag.text, "linked/series: cannot be written"));
	(void)snprintf(path, sizeof(path), "%s/report/series/001-actual.csv.gz", folder);
	assert_int_equal(access(path, F_OK), 0);
	/* A folder that cannot be made is named. */
	(void)snprintf(path, sizeof(path), "%s/report/junit.xml/x", folder);
	assert_int_equal(report_folder_write(path, &report, &diag), -ENOTDIR);
	assert_non_null(strstr(diag.text, "junit.xml/x: cannot be written: Not a directory"));
	(void)snprintf(text, sizeof(text), "rm -r %s", folder);
	assert_int_equal(system(text), 0);
	result_list_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_has_null_in_place_of_nan),
		cmocka_unit_test(names_are_no_markup),
		cmocka_unit_test(a_table_is_in_each_report),
		cmocka_unit_test(a_long_series_is_a_small_picture),
		cmocka_unit_test(the_page_begins_with_the_reason),
		cmocka_unit_test(each_exporter_has_its_results),
		cmocka_unit_test(a_line_says_what_fails_and_where),
		cmocka_unit_test(a_new_report_replaces_an_old_one),
	};

	return unit_run(tests);
}

// SPDX-License-Identifier: Apache-2.0
#include "evidence/series_file.h"

#include <unistd.h>
#include <zlib.h>

#include "tests/unit/unit.h"

static char path[] = "/tmp/test-series_file-XXXXXX";

static void write_file(const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(fputs(text, file) < 0, 0);
	assert_int_equal(fclose(file), 0);
}

static struct series *read_series(const char *text, const char *words)
{
	struct series *series = NULL;
	struct diag diag = { "" };
	char name[128];

	write_file(text);
	(void)snprintf(name, sizeof(name), "%s%s", path, words);
	if (series_file_read(name, SERIES_AUTO, &series, &diag) < 0)
		fail_msg("%s", diag.text);
	return series;
}

static void expect_series(const char *text, const char *words, double amount, double covered_s)
{
	struct series *series = read_series(text, words);
	struct amount sum = series_amount(series, 0, 1e12);

	if (fabs(sum.amount - amount) > 1e-6 || fabs(sum.covered_s - covered_s) > 1e-6)
		fail_msg("%g in %g s, not %g in %g s: %s", sum.amount, sum.covered_s, amount,
			 covered_s, text);
	series_free(series);
}

/* The message behind the path. */
static void expect_error(const char *text, const char *words, int error, const char *message)
{
	struct series *series = NULL;
	struct diag diag = { "" };
	char name[128];

	write_file(text);
	(void)snprintf(name, sizeof(name), "%s%s", path, words);
	assert_int_equal(series_file_read(name, SERIES_AUTO, &series, &diag), error);
	assert_null(series);
	assert_memory_equal(diag.text, path, strlen(path));
	assert_string_equal(diag.text + strlen(path), message);
}

static void artifacts_of_upstreams_validator(void **state)
{
	expect_series("{\"query\": \"sum(rate(x_joules_total[20s]))\", \"metric\": {}, "
		      "\"timestamps\": [1700000000, 1700000003, 1700000006], "
		      "\"values\": [1.5, \"2\", 3]}",
		      "", 19.5, 9);
	expect_series("{\"values\": [1, NaN, 2, Infinity, -Infinity, null, 3], \"timestamps\": "
		      "[0, 1, 2, 3, 4, 5, 6], \"metric\": {\"job\": \"vm\"}}",
		      "", 5, 2);
	struct series *series = read_series("{\"query\": \"node_package_joules_total\", "
					    "\"metric\": {\"__name__\": \"a\", \"b\": \"c\"},"
					    "\"timestamps\": [1, 2, 3], \"values\": [10, 12, 16]}",
					    "");
	assert_string_equal(series->name, "a{b=\"c\"}");
	assert_string_equal(series->query, "node_package_joules_total");
	assert_string_equal(series->source, path);
	assert_true(series->is_counter);
	assert_int_equal(series->count, 2);
	series_free(series);
}

static const char prometheus[] =
	"{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":["
	"{\"metric\":{\"__name__\":\"watts\",\"zone\":\"package\"},"
	"\"values\":[[100,\"1\"],[101.5,\"2\"],[103,\"+Inf\"]]},"
	"{\"metric\":{\"zone\":\"dram\"},\"values\":[[100,\"3\"],[101,\"4\"]]}]}}";

static void ranges_of_prometheus(void **state)
{
	expect_series(prometheus, "#dram", 7, 2);
	expect_series(prometheus, "#zone=\"package\"", 4.5, 3);
	expect_error(prometheus, "", -ENOTUNIQ,
		     ": 2 series fit; choose one with FILE#WORDS, such as a label's value: "
		     "\"watts{zone=\\\"package\\\"}\", \"{zone=\\\"dram\\\"}\"");
	expect_error(prometheus, "#core", -ENOENT,
		     "#core: no series has \"core\" in its name; there are "
		     "\"watts{zone=\\\"package\\\"}\", \"{zone=\\\"dram\\\"}\"");
}

static void tables(void **state)
{
	expect_series("time,watts\n1,5\n2,6\r\n\n3,7\n", "", 18, 3);
	expect_series("a, Time ,b\nx,1,5\ny,2,\nz,3,7", "#b", 12, 2);
	expect_series("\xef\xbb\xbf"
		      "t,package_uj,package\n1700000000000,1000000,1\n1700000002000,3000000,2\n",
		      "#package_uj", 2, 2);
	expect_series("t,package_uj,package\n1,1000000,1\n3,3000000,2\n", "#package", 5, 3);
	expect_series("date,\"power, mW\"\n2024-11-12T04:56:06Z,1000\n2024-11-12 04:56:08.5,2000\n",
		      "", 3000 * 2.5, 5);
	expect_error("time,a,b\n1,2,3\n", "", -ENOTUNIQ,
		     ": 2 series fit; choose one with FILE#WORDS, such as a label's value: \"a\", "
		     "\"b\"");
}

static void errors_have_a_place(void **state)
{
	expect_error("", "", -ENOENT,
		     ": contains no series; an artifact of upstream's validator, a range of "
		     "Prometheus in JSON, CSV or a recording is expected");
	expect_error("time,watts\n1,5\n2,five\n", "", -EPROTO,
		     ":3:7: column 2 must be a number, not \"five\"");
	expect_error("time,watts\nnoon,5\n", "", -EPROTO,
		     ":2:7: column 1 must be a time in s or like 2024-11-12T04:56:06Z, not "
		     "\"noon\"");
	expect_error("time,watts\n1\n", "", -EPROTO, ":2:2: the line has 1 columns, 2 are needed");
	expect_error("{\n \"timestamps\": [1, 2], \"values\": [1]}", "", -EPROTO,
		     ":2:36: \"timestamps\" and \"values\" have different lengths");
	expect_error("{\"values\": [1]}", "", -EPROTO,
		     ":1:13: there are values without \"timestamps\"");
	expect_error("{\"metric\":{},\"values\":[[1,\"x\"]]}", "", -EPROTO,
		     ":1:29: must be a number, not \"x\"");
	expect_error("{\"values\":[[1,2,3]]}", "", -EPROTO,
		     ":1:17: a point must be a time and a value");
	expect_error("{\"a\": [1, 2", "", -EPROTO, ":1:11: the file ends before its JSON does");
	expect_error("{\"a\": 1,}", "", -EPROTO, ":1:9: \"}\" is not expected here");
	expect_error("{} {}", "", -EPROTO, ":1:4: more text behind the value");
}

static void missing_files_are_named(void **state)
{
	struct series *series = NULL;
	struct diag diag = { "" };

	assert_int_equal(series_file_read("/nowhere/x.json", SERIES_AUTO, &series, &diag), -ENOENT);
	assert_string_equal(diag.text, "/nowhere/x.json: No such file or directory");
	assert_int_equal(series_file_read("/tmp", SERIES_AUTO, &series, &diag), -EISDIR);
	assert_string_equal(diag.text, "/tmp: is a folder; name a file");
}

static void compressed_files_are_read(void **state)
{
	struct series *series = NULL;
	struct diag diag = { "" };
	gzFile file = gzopen(path, "we");

	assert_int_equal(gzputs(file, prometheus), sizeof(prometheus) - 1);
	assert_int_equal(gzclose(file), Z_OK);
	char name[64];
	(void)snprintf(name, sizeof(name), "%s#dram", path);
	assert_int_equal(series_file_read(name, SERIES_AUTO, &series, &diag), 0);
	assert_int_equal(series->count, 2);
	series_free(series);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(artifacts_of_upstreams_validator),
		cmocka_unit_test(ranges_of_prometheus),
		cmocka_unit_test(tables),
		cmocka_unit_test(errors_have_a_place),
		cmocka_unit_test(missing_files_are_named),
		cmocka_unit_test(compressed_files_are_read),
	};
	int fd = mkstemp(path);

	if (fd < 0 || close(fd) < 0)
		return 1;
	int failed = unit_run(tests);
	(void)unlink(path);
	return failed;
}

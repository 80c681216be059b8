// SPDX-License-Identifier: Apache-2.0
#include "samples/series_reader.h"

#include "base/strbuf.h"
#include "base/text/json_scan.h"
#include "tests/unit/unit.h"

static int note_series(void *userdata, const struct series_labels *labels)
{
	struct strbuf *said = userdata;

	strbuf_addf(said, "%s(%s)", series_label(labels, "__name__"), series_label(labels, "mode"));
	return 0;
}

static int note_point(void *userdata, const struct series_point *point)
{
	struct strbuf *said = userdata;

	strbuf_addf(said, " %lld=%g", (long long)point->time_us, point->value);
	return 0;
}

static int read_text(const char *text, struct strbuf *said, struct series_answer *answer,
		     struct diag *diag)
{
	const struct series_sink sink = { note_series, note_point, said };

	strbuf_reset(said);
	return series_read_text(text, strlen(text), &sink, answer, diag);
}

static void check(const char *text, const char *expected)
{
	CLEANUP(strbuf_release) struct strbuf said = STRBUF_INIT;
	struct series_answer answer;
	struct diag diag = { "" };

	assert_int_equal(read_text(text, &said, &answer, &diag), 0);
	assert_string_equal(said.data ? said.data : "", expected);
}

static void refuse(const char *text, const char *why)
{
	CLEANUP(strbuf_release) struct strbuf said = STRBUF_INIT;
	struct series_answer answer;
	struct diag diag = { "" };

	assert_int_equal(read_text(text, &said, &answer, &diag), -EPROTO);
	if (!strstr(diag.text, why))
		fail_msg("%s: %s", text, diag.text);
}

#define SERIES                                                                                     \
	"{\"metric\":{\"__name__\":\"a\",\"mode\":\"idle\"},"                                      \
	"\"values\":[[1.5,\"2\"],[3,\"4e1\"]]}"

static void test_answer(void **state)
{
	check("{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[" SERIES
	      ",{\"metric\":{},\"values\":[]}]}}",
	      "a(idle) 1500000=2 3000000=40()");
}

static void test_file_by_metric(void **state)
{
	check("{\"a\": [" SERIES "], \"metric\": [" SERIES "], \"b\": []}",
	      "a(idle) 1500000=2 3000000=40a(idle) 1500000=2 3000000=40");
}

static void test_no_numbers(void **state)
{
	check("[{\"metric\":{},\"values\":[[1,\"NaN\"],[2,\"+Inf\"],[3,\"1e999\"]]}]",
	      "() 1000000=nan 2000000=nan 3000000=nan");
}

static void test_histograms_are_passed_over(void **state)
{
	check("[{\"metric\":{\"mode\":\"x\"},\"histograms\":[[1,{\"count\":\"2\",\"buckets\":"
	      "[[1,\"2\",\"3\",\"4\"]]}]]}," SERIES "]",
	      "a(idle) 1500000=2 3000000=40");
}

static void test_strings_are_no_brackets(void **state)
{
	check("{\"a]\\\"}\": [{\"metric\" : {\"mode\":\"[\\u00e9\\\"\"},\"values\":[]}]}",
	      "([\xc3\xa9\")");
	check("{\"metric\": \"metric\", \"b\": 1}", "");
}

static void test_malformed(void **state)
{
	char deep[JSON_DEPTH_MAX + 2];

	refuse("[{\"metric\":{\"a\":1},\"values\":[]}]", "must be a string");
	refuse("[{\"values\":[[1,\"2\"]],\"metric\":{}}]", "without the labels");
	refuse("[{\"metric\":{},\"values\":[1]}]", "pairs of a time and a value");
	refuse("[{\"metric\":{},\"values\":[[1]]}]", "needs a time and a value");
	refuse("[{\"metric\":{},\"values\":[[1,\"2\",3]]}]", "more than a time and a value");
	refuse("[{\"metric\":{},\"values\":[[\"1\",\"2\"]]}]", "seconds since 1970");
	refuse("[{\"metric\":{},\"values\":[[-1,\"2\"]]}]", "seconds since 1970");
	refuse("[{\"metric\":{},\"values\":[[1e30,\"2\"]]}]", "seconds since 1970");
	refuse("[{\"metric\":{},\"values\":[[1,\"two\"]]}]", "number in quotes");
	refuse("[{\"metric\":{},\"metric\":{},\"values\":[]}]",
	       "byte 15: a series with labels twice");
	refuse("[{\"metric\":{},\"values\":[[1,\"2\"]}", "ends before");
	refuse("[{\"metric\":{}}", "ends before");
	refuse("", "byte 1: must be series as JSON");
	refuse("a,b", "byte 1: must be series as JSON");
	memset(deep, '[', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	refuse(deep, "nested too deeply");
}

static void test_failed_query(void **state)
{
	CLEANUP(strbuf_release) struct strbuf said = STRBUF_INIT;
	struct series_answer answer;
	struct diag diag = { "" };

	assert_int_equal(
		read_text("{\"status\":\"error\",\"errorType\":\"bad_data\",\"error\":\"no "
			  "such\\tthing\"}",
			  &said, &answer, &diag),
		0);
	assert_false(answer.is_success);
	assert_string_equal(answer.error, "no such?thing");
	assert_int_equal(read_text("{\"status\":\"success\",\"data\":{}}", &said, &answer, &diag),
			 0);
	assert_true(answer.is_success);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer),
		cmocka_unit_test(test_file_by_metric),
		cmocka_unit_test(test_no_numbers),
		cmocka_unit_test(test_histograms_are_passed_over),
		cmocka_unit_test(test_strings_are_no_brackets),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_failed_query),
	};

	return unit_run(tests);
}

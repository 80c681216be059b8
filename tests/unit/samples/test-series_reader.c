// SPDX-License-Identifier: Apache-2.0
#include "samples/series_reader.h"

#include <sys/resource.h>

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

static int read_text(const char *text, size_t step, struct strbuf *said,
		     struct series_reader *reader, struct diag *diag)
{
	const struct series_sink sink = { note_series, note_point, said };
	size_t len = strlen(text);
	int r = 0;

	strbuf_reset(said);
	series_reader_init(reader, &sink);
	for (size_t at = 0; r == 0 && at < len; at += step)
		r = series_reader_feed(reader, text + at, len - at < step ? len - at : step, diag);
	return r == 0 ? series_reader_end(reader, diag) : r;
}

static void check(const char *text, const char *expected)
{
	struct strbuf said = STRBUF_INIT;

	for (size_t step = 1; step < strlen(text) + 2; step += 3) {
		struct series_reader reader;
		struct diag diag = { "" };

		assert_int_equal(read_text(text, step, &said, &reader, &diag), 0);
		assert_string_equal(said.data, expected);
		series_reader_release(&reader);
	}
	strbuf_release(&said);
}

static void refuse(const char *text, const char *why)
{
	struct strbuf said = STRBUF_INIT;
	struct series_reader reader;
	struct diag diag = { "" };

	assert_int_equal(read_text(text, 7, &said, &reader, &diag), -EPROTO);
	assert_non_null(strstr(diag.text, why));
	series_reader_release(&reader);
	strbuf_release(&said);
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

static void test_malformed(void **state)
{
	refuse("[{\"values\":[[1,\"2\"]],\"metric\":{}}]", "without the labels");
	refuse("[{\"metric\":{\"a\":1},\"values\":[]}]", "must be a string");
	refuse("[{\"metric\":{},\"values\":[1]}]", "pairs");
	refuse("[{\"metric\":{},\"values\":[[1]]}]", "a time and a value");
	refuse("[{\"metric\":{},\"values\":[[1,\"2\",3]]}]", "more than");
	refuse("[{\"metric\":{},\"values\":[[\"1\",\"2\"]]}]", "seconds since 1970");
	refuse("[{\"metric\":{},\"values\":[[-1,\"2\"]]}]", "seconds since 1970");
	refuse("[{\"metric\":{},\"values\":[[1e30,\"2\"]]}]", "seconds since 1970");
	refuse("[{\"metric\":{},\"values\":[[1,\"two\"]]}]", "number in quotes");
	refuse("[{\"metric\":{},\"metric\":{},\"values\":[]}]", "labels twice");
}

static void test_failed_query(void **state)
{
	struct strbuf said = STRBUF_INIT;
	struct series_reader reader;
	struct diag diag = { "" };

	assert_int_equal(
		read_text("{\"status\":\"error\",\"errorType\":\"bad_data\",\"error\":\"no "
			  "such thing\"}",
			  5, &said, &reader, &diag),
		0);
	assert_false(reader.is_success);
	assert_string_equal(reader.error, "no such thing");
	series_reader_release(&reader);
	strbuf_release(&said);
}

static int count_point(void *userdata, const struct series_point *point)
{
	(void)point;
	++*(uint64_t *)userdata;
	return 0;
}

static int ignore_series(void *userdata, const struct series_labels *labels)
{
	(void)userdata;
	(void)labels;
	return 0;
}

static long peak_kib(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss;
}

/* 100 MB of one series: no more memory than before it. */
static void test_large_answer(void **state)
{
	uint64_t points = 0, expected = 1;
	const struct series_sink sink = { ignore_series, count_point, &points };
	static const char begin[] = "[{\"metric\":{},\"values\":[[1,\"2\"]";
	static const char more[] = ",[1695361683.781,\"1016340534462161.5\"]";
	struct series_reader reader;
	struct diag diag = { "" };
	long before_kib;

	series_reader_init(&reader, &sink);
	assert_int_equal(series_reader_feed(&reader, begin, sizeof(begin) - 1, &diag), 0);
	before_kib = peak_kib();
	for (size_t bytes = 0; bytes < 100 * 1000 * 1000; bytes += sizeof(more) - 1, expected++)
		assert_int_equal(series_reader_feed(&reader, more, sizeof(more) - 1, &diag), 0);
	assert_int_equal(series_reader_feed(&reader, "]}]", 3, &diag), 0);
	assert_int_equal(series_reader_end(&reader, &diag), 0);
	assert_int_equal(points, expected);
	assert_in_range(peak_kib() - before_kib, 0, 16384);
	series_reader_release(&reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer),
		cmocka_unit_test(test_file_by_metric),
		cmocka_unit_test(test_no_numbers),
		cmocka_unit_test(test_histograms_are_passed_over),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_failed_query),
		cmocka_unit_test(test_large_answer),
	};

	return unit_run(tests);
}

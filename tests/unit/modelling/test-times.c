// SPDX-License-Identifier: Apache-2.0
#include "modelling/times.h"

#include <unistd.h>

#include "base/file.h"
#include "tests/unit/unit.h"

static void test_times(void **state)
{
	int64_t us = 0;
	char text[32];

	assert_int_equal(time_parse("2023-09-22T01:57:05Z", &us), 0);
	assert_int_equal(us, 1695347825000000);
	assert_int_equal(time_parse("2023-09-22T01:57:05.123", &us), 0);
	assert_int_equal(us, 1695347825000000);
	time_format(us, text, sizeof(text));
	assert_string_equal(text, "2023-09-22T01:57:05Z");
	assert_int_equal(time_parse("1695347825.5", &us), 0);
	assert_int_equal(us, 1695347825500000);
	assert_int_equal(time_parse("yesterday", &us), -EINVAL);
	assert_int_equal(time_parse("2023-09-22T01:57:05+02:00", &us), -EINVAL);
	assert_int_equal(time_parse("-5", &us), -EINVAL);
	assert_int_equal(time_parse("1e300", &us), -EINVAL);
	assert_int_equal(seconds_parse("300", &us), 0);
	assert_int_equal(us, 300000000);
	assert_int_equal(seconds_parse("1m30s", &us), 0);
	assert_int_equal(us, 90000000);
	assert_int_equal(seconds_parse("soon", &us), -EINVAL);
}

static void test_log(void **state)
{
	static const char good[] = "{\"startTimeUTC\":\"1970-01-01T00:00:10Z\",\"steps\":[{"
				   "\"startTimeUTC\":\"1970-01-01T00:00:11Z\"}],"
				   "\"endTimeUTC\":\"1970-01-01T00:00:20Z\"}";
	static const char bad[] = "{\"startTimeUTC\":\"1970-01-01T00:00:10Z\"}";
	char path[] = "/tmp/kepler-times-XXXXXX";
	int fd = mkstemp(path);
	int64_t start_us, end_us;
	struct diag diag = { "" };

	assert_true(fd >= 0);
	assert_int_equal(write(fd, good, sizeof(good) - 1), sizeof(good) - 1);
	assert_int_equal(times_of_log(path, &start_us, &end_us, &diag), 0);
	assert_int_equal(start_us, 10000000);
	assert_int_equal(end_us, 20000000);
	assert_int_equal(pwrite(fd, bad, sizeof(bad) - 1, 0), sizeof(bad) - 1);
	assert_int_equal(ftruncate(fd, sizeof(bad) - 1), 0);
	assert_int_equal(times_of_log(path, &start_us, &end_us, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "endTimeUTC"));
	assert_int_equal(ftruncate(fd, 5), 0);
	assert_int_equal(times_of_log(path, &start_us, &end_us, &diag), -EINVAL);
	(void)close(fd);
	(void)unlink(path);
	assert_int_equal(times_of_log(path, &start_us, &end_us, &diag), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_log),
	};

	return unit_run(tests);
}

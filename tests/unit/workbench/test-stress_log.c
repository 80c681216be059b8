// SPDX-License-Identifier: Apache-2.0
#include "workbench/stress_log.h"

#include <unistd.h>

#include "modelling/times.h"
#include "tests/unit/unit.h"

#define MS 1000

/* The log says when it was, with the second that holds the end, so that all of it is collected. */
static void test_log_reads_back(void **state)
{
	CLEANUP(stress_log_release) struct stress_log log = { .start_us = 10500 * MS, .cpus = 4 };
	const struct stress_entry first = { "cpu", 2, 0, 2000000, 10500 * MS, 30600 * MS };
	const struct stress_entry second = { "sleep", 1, 1, 0, 35000 * MS, 40001 * MS };
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	char path[] = "/tmp/kepler-stress-log-XXXXXX";
	int64_t start_us, end_us;
	struct diag diag = { "" };
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	(void)close(fd);
	assert_int_equal(stress_log_add(&log, &first), 0);
	assert_int_equal(stress_log_add(&log, &second), 0);
	assert_int_equal(stress_log_format(&log, &text), 0);
	assert_string_equal(
		text.data,
		"{\n\"startTimeUTC\": \"1970-01-01T00:00:10Z\", \"endTimeUTC\": "
		"\"1970-01-01T00:00:41Z\",\n\"cpus\": 4, \"complete\": false,\n\"steps\": [\n"
		"{\"load\": \"cpu\", \"instances\": 2, \"failed\": 0, \"max_khz\": 2000000, "
		"\"start\": 10.500, \"end\": 30.600},\n"
		"{\"load\": \"sleep\", \"instances\": 1, \"failed\": 1, \"max_khz\": 0, "
		"\"start\": 35.000, \"end\": 40.001}\n]\n}\n");
	assert_int_equal(stress_log_write(&log, path, &diag), 0);
	assert_int_equal(times_of_log(path, &start_us, &end_us, &diag), 0);
	assert_int_equal(start_us, 10000 * MS);
	assert_int_equal(end_us, 41000 * MS);
	(void)unlink(path);
	assert_int_equal(stress_log_write(&log, "/proc/none/log", &diag), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_log_reads_back) };

	return unit_run(tests);
}

// SPDX-License-Identifier: Apache-2.0
#include "samples/collection.h"

#include <unistd.h>

#include "base/file.h"
#include "tests/unit/unit.h"

#define S 1000000

static char folder[] = "/tmp/kepler-collection-XXXXXX";
static char path[64];

/* A server that fails at some queries, after half of an answer. */
struct server {
	unsigned queries, waits;
	unsigned fail_at, fail_with; /* the n-th query, 0 none; errno */
	int64_t points_max;          /* in an answer */
	bool lies;                   /* with points before and after what it is asked for */
};

static int answer(void *userdata, const struct collect_range *range, const struct series_sink *sink,
		  struct diag *diag)
{
	struct server *server = userdata;
	const struct series_labels labels = { .name = { "__name__", "a" },
					      .value = { range->metric, "x\"y" },
					      .count = 2 };

	if ((range->to_us - range->from_us) / range->step_us + 1 > server->points_max)
		return diag_set(diag, -E2BIG, "too many samples");
	server->queries++;
	for (int series = 0; series < 2; series++) {
		int r = sink->series(sink->userdata, &labels);

		for (int64_t at = range->from_us; r == 0 && at <= range->to_us;
		     at += range->step_us) {
			const struct series_point point = { at, 1, "1.5" };

			r = sink->point(sink->userdata, &point);
		}
		for (int64_t away = S; r == 0 && server->lies && away < 4 * S; away += S) {
			const struct series_point before = { range->from_us - away, 1, "1.5" };
			const struct series_point after = { range->to_us + away, 1, "1.5" };

			r = sink->point(sink->userdata, &before);
			if (r == 0)
				r = sink->point(sink->userdata, &after);
		}
		if (r < 0)
			return r;
		if (server->queries == server->fail_at)
			return diag_set(diag, -(int)server->fail_with, "failed");
	}
	return 0;
}

static int wait(void *userdata, unsigned seconds)
{
	struct server *server = userdata;

	assert_int_equal(seconds, 1U << server->waits);
	server->waits++;
	return 0;
}

static char metrics[3][COLLECT_NAME_MAX] = { "first", "second", "third" };
static struct collect_plan plan = { .source = "http://x",
				    .start_us = 10 * S,
				    .end_us = 10 * S + 4500 * 250000LL,
				    .step_us = 250000,
				    .metrics = metrics,
				    .metric_count = 3 };

static int run(struct server *server, struct collect_result *result, struct diag *diag)
{
	const struct collect_hooks hooks = { answer, wait, NULL, server };

	return collection_run(path, &plan, &hooks, result, diag);
}

/* The file that an unbroken run writes; owned. */
static char *whole_text(size_t *ret_len)
{
	struct server server = { .points_max = 11000 };
	struct collect_result result;
	struct diag diag = { "" };
	char *text;

	assert_int_equal(run(&server, &result, &diag), 0);
	assert_int_equal(result.points, 2 * 3 * 4501);
	assert_int_equal(read_file_alloc(path, 64U << 20, &text, ret_len), 0);
	assert_int_equal(unlink(path), 0);
	return text;
}

static int count_series(void *userdata, const struct series_labels *labels)
{
	(void)userdata;
	assert_string_equal(series_label(labels, "a"), "x\"y");
	return 0;
}

static int count_point(void *userdata, const struct series_point *point)
{
	assert_int_equal((point->time_us - plan.start_us) % plan.step_us, 0);
	++*(unsigned *)userdata;
	return 0;
}

static void test_file_reads_back(void **state)
{
	struct server server = { .points_max = 11000 };
	unsigned points = 0;
	const struct series_sink sink = { count_series, count_point, &points };
	struct collect_result result;
	struct diag diag = { "" };

	assert_int_equal(run(&server, &result, &diag), 0);
	assert_int_equal(series_read_file(path, &sink, &diag), 0);
	assert_int_equal(points, 2 * 3 * 4501);
	assert_int_equal(server.queries, 9);
	assert_int_equal(run(&server, &result, &diag), -EEXIST);
	assert_int_equal(unlink(path), 0);
}

/* Online training would take the time of such points for later than now. */
static void test_points_of_other_times_are_left_out(void **state)
{
	struct server server = { .points_max = 11000, .lies = true };
	unsigned points = 0;
	const struct series_sink sink = { count_series, count_point, &points };
	struct collect_result result;
	struct diag diag = { "" };
	CLEANUP_FREE char *text = NULL;
	size_t len, whole_len;
	CLEANUP_FREE char *whole = whole_text(&whole_len);

	assert_int_equal(run(&server, &result, &diag), 0);
	assert_int_equal(result.points, 2 * 3 * 4501);
	assert_int_equal(result.outside, 9ULL * 2 * 6);
	assert_int_equal(series_read_file(path, &sink, &diag), 0);
	assert_int_equal(points, 2 * 3 * 4501);
	assert_int_equal(read_file_alloc(path, 64U << 20, &text, &len), 0);
	assert_int_equal(len, whole_len);
	assert_memory_equal(text, whole, len);
	assert_int_equal(unlink(path), 0);
}

/* Bytes that a crash leaves after the last good chunk. */
static void leave_half_a_chunk(void)
{
	char part[96];
	FILE *file;

	(void)snprintf(part, sizeof(part), "%s.part", path);
	file = fopen(part, "ae");
	assert_non_null(file);
	/* More than is to come: it has to be cut off, not just written over. */
	for (unsigned i = 0; i < 100000; i++)
		assert_true(fputs("{\"metric\":", file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* A crash at any query: the next run makes the same file of it. */
static void test_crash_at_any_query(void **state)
{
	size_t len, again_len;
	CLEANUP_FREE char *text = whole_text(&len);

	for (unsigned at = 1; at <= 9; at++) {
		struct server server = { .points_max = 11000, .fail_at = at, .fail_with = EPROTO };
		CLEANUP_FREE char *again = NULL;
		struct collect_result result;
		struct diag diag = { "" };

		assert_int_equal(run(&server, &result, &diag), -EPROTO);
		assert_string_equal(diag.text, "failed");
		assert_int_equal(access(path, F_OK), -1);
		leave_half_a_chunk();
		assert_int_equal(run(&server, &result, &diag), 0);
		assert_int_equal(result.was_resumed, at > 1);
		assert_int_equal(result.queries, 10 - at);
		assert_int_equal(read_file_alloc(path, 64U << 20, &again, &again_len), 0);
		assert_int_equal(again_len, len);
		assert_memory_equal(again, text, len);
		assert_int_equal(unlink(path), 0);
	}
}

static void test_failures_that_pass(void **state)
{
	struct server server = { .points_max = 11000, .fail_at = 2, .fail_with = EAGAIN };
	size_t len, again_len;
	CLEANUP_FREE char *text = whole_text(&len);
	CLEANUP_FREE char *again = NULL;
	struct collect_result result;
	struct diag diag = { "" };

	assert_int_equal(run(&server, &result, &diag), 0);
	assert_int_equal(server.waits, 1);
	assert_int_equal(result.repeated, 1);
	assert_int_equal(result.points, 2 * 3 * 4501);
	assert_int_equal(read_file_alloc(path, 64U << 20, &again, &again_len), 0);
	assert_string_equal(again, text);
	assert_int_equal(unlink(path), 0);
}

static void test_answers_that_are_too_large(void **state)
{
	struct server server = { .points_max = 600 };
	struct collect_result result;
	struct diag diag = { "" };

	assert_int_equal(run(&server, &result, &diag), 0);
	assert_int_equal(result.points, 2 * 3 * 4501);
	assert_int_equal(unlink(path), 0);
	server.points_max = 10;
	assert_int_equal(run(&server, &result, &diag), -E2BIG);
}

static void write_progress(const char *text)
{
	char progress[96];

	(void)snprintf(progress, sizeof(progress), "%s.progress", path);
	assert_int_equal(write_file_atomic(progress, text, strlen(text), 0600), 0);
}

static void test_foreign_and_damaged_progress(void **state)
{
	static const char *const damaged[] = {
		"",
		"kepler-model collection 1\n",
		"kepler-model collection 2\nat 0 0 0 0\n",
		"kepler-model collection 1\nsource x\ntimes 1 2 0\nat 0 0 0 0\n",
		"kepler-model collection 1\nsource x\ntimes 1 2 1\nmetric a\nat 2 1 0 0\n",
		"kepler-model collection 1\nsource x\ntimes 1 2 1\nmetric a\nat 0 1 0 0",
		"kepler-model collection 1\nsource x\ntimes 1 2 1\nmetric a\nat 0 1 0 0 0\n",
	};
	struct server server = { .points_max = 11000 };
	struct collect_result result;
	struct diag diag = { "" };

	for (size_t i = 0; i < ARRAY_SIZE(damaged); i++) {
		write_progress(damaged[i]);
		assert_int_equal(run(&server, &result, &diag), -EINVAL);
		assert_non_null(strstr(diag.text, "damaged"));
	}
	write_progress("kepler-model collection 1\nsource x\ntimes 1 2 1\nmetric a\nat 0 1 0 0\n");
	assert_int_equal(run(&server, &result, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "another collection"));
	assert_int_equal(server.queries, 0);
}

static int make_folder(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	(void)snprintf(path, sizeof(path), "%s/file", folder);
	return 0;
}

static int remove_folder(void **state)
{
	static const char *const names[] = { "", ".part", ".progress" };
	char name[96];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		(void)snprintf(name, sizeof(name), "%s%s", path, names[i]);
		(void)unlink(name);
	}
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_reads_back),
		cmocka_unit_test(test_points_of_other_times_are_left_out),
		cmocka_unit_test(test_crash_at_any_query),
		cmocka_unit_test(test_failures_that_pass),
		cmocka_unit_test(test_answers_that_are_too_large),
		cmocka_unit_test(test_foreign_and_damaged_progress),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

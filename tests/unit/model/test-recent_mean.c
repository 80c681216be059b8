// SPDX-License-Identifier: Apache-2.0
#include "model/recent_mean.h"

#include "tests/unit/unit.h"

static void test_names(void **state)
{
	static const char *const others[] = { "bpf_cpu_time_ms",
					      "_mean_30s",
					      "bpf_cpu_time_ms_mean_",
					      "bpf_cpu_time_ms_mean_s",
					      "bpf_cpu_time_ms_mean_30",
					      "bpf_cpu_time_ms_mean_030s",
					      "bpf_cpu_time_ms_mean_0s",
					      "bpf_cpu_time_ms_mean_3601s",
					      "bpf_cpu_time_ms_mean_30s_mean_30s",
					      "bpf_cpu_time_ms_mean_99999999999999999999s" };
	unsigned seconds = 7;

	assert_int_equal(recent_mean_parse("bpf_cpu_time_ms_mean_30s", &seconds), 15);
	assert_int_equal(seconds, 30);
	assert_int_equal(recent_mean_parse("x_mean_3600s", NULL), 1);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (recent_mean_parse(others[i], &seconds))
			fail_msg("%s", others[i]);
	}
	assert_int_equal(seconds, 30);
}

/* After the time constant, the mean has reached 1 - 1/e of a step. */
static void test_a_step(void **state)
{
	struct recent_mean mean = { .has_value = false };

	assert_true(fabs(recent_mean_add(&mean, 30, 1000, 0)) < 1e-12);
	for (int i = 1; i <= 10; i++)
		(void)recent_mean_add(&mean, 30, 1000 + 3 * i, 100);
	assert_true(fabs(mean.value - 63.212055882855767) < 1e-9);
}

/* Thousands of small steps of a low-pass filter: the truth for intervals of any length. */
static void test_intervals_of_any_length(void **state)
{
	static const double ends[] = { 1, 4, 4.5, 30, 31, 90 };
	static const double loads[] = { 10, 80, 0, 55, 20, 70 };
	struct recent_mean mean = { .has_value = false };
	double slow = 25, now = 0;

	(void)recent_mean_add(&mean, 20, 0, slow);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		double step = (ends[i] - now) / 20000;

		for (int n = 0; n < 20000; n++)
			slow += (loads[i] - slow) * step / 20;
		now = ends[i];
		assert_true(fabs(recent_mean_add(&mean, 20, now, loads[i]) - slow) < 0.01);
	}
}

static void test_where_it_begins(void **state)
{
	struct recent_mean mean = { .has_value = false };

	assert_true(fabs(recent_mean_add(&mean, 10, 50, 8) - 8) < 1e-12);
	assert_true(recent_mean_add(&mean, 10, 55, 4) < 8);
	assert_true(fabs(recent_mean_add(&mean, 10, 20, 3) - 3) < 1e-12); /* time goes back */
}

static void test_what_changes_nothing(void **state)
{
	struct recent_mean mean = { .has_value = false };

	(void)recent_mean_add(&mean, 10, 50, 8);
	assert_true(fabs(recent_mean_add(&mean, 10, 50, 100) - 8) < 1e-12); /* the same time */
	assert_true(fabs(recent_mean_add(&mean, 10, 60, (double)NAN) - 8) < 1e-12);
	/* The next value is that of both intervals. */
	assert_true(fabs(recent_mean_add(&mean, 10, 60, 0) - 8 * exp(-1)) < 1e-12);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_a_step),
		cmocka_unit_test(test_intervals_of_any_length),
		cmocka_unit_test(test_where_it_begins),
		cmocka_unit_test(test_what_changes_nothing),
	};

	return unit_run(tests);
}

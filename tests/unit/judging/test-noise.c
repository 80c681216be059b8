// SPDX-License-Identifier: Apache-2.0
/* Known signals: a counter in ticks and units, a sine, noise that each update has and loses. */
#include "judging/noise.h"

#include "tests/unit/unit.h"

#define READ_S  0.00025
#define LENGTH  40000  /* 10 s */
#define UNIT_UJ 61.035 /* 2^-14 J, in the kernel's whole nJ */

static uint64_t random_state = 1;

/* Uniform in -1..1 (SplitMix64). */
static double next_random(void)
{
	uint64_t z = (random_state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return ldexp((double)((z ^ (z >> 31)) >> 11), -52) - 1;
}

/* As sysfs shows energy: whole units, cut to whole microjoules. */
static double shown_j(double joules)
{
	return floor(floor(1e6 * joules / UNIT_UJ) * UNIT_UJ) / 1e6;
}

/* @power_w over ticks of @tick_s, with an error of up to @noise_j at each tick. */
static struct noise_reading *make_readings(double power_w, double tick_s, double noise_j)
{
	struct noise_reading *readings = calloc(LENGTH, sizeof(*readings));
	double tick = -1, joules = 0;

	for (size_t i = 0; i < LENGTH; i++) {
		double time_s = (double)i * READ_S;
		double now = floor(time_s / tick_s + 1e-9);

		if (now > tick) {
			tick = now;
			joules = shown_j(100 + power_w * tick * tick_s + noise_j * next_random());
		}
		readings[i] = (struct noise_reading){ 1000 + time_s, joules, 2e-6F };
	}
	return readings;
}

static void a_counter_in_ticks_is_recognised(void **state)
{
	static const double ticks_s[] = { 0.001, 0.01 };

	for (size_t t = 0; t < ARRAY_SIZE(ticks_s); t++) {
		CLEANUP_FREE struct noise_reading *readings = make_readings(20, ticks_s[t], 0);
		struct noise noise;

		assert_int_equal(noise_measure(readings, LENGTH, &noise), 0);
		double ticks = floor((LENGTH - 1) * READ_S / ticks_s[t] + 1e-9);
		assert_int_equal(noise.updates, (size_t)ticks - 1); /* of each but the first */
		assert_true(fabs(noise.update_s - ticks_s[t]) < 1e-9);
		assert_true(fabs(noise.update_high_s - ticks_s[t]) < 1e-9);
		assert_true(noise.update_is_resolved);
		assert_true(fabs(noise.resolution_uj - UNIT_UJ) < 1e-9);
		assert_true(fabs(noise.power_w - 20) < 0.05);
		assert_true(fabs(noise.interval_s - READ_S) < 1e-9);
		assert_true(fabs(noise.read_s - 2e-6) < 1e-9);
		assert_false(noise.is_randomised);
	}
}

/* Windows that fall between ticks have none or a whole tick: 1 ms of a tick of 10 ms. */
static void the_spread_falls_with_the_window(void **state)
{
	CLEANUP_FREE struct noise_reading *readings = make_readings(20, 0.01, 0);
	struct noise noise;

	assert_int_equal(noise_measure(readings, LENGTH, &noise), 0);
	const struct noise_spread *windows = noise.windows;

	assert_int_equal(windows[0].count, 9999);
	assert_int_equal(windows[1].count, 999);
	assert_int_equal(windows[3].count, 9);
	/* One of ten windows has 200 W: the standard deviation is 200 × √(0.1 × 0.9). */
	assert_true(fabs(windows[0].sd_w - 60) < 0.1);
	assert_true(fabs(windows[0].median_w) < 1e-9 && fabs(windows[0].max_w - 200) < 0.1);
	assert_true(fabs(windows[0].mean_w - 20) < 0.03);
	assert_true(windows[1].sd_w < 0.01 && windows[3].sd_w < 0.001);
	assert_int_equal(noise.allan_count, 12); /* 1 ms … 2.048 s */
	assert_true(noise.allan_w[0] > 50 && noise.allan_w[11] < 0.15);
}

static void a_filtered_counter_is_recognised(void **state)
{
	CLEANUP_FREE struct noise_reading *readings = make_readings(20, 0.001, 0.05);
	struct noise noise;

	assert_int_equal(noise_measure(readings, LENGTH, &noise), 0);
	assert_true(noise.is_randomised);
	/* Uniform in ±50 mJ: 50 / √3. */
	assert_true(fabs(noise.counter_noise_j / (0.05 / sqrt(3)) - 1) < 0.05);
	/* White noise of the counter: √3 × noise / window, at each window length. */
	assert_true(fabs(noise.windows[1].allan_w / (0.05 / 0.01) - 1) < 0.1);
	assert_true(fabs(noise.windows[2].allan_w / (0.05 / 0.1) - 1) < 0.25);
}

/* A reader that is interrupted for several updates at once, again and again, sees the noise. */
static void a_reader_that_is_interrupted_sees_the_noise(void **state)
{
	CLEANUP_FREE struct noise_reading *readings = make_readings(20, 0.001, 0.015);
	struct noise noise;
	size_t kept = 0;

	for (size_t i = 0; i < LENGTH; i++)
		if (i % 100 < 60 || i % 100 == 80)
			readings[kept++] = readings[i];
	assert_int_equal(noise_measure(readings, kept, &noise), 0);
	assert_true(noise.is_randomised);
	assert_true(fabs(noise.counter_noise_j / (0.015 / sqrt(3)) - 1) < 0.1);
}

/* A machine's own changes of power are no noise of its counter. */
static void varying_power_is_not_taken_for_a_filter(void **state)
{
	CLEANUP_FREE struct noise_reading *readings = calloc(LENGTH, sizeof(*readings));
	const double turn = 2 * 3.14159265358979 / 0.05;
	struct noise noise;

	for (size_t i = 0; i < LENGTH; i++) {
		double time_s = (double)i * READ_S, tick_s = floor(time_s / 0.001 + 1e-9) * 0.001;
		double joules = 50 * tick_s - 30 / turn * (cos(turn * tick_s) - 1);

		readings[i] = (struct noise_reading){ time_s, shown_j(joules), 1e-6F };
	}
	assert_int_equal(noise_measure(readings, LENGTH, &noise), 0);
	assert_false(noise.is_randomised);
	assert_true(fabs(noise.windows[0].sd_w - 30 / sqrt(2)) < 0.5); /* of a sine */
	assert_true(noise.windows[2].sd_w < 0.1);
}

static void what_is_not_known_is_not_a_number(void **state)
{
	CLEANUP_FREE struct noise_reading *readings = make_readings(20, 0.0001, 0);
	struct noise noise;

	assert_int_equal(noise_measure(readings, 1, &noise), -EINVAL);
	assert_int_equal(noise_measure(readings, LENGTH, &noise), 0);
	assert_false(noise.update_is_resolved); /* it changes with each reading */
	assert_int_equal(noise_measure(readings, 50, &noise), 0);
	assert_true(isnan(noise.update_s) && isnan(noise.counter_noise_j));
	assert_true(isnan(noise.windows[1].allan_w) == (noise.windows[1].count < 2));
	assert_int_equal(noise.windows[3].count, 0);
	assert_true(isnan(noise.windows[3].sd_w) && isnan(noise.windows[3].median_w));
	/* Without a reading near its end, a window is left out, and so is the next one. */
	for (size_t i = 20; i < LENGTH; i++)
		readings[i].time_s += 0.1;
	assert_int_equal(noise_measure(readings, LENGTH, &noise), 0);
	assert_int_equal(noise.windows[1].count, 999);
	assert_true(noise.windows[1].max_w < 21);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_counter_in_ticks_is_recognised),
		cmocka_unit_test(the_spread_falls_with_the_window),
		cmocka_unit_test(a_filtered_counter_is_recognised),
		cmocka_unit_test(a_reader_that_is_interrupted_sees_the_noise),
		cmocka_unit_test(varying_power_is_not_taken_for_a_filter),
		cmocka_unit_test(what_is_not_known_is_not_a_number),
	};

	return unit_run(tests);
}

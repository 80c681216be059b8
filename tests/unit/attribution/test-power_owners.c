// SPDX-License-Identifier: Apache-2.0
/* Factors on loads whose true factors are known. Random numbers have seeds. */
#include "attribution/power_owners.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND_NS 1000000000ULL
#define MOST      40

static uint64_t random_state;

static double random_unit(void) /* 0..1 */
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(random_state >> 11) / 9007199254740992.0;
}

struct load {
	uint64_t key[MOST];
	double work_w[MOST]; /* plateaus of some 25 s */
	double truth[MOST];  /* factors */
	double scale_w[MOST];
	double noise_w;
	bool is_steady;
	size_t count;
};

static void load_init(struct load *load, uint64_t seed, size_t count)
{
	random_state = seed * 1000003 + 17;
	*load = (struct load){ .count = count, .noise_w = 0.3 };
	for (size_t i = 0; i < count; i++) {
		load->key[i] = 100 + i;
		load->scale_w[i] = 10;
		load->work_w[i] = 10 * random_unit();
		load->truth[i] = 0.5 + 1.2 * random_unit();
	}
}

static struct power_owners_sample load_runs(struct load *load)
{
	struct power_owners_sample sample = {
		.span_ns = SECOND_NS, .key = load->key, .work_w = load->work_w, .count = load->count
	};

	for (size_t i = 0; i < load->count; i++) {
		if (!load->is_steady && random_unit() < 0.04)
			load->work_w[i] = load->scale_w[i] * random_unit();
		sample.power_w += load->truth[i] * load->work_w[i];
	}
	sample.power_w += load->noise_w * 2.449 * (random_unit() + random_unit() - 1);
	return sample;
}

static void learn(struct power_owners *owners, struct load *load, int intervals)
{
	for (int i = 0; i < intervals; i++) {
		struct power_owners_sample sample = load_runs(load);

		assert_true(power_owners_add(owners, &sample));
	}
}

static bool is_near(double value, double expected, double tolerance)
{
	return fabs(value - expected) <= tolerance;
}

static bool has_factor(const struct power_owners *owners, uint64_t key)
{
	return !is_near(power_owners_factor(owners, key), 1, 1e-9);
}

static void test_factors_are_learned(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 5; seed++) {
		struct power_owners owners;
		struct load load;
		double error_w;

		load_init(&load, seed, 8);
		power_owners_init(&owners);
		learn(&owners, &load, 25);
		assert_false(has_factor(&owners, 100));
		assert_false(power_owners_error(&owners, &error_w));
		learn(&owners, &load, 875);
		for (size_t i = 0; i < load.count; i++)
			assert_true(is_near(power_owners_factor(&owners, load.key[i]),
					    load.truth[i], 0.03));
		learn(&owners, &load, 900);
		assert_true(power_owners_error(&owners, &error_w));
		assert_true(error_w < 1.5 * load.noise_w);
		assert_true(is_near(power_owners_factor(&owners, 0), 1, 1e-9));
		assert_true(is_near(power_owners_factor(&owners, 7), 1, 1e-9));
	}
}

/* Half of the watts are said of one owner, before and from now on: its factor is twice as large. */
static void test_what_is_restated_has_another_factor(void **state)
{
	struct power_owners owners;
	struct load load;

	(void)state;
	load_init(&load, 3, 8);
	power_owners_init(&owners);
	learn(&owners, &load, 900);
	power_owners_restate(&owners, load.key[2], 0.5);
	power_owners_restate(&owners, load.key[1], 0); /* no learning gives that */
	power_owners_restate(&owners, 7, 0.5);         /* it has no place */
	load.truth[2] *= 2;
	load.work_w[2] /= 2;
	load.scale_w[2] /= 2;
	learn(&owners, &load, 1);
	for (size_t i = 0; i < load.count; i++)
		assert_true(
			is_near(power_owners_factor(&owners, load.key[i]), load.truth[i], 0.06));
}

static void test_none_are_used_where_one_is_right(void **state)
{
	struct power_owners owners;
	struct load load;

	(void)state;
	load_init(&load, 5, 8);
	for (size_t i = 0; i < load.count; i++)
		load.truth[i] = 1;
	load.noise_w = 3;
	power_owners_init(&owners);
	for (int i = 0; i < 3600; i++) {
		learn(&owners, &load, 1);
		assert_false(has_factor(&owners, load.key[i % 8]));
	}
}

/* Which of them takes more cannot be told: all are corrected by what their sum is off. */
static void test_a_steady_load_shows_no_differences(void **state)
{
	struct power_owners owners;
	struct load load;
	double least = POWER_OWNERS_MAX, most = 0;

	(void)state;
	load_init(&load, 6, 4);
	load.is_steady = true;
	for (size_t i = 0; i < load.count; i++) {
		load.work_w[i] = 5;
		load.truth[i] = i % 2 ? 1.5 : 0.9;
	}
	power_owners_init(&owners);
	learn(&owners, &load, 3600);
	for (size_t i = 0; i < load.count; i++) {
		least = fmin(least, power_owners_factor(&owners, load.key[i]));
		most = fmax(most, power_owners_factor(&owners, load.key[i]));
	}
	assert_true(most - least < 0.01 && most < 1.25);
}

static void test_little_work_has_no_place(void **state)
{
	struct power_owners owners;
	struct load load;
	uint64_t key[] = { 999 };
	double work_w[] = { 100 };
	struct power_owners_sample newcomer = {
		.power_w = 50, .span_ns = SECOND_NS, .key = key, .work_w = work_w, .count = 1
	};
	size_t places = 0;

	(void)state;
	load_init(&load, 7, MOST);
	for (size_t i = 0; i < load.count; i++)
		load.scale_w[i] = i < POWER_OWNERS ? 10 : 0.1;
	power_owners_init(&owners);
	learn(&owners, &load, 900);
	for (size_t i = 0; i < load.count; i++) {
		bool has = has_factor(&owners, load.key[i]);

		places += has;
		assert_true(has == (i < POWER_OWNERS));
	}
	assert_int_equal(places, POWER_OWNERS);
	assert_true(power_owners_add(&owners, &newcomer));
	places = 0;
	for (size_t i = 0; i < POWER_OWNERS; i++)
		if (owners.owner[i].key == 999) {
			places++;
			assert_true(owners.xx[i * (i + 1) / 2 + i] <= 100 * 100); /* its own */
		}
	assert_int_equal(places, 1);
}

/* What the rest takes is not known: it is not for those with a place to bear. */
static void test_much_work_without_a_place_teaches_nothing(void **state)
{
	struct power_owners owners;
	struct load load;
	struct power_owners_sample sample;

	(void)state;
	load_init(&load, 11, POWER_OWNERS + 1);
	load.is_steady = true;
	sample = load_runs(&load);
	sample.power_w = 0;
	for (size_t i = 0; i < load.count; i++) {
		load.work_w[i] = 10;
		sample.power_w += 10;
	}
	power_owners_init(&owners);
	assert_true(power_owners_add(&owners, &sample));
	assert_true(owners.xx[0] < 1);
}

static void test_factors_follow_what_changes(void **state)
{
	struct power_owners owners;
	struct load load;

	(void)state;
	load_init(&load, 8, 6);
	power_owners_init(&owners);
	learn(&owners, &load, 900);
	load.truth[2] = 2.5;
	learn(&owners, &load, 2400);
	assert_true(is_near(power_owners_factor(&owners, load.key[2]), 2.5, 0.1));
	load.truth[2] = 20; /* more than any kind of work: bounded */
	learn(&owners, &load, 3600);
	assert_true(power_owners_factor(&owners, load.key[2]) <= POWER_OWNERS_MAX);
}

static void test_outliers_hardly_count(void **state)
{
	struct power_owners owners;
	struct load load;

	(void)state;
	load_init(&load, 9, 6);
	power_owners_init(&owners);
	learn(&owners, &load, 300);
	for (int i = 0; i < 900; i++) {
		struct power_owners_sample sample = load_runs(&load);

		if (i % 50 == 7)
			sample.power_w = i % 100 == 7 ? -20 : 1500;
		assert_true(power_owners_add(&owners, &sample));
	}
	for (size_t i = 0; i < load.count; i++)
		assert_true(is_near(power_owners_factor(&owners, load.key[i]), load.truth[i], 0.1));
}

static void test_impossible_numbers_are_ignored(void **state)
{
	const double bad[] = { (double)NAN, (double)INFINITY, -(double)INFINITY, 1e300 };
	struct power_owners owners, before;
	struct load load;
	struct power_owners_sample sample;
	double work_w[] = { 1, -1 };

	(void)state;
	load_init(&load, 10, 6);
	power_owners_init(&owners);
	learn(&owners, &load, 300);
	memcpy(&before, &owners, sizeof(owners));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		sample = load_runs(&load);
		sample.power_w = bad[i];
		assert_false(power_owners_add(&owners, &sample));
		sample = load_runs(&load);
		work_w[0] = bad[i];
		sample.work_w = work_w;
		sample.count = 1;
		assert_false(power_owners_add(&owners, &sample));
	}
	sample = load_runs(&load);
	sample.work_w = &work_w[1];
	sample.count = 1;
	assert_false(power_owners_add(&owners, &sample));
	sample = load_runs(&load);
	sample.span_ns = 0;
	assert_false(power_owners_add(&owners, &sample));
	assert_memory_equal(&before, &owners, sizeof(owners));
	sample = (struct power_owners_sample){ .span_ns = SECOND_NS }; /* nothing ran */
	for (int i = 0; i < 1000; i++)
		assert_true(power_owners_add(&owners, &sample));
	for (size_t i = 0; i < POWER_OWNERS; i++)
		assert_true(owners.owner[i].factor >= 0 &&
			    owners.owner[i].factor <= POWER_OWNERS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_factors_are_learned),
		cmocka_unit_test(test_what_is_restated_has_another_factor),
		cmocka_unit_test(test_none_are_used_where_one_is_right),
		cmocka_unit_test(test_a_steady_load_shows_no_differences),
		cmocka_unit_test(test_little_work_has_no_place),
		cmocka_unit_test(test_much_work_without_a_place_teaches_nothing),
		cmocka_unit_test(test_factors_follow_what_changes),
		cmocka_unit_test(test_outliers_hardly_count),
		cmocka_unit_test(test_impossible_numbers_are_ignored),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

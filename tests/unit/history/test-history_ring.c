// SPDX-License-Identifier: Apache-2.0
#include "history/history_ring.h"

#include <stdlib.h>

#include "base/num.h"
#include "tests/unit/unit.h"

#define S NSEC_PER_SEC

static uint64_t sum_of(const uint64_t *steps, uint32_t count)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += steps[i];
	return sum;
}

static void clock_moves(struct history_energy *ring, uint64_t before_ns, uint64_t now_ns)
{
	const struct history_advance advance = history_advance(before_ns, now_ns);

	history_energy_advance(ring, &advance);
}

static void energy_is_spread_over_the_time_that_it_took(void **state)
{
	struct history_energy *ring = calloc(1, sizeof(*ring));
	const struct history_range range = { .first = 10, .count = 4, .width_s = 1 };
	uint64_t uj[4];

	history_energy_add(ring, (struct history_span){ 10 * S + S / 2, 13 * S }, 1000001);
	history_energy_read(ring, &range, false, uj);
	assert_int_equal(uj[0], 200000);
	assert_int_equal(uj[1], 400000);
	assert_int_equal(uj[2], 400001);
	assert_int_equal(uj[3], 0);
	assert_int_equal(ring->hour_uj, 1000001);
	free(ring);
}

/* The same sums at each width, also across the end of the ring. */
static void wider_steps_have_the_same_sum(void **state)
{
	struct history_energy *ring = calloc(1, sizeof(*ring));
	const struct history_range fine = { .first = 3540, .count = 120, .width_s = 1 };
	const struct history_range wide = { .first = 354, .count = 12, .width_s = 10 };
	const struct history_range coarse = { .first = 59, .count = 2, .width_s = 60 };
	uint64_t uj[120], before_ns = 3540 * S, total = 0;

	for (uint64_t i = 1; i <= 100; i++) {
		uint64_t now_ns = 3540 * S + i * S * 6 / 5;

		clock_moves(ring, before_ns, now_ns);
		history_energy_add(ring, (struct history_span){ before_ns, now_ns }, i * 7919);
		total += i * 7919;
		before_ns = now_ns;
	}
	history_energy_read(ring, &fine, false, uj);
	assert_int_equal(sum_of(uj, 120), total);
	history_energy_read(ring, &wide, false, uj);
	assert_int_equal(sum_of(uj, 12), total);
	history_energy_read(ring, &coarse, true, uj);
	assert_int_equal(sum_of(uj, 2), total);
	free(ring);
}

static void an_hour_later_the_seconds_are_empty_and_the_minutes_are_not(void **state)
{
	struct history_energy *ring = calloc(1, sizeof(*ring));
	const struct history_range fine = { .first = 3601, .count = 3600, .width_s = 1 };
	const struct history_range coarse = { .first = 0, .count = 2, .width_s = 60 };
	uint64_t *uj = calloc(3600, sizeof(*uj));

	history_energy_add(ring, (struct history_span){ 30 * S, 90 * S }, 6000000);
	clock_moves(ring, 90 * S, 7200 * S);
	history_energy_read(ring, &fine, false, uj);
	assert_int_equal(sum_of(uj, 3600), 0);
	assert_int_equal(ring->hour_uj, 0);
	history_energy_read(ring, &coarse, true, uj);
	assert_int_equal(uj[0], 3000000);
	assert_int_equal(uj[1], 3000000);
	clock_moves(ring, 7200 * S, 90000 * S);
	history_energy_read(ring, &coarse, true, uj);
	assert_int_equal(sum_of(uj, 2), 0);
	free(uj);
	free(ring);
}

/* After two days without a reading; the ring has no place for the beginning. */
static void energy_of_a_longer_time_than_the_ring_is_not_lost(void **state)
{
	struct history_energy *ring = calloc(1, sizeof(*ring));
	uint64_t now_ns = 200000 * S;

	clock_moves(ring, 10 * S, now_ns);
	history_energy_add(ring, (struct history_span){ 10 * S, now_ns }, 123456789);
	assert_int_equal(sum_of(ring->fine_uj, HISTORY_FINE_STEPS), 123456789);
	assert_int_equal(sum_of(ring->coarse_uj, HISTORY_COARSE_STEPS), 123456789);
	free(ring);
}

static void a_step_is_known_for_the_time_that_was_read(void **state)
{
	struct history_cover *cover = calloc(1, sizeof(*cover));
	const struct history_range fine = { .first = 10, .count = 4, .width_s = 1 };
	const struct history_range coarse = { .first = 0, .count = 1, .width_s = 60 };
	struct history_advance advance;
	uint32_t ms[4];

	history_cover_add(cover, (struct history_span){ 10 * S + S / 4, 11 * S + S / 2 });
	history_cover_add(cover, (struct history_span){ 11 * S + S / 2, 12 * S });
	history_cover_add(cover, (struct history_span){ 11 * S, 12 * S }); /* twice: no more */
	history_cover_read(cover, &fine, false, ms);
	assert_int_equal(ms[0], 750);
	assert_int_equal(ms[1], 1000);
	assert_int_equal(ms[2], 0);
	history_cover_read(cover, &coarse, true, ms);
	assert_int_equal(ms[0], 2750);
	advance = history_advance(12 * S, 3612 * S);
	history_cover_advance(cover, &advance);
	assert_int_equal(cover->fine_ms[11], 0);
	free(cover);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(energy_is_spread_over_the_time_that_it_took),
		cmocka_unit_test(wider_steps_have_the_same_sum),
		cmocka_unit_test(an_hour_later_the_seconds_are_empty_and_the_minutes_are_not),
		cmocka_unit_test(energy_of_a_longer_time_than_the_ring_is_not_lost),
		cmocka_unit_test(a_step_is_known_for_the_time_that_was_read),
	};

	return unit_run(tests);
}

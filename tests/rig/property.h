/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Property tests: a statement that must hold for every input, tried on very many.
 *
 * A property draws what it needs from a source, and says what is wrong, or NULL. The draws of a
 * case that fails are recorded; shrinking then removes and lessens them as long as the case still
 * fails, so draw small numbers for simple cases.
 *
 *     static const char *sum_is_whole(struct property_source *source, void *userdata)
 *     {
 *             uint64_t total = draw_scaled(source), n = draw_below(source, 100);
 *             ...
 *             return sum == total ? NULL : "the parts do not sum to the whole";
 *     }
 *     assert_true(property_check("sum", sum_is_whole, NULL, 1000000));
 *
 * The seed is random and printed; KEPLER_TEST_SEED=NUMBER repeats a run.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct property_source;

typedef const char *property_fn(struct property_source *source, void *userdata);

/* Evenly from 0..bound-1; 0 when bound is 0. */
uint64_t draw_below(struct property_source *source, uint64_t bound);
/* Any 64-bit number, all magnitudes alike: 0 and 1 are as frequent as numbers of 63 bits. */
uint64_t draw_scaled(struct property_source *source);
/* True once in @one_in times. */
bool draw_chance(struct property_source *source, uint64_t one_in);

/*
 * Runs @cases cases. False when one failed: the seed, what it said and its smallest draws are
 * printed.
 */
bool property_check(const char *name, property_fn *property, void *userdata, uint64_t cases);

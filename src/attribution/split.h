/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits an integer by integer weights so that the parts sum to the whole, exactly: the
 * largest-remainder (Hamilton) method.
 *
 * part_i = floor(total × w_i / Σw), and each of the total − Σ floor left-over units goes to one of
 * the largest remainders; equal remainders go to the lower index. So each part is less than 1 away
 * from its exact value, more weight never gives less, and the same input gives the same output.
 * Pure; 128-bit intermediates; O(n) expected (quick-select over the remainders).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Scratch that one caller keeps between calls, so that the loop does not allocate after warm-up. */
struct split_scratch {
	uint64_t *remainders;
	uint32_t *order;
	size_t size;
};
void split_scratch_release(struct split_scratch *scratch);

/*
 * @total: to be split; @weights[n]: Σ must fit 64 bits. @parts[n] is written, with zeros on
 * failure. 0; -ENOMEM; -EDOM when every weight is 0 or n is 0 (the caller must place @total);
 * -EOVERFLOW when Σ weights exceeds 64 bits or n 32 bits.
 */
int split_exact(uint64_t total, const uint64_t *weights, size_t n, uint64_t *parts,
		struct split_scratch *scratch);

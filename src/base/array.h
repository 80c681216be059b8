/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growing arrays. An array and its size, in elements, are two variables of the caller's; NULL and 0
 * are an empty one, free() releases it. Sizes may be of any unsigned type of 32 bits or more; none
 * grows beyond UINT32_MAX elements, and no product of sizes overflows. New elements are not
 * initialised. A call that fails leaves array, size and content as they were.
 */
#pragma once

#include <stddef.h>

/* Elements may be pointers themselves. */
#define ARRAY_ELEMENT(array) sizeof(*(array)) /* NOLINT(bugprone-sizeof-expression) */
/*
 * Makes room for at least @wanted elements, with some to spare: by half at least, so that n
 * additions copy in proportion to n. 0 or -ENOMEM.
 */
#define ARRAY_RESERVE(array, size, wanted)                                                         \
	({                                                                                         \
		size_t size_ = (size);                                                             \
		int r_ = array_reserve((void **)&(array), &size_, (wanted), ARRAY_ELEMENT(array)); \
		(size) = (__typeof__(size))size_;                                                  \
		r_;                                                                                \
	})
/*
 * Makes room for exactly @count elements (1 or more): arrays that share one size, or seldom grow.
 * 0 or -ENOMEM.
 */
#define ARRAY_RESIZE(array, count) array_resize((void **)&(array), (count), ARRAY_ELEMENT(array))

int array_reserve(void **array, size_t *size, size_t wanted, size_t element);
int array_resize(void **array, size_t count, size_t element);

// SPDX-License-Identifier: Apache-2.0
#include "base/array.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/hostile.h"

#define SIZE_MIN HOSTILE_OR(1U, 16U)

int array_resize(void **array, size_t count, size_t element)
{
	size_t bytes;
	void *moved;

	if (__builtin_mul_overflow(count, element, &bytes))
		return -ENOMEM; /* the address sanitizer's reallocarray() ends the program */
	moved = reallocarray(*array, count, element);
	if (!moved)
		return -ENOMEM;
	*array = moved;
	return 0;
}

int array_reserve(void **array, size_t *size, size_t wanted, size_t element)
{
	size_t bigger = HOSTILE && *size < HOSTILE_EXACT
				? 0
				: *size + *size / 2; /* fits: *size is at most UINT32_MAX */
	int r;

	if (wanted <= *size)
		return 0;
	if (wanted > UINT32_MAX)
		return -ENOMEM;
	bigger = bigger < SIZE_MIN ? SIZE_MIN : bigger;
	bigger = bigger < wanted ? wanted : bigger;
	bigger = bigger > UINT32_MAX ? UINT32_MAX : bigger;
	r = array_resize(array, bigger, element);
	if (r == 0)
		*size = bigger;
	return r;
}

// SPDX-License-Identifier: Apache-2.0
#include "meter/rapl/rapl_cores.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/macro.h"

int rapl_register_read(int fd, uint32_t msr, uint64_t *ret)
{
	uint64_t value;
	ssize_t n = pread(fd, &value, sizeof(value), (off_t)msr);

	if (n < 0)
		return errno == ENXIO ? -ENODEV : -errno;
	if (n != (ssize_t)sizeof(value))
		return -EIO;
	*ret = value;
	return 0;
}

static int make_room(struct rapl_core_sum *sum, size_t count)
{
	uint32_t *values;

	if (count <= sum->size)
		return 0;
	values = calloc(2 * count, sizeof(*values));
	if (!values)
		return -ENOMEM;
	rapl_core_sum_release(sum);
	sum->values = values;
	sum->size = count;
	return 0;
}

int rapl_core_sum_read(struct rapl_core_sum *sum, const struct shared_fds *cores, uint32_t msr)
{
	int r = make_room(sum, cores->count);
	uint32_t *last = sum->values, *now = sum->values + sum->size;

	for (size_t i = 0; r == 0 && i < cores->count; i++) {
		uint64_t value = 0;

		r = rapl_register_read(cores->fds[i], msr, &value);
		now[i] = (uint32_t)value;
	}
	if (r < 0)
		return r;
	for (size_t i = 0; i < cores->count; i++) {
		if (sum->generation == cores->generation)
			sum->counts += (uint32_t)(now[i] - last[i]);
		last[i] = now[i];
	}
	sum->generation = cores->generation;
	return 0;
}

void rapl_core_sum_release(struct rapl_core_sum *sum)
{
	free(sum->values);
	sum->values = NULL;
	sum->size = 0;
	sum->generation = 0; /* what it has counted stays */
}

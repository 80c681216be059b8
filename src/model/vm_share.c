// SPDX-License-Identifier: Apache-2.0
#include "model/vm_share.h"

#include <math.h>
#include <stdlib.h>

#define MIDDLE      (VM_SHARE_LOADS / 2)
#define NINE_TENTHS (VM_SHARE_LOADS * 9 / 10) /* index of the 19th of 21 */

void vm_share_init(struct vm_share *share, unsigned vcpus, unsigned host_cpus,
		   const struct vm_hints *hints)
{
	unsigned cpus = hints->host_cpus ? hints->host_cpus : host_cpus;

	share->share = vcpus < cpus ? (double)vcpus / cpus : 1;
	share->load_low = hints->load_high > 0 ? hints->load_low : 0;
	share->load_high = hints->load_high > 0 ? hints->load_high : 1;
}

double vm_share_ratio(const struct vm_share *share, double utilisation, size_t index)
{
	double step = (share->load_high - share->load_low) / (VM_SHARE_LOADS - 1);
	double load = share->load_low + step * (double)index;

	return 1 + (1 - share->share) * load / (share->share * utilisation);
}

static int compare_watts(const void *a, const void *b)
{
	const struct vm_point *first = a, *second = b;

	return (first->watts > second->watts) - (first->watts < second->watts);
}

static int compare_numbers(const void *a, const void *b)
{
	const double *first = a, *second = b;

	return (*first > *second) - (*first < *second);
}

void vm_share_combine(struct vm_point points[static VM_SHARE_LOADS], struct vm_point *ret)
{
	double deviation[VM_SHARE_LOADS];

	qsort(points, VM_SHARE_LOADS, sizeof(*points), compare_watts);
	for (size_t i = 0; i < VM_SHARE_LOADS; i++)
		deviation[i] = fabs(points[i].watts - points[MIDDLE].watts);
	qsort(deviation, VM_SHARE_LOADS, sizeof(*deviation), compare_numbers);
	ret->watts = points[MIDDLE].watts;
	ret->bound_w = hypot(deviation[NINE_TENTHS], points[MIDDLE].bound_w);
}

// SPDX-License-Identifier: Apache-2.0
#include "model/vm_share.h"

#include <math.h>
#include <stdlib.h>

#include "base/quadrature.h"

#define FULL        (VM_SHARE_LOADS - 1) /* index of the full host */
#define NINE_TENTHS 0.9
#define CLOSE       1e-4 /* to that probability, or as a part of the range that is searched */
#define CHORDS      12
#define STEPS_MAX   (CHORDS + 14) /* with as many halvings as that takes */

/* A load with its probability, and its watts as a normal distribution. */
struct outcome {
	double watts, deviation, weight;
};

void vm_share_init(struct vm_share *share, unsigned vcpus, unsigned host_cpus,
		   const struct vm_hints *hints)
{
	unsigned cpus = hints->host_cpus ? hints->host_cpus : host_cpus;

	share->share = vcpus < cpus ? (double)vcpus / cpus : 1;
	share->load_low = hints->load_high > 0 ? hints->load_low : 0;
	share->load_high = hints->load_high > 0 ? hints->load_high : 1;
	share->full = 0;
}

static double load_step(const struct vm_share *share)
{
	return (share->load_high - share->load_low) / (FULL - 1);
}

static double load_at(const struct vm_share *share, size_t index)
{
	return share->load_low + load_step(share) * (double)index;
}

double vm_share_ratio(const struct vm_share *share, double utilisation, size_t index)
{
	double load = load_at(share, index);

	if (index == FULL)
		return 1 / (share->share * utilisation);
	return 1 + (1 - share->share) * load / (share->share * utilisation);
}

static int compare_watts(const void *a, const void *b)
{
	const struct outcome *first = a, *second = b;

	return (first->watts > second->watts) - (first->watts < second->watts);
}

static double median(const struct outcome sorted[static VM_SHARE_LOADS])
{
	double sum = 0;
	size_t i = 0;

	while (i + 1 < VM_SHARE_LOADS && (sum += sorted[i].weight) < 0.5)
		i++;
	return sorted[i].watts;
}

/* The probability of values that are at most @width from @center. */
static double probability(const struct outcome outcomes[static VM_SHARE_LOADS], double center,
			  double width)
{
	double sum = 0;

	for (size_t i = 0; i < VM_SHARE_LOADS; i++) {
		double off = outcomes[i].watts - center, scale = outcomes[i].deviation * M_SQRT2;

		if (scale > 0)
			sum += outcomes[i].weight *
			       (erf((width - off) / scale) + erf((width + off) / scale)) / 2;
		else if (fabs(off) <= width)
			sum += outcomes[i].weight;
	}
	return sum;
}

/*
 * By chords (the Illinois method: an end that stays twice is taken for closer to the goal). They
 * are slow where the power of loads is certain, as the probability has steps: then by halving.
 */
static double half_width(const struct outcome outcomes[static VM_SHARE_LOADS], double center)
{
	double low = 0, high = 0, off_low = -NINE_TENTHS, off_high = 1 - NINE_TENTHS, precision;
	int moved = 0; /* in the last step: -1 the low end, 1 the high one */

	for (size_t i = 0; i < VM_SHARE_LOADS; i++) {
		const struct outcome *outcome = &outcomes[i];

		if (outcome->weight > 0) /* twice a bound is 99.9 % of it */
			high = fmax(high, fabs(outcome->watts - center) +
						  2 * VM_BOUND_DEVIATIONS * outcome->deviation);
	}
	precision = CLOSE * high;
	for (int i = 0; i < STEPS_MAX && high - low > precision; i++) {
		double chord = off_low / (off_low - off_high);
		double part = i > 0 && i <= CHORDS ? chord : 0.5; /* first: for a single load */
		double width = low + (high - low) * part;
		double off = probability(outcomes, center, width) - NINE_TENTHS - CLOSE / 2;

		if (off < -CLOSE / 2) {
			low = width;
			off_low = off;
			off_high /= moved < 0 ? 2 : 1;
			moved = -1;
			continue;
		}
		high = width;
		off_high = off;
		off_low /= moved > 0 ? 2 : 1;
		moved = 1;
		if (off <= CLOSE / 2)
			break;
	}
	return high;
}

/*
 * The deviation of the power at load @index, by the deviation of neighbours in an interval: the
 * slope comes from the loads on both sides. For a load that is given exactly no slope is known.
 */
static double change_w(const struct vm_share *share, const struct vm_point *points, size_t index)
{
	size_t low = index ? index - 1 : 0, high = index + 1 < FULL ? index + 1 : index;
	double distance = load_step(share) * (double)(high - low);

	if (index == FULL || !(distance > 0))
		return 0;
	return (points[high].watts - points[low].watts) / distance * VM_NEIGHBOUR_CHANGE *
	       load_at(share, index);
}

void vm_share_combine(const struct vm_share *share,
		      const struct vm_point points[static VM_SHARE_LOADS], struct vm_point *ret)
{
	struct outcome outcomes[VM_SHARE_LOADS];
	double unknown = 0;

	for (size_t i = 0; i < VM_SHARE_LOADS; i++) {
		double weight = i == FULL ? share->full : (1 - share->full) / FULL;

		outcomes[i] =
			(struct outcome){ points[i].watts,
					  add_in_quadrature(points[i].bound_w / VM_BOUND_DEVIATIONS,
							    change_w(share, points, i)),
					  weight };
		if (weight > 0 && isnan(points[i].bound_w))
			unknown = (double)NAN;
	}
	qsort(outcomes, VM_SHARE_LOADS, sizeof(*outcomes), compare_watts);
	ret->watts = median(outcomes);
	ret->bound_w = half_width(outcomes, ret->watts) + unknown;
}

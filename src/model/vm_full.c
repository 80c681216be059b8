// SPDX-License-Identifier: Apache-2.0
#include "model/vm_full.h"

#include <math.h>

#include "base/num.h"
#include "model/vm_share.h"

#define MEMORY_NS     (300 * NSEC_PER_SEC) /* in which an interval's weight falls to 1/e */
#define DRAW_NS       (5 * NSEC_PER_SEC)   /* shorter intervals are alike */
#define WAITING_LEAST 0.01 /* of what the machine wants; account and run time differ by less */

static void forget(struct vm_full *full, uint64_t dt_ns)
{
	double kept = exp(-(double)dt_ns / (double)MEMORY_NS);

	full->count *= kept;
	full->demand *= kept;
	full->delay *= kept;
	full->ran *= kept;
	full->ran_squares *= kept;
	full->off_squares *= kept;
}

/* How far @delay, ln (w / r), is from a full host's; 0 before any was seen. */
static double off(const struct vm_full *full, double own_demand, double delay)
{
	if (!(full->count > 0))
		return 0;
	return delay - log(fmax(1, full->demand / full->count + own_demand));
}

static double in_deviations(double squares)
{
	return squares / (2 * VM_NEIGHBOUR_CHANGE * VM_NEIGHBOUR_CHANGE);
}

/*
 * The highest ratio, as a logarithm, by which the observation is less likely under each explanation
 * than under a normal distribution of the deviation e.
 */
static double cost_of_limit(const struct vm_full *full)
{
	double mean = full->ran / full->count;

	return in_deviations(fmax(full->ran_squares - mean * full->ran, 0));
}

static double cost_of_bursts(const struct vm_full *full)
{
	double mean = fmax(full->delay / full->count, VM_NEIGHBOUR_CHANGE);

	return full->count * (log(mean / VM_NEIGHBOUR_CHANGE) + 1 - log(2 * M_PI) / 2);
}

double vm_full_add(struct vm_full *full, const struct vm_waiting *waiting)
{
	double weight = fmin(1, (double)waiting->dt_ns / (double)DRAW_NS);
	double ran_ns = (double)waiting->ran_ns, waited_ns = (double)waiting->waited_ns;
	double capacity_ns = (double)waiting->dt_ns * waiting->cpus;
	double own_demand, delay, apart, log_ran;

	forget(full, waiting->dt_ns);
	if (!waiting->ran_ns || !waiting->dt_ns)
		return 0;
	own_demand = waiting->share * (ran_ns + waited_ns) / capacity_ns;
	delay = log1p(waited_ns / ran_ns);
	apart = off(full, own_demand, delay);
	full->off_squares += weight * apart * apart;
	if (waited_ns < WAITING_LEAST * (ran_ns + waited_ns))
		return 0;
	log_ran = log(ran_ns / capacity_ns);
	full->count += weight;
	full->demand += weight * fmax(exp(delay) - own_demand, 0);
	full->delay += weight * delay;
	full->ran += weight * log_ran;
	full->ran_squares += weight * log_ran * log_ran;
	return 1 / (1 + exp(in_deviations(full->off_squares) -
			    fmin(cost_of_limit(full), cost_of_bursts(full))));
}

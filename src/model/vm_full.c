// SPDX-License-Identifier: Apache-2.0
#include "model/vm_full.h"

#include <math.h>

#include "base/num.h"

#define MEMORY_NS     (300 * NSEC_PER_SEC) /* in which an interval's weight falls to 1/e */
#define DRAW_NS       (5 * NSEC_PER_SEC)   /* shorter intervals are alike */
#define HOST_CHANGE   0.1                  /* e: the demand of neighbours within that time */
#define LIMIT_CHANGE  0.2  /* B: half of what work in bursts shows under limits of 20 to 70 % */
#define WAITING_LEAST 0.01 /* of what the machine wants; account and run time differ by less */

static void moments_forget(struct vm_full_moments *moments, double kept)
{
	moments->count *= kept;
	moments->sum *= kept;
	moments->squares *= kept;
}

static void moments_add(struct vm_full_moments *moments, double weight, double value)
{
	moments->count += weight;
	moments->sum += weight * value;
	moments->squares += weight * value * value;
}

static double variance(const struct vm_full_moments *moments)
{
	double mean = moments->sum / moments->count;

	return fmax(moments->squares / moments->count - mean * mean, HOST_CHANGE * HOST_CHANGE);
}

double vm_full_add(struct vm_full *full, const struct vm_waiting *waiting)
{
	double kept = exp(-(double)waiting->dt_ns / (double)MEMORY_NS), ratio;
	double weight = fmin(1, (double)waiting->dt_ns / (double)DRAW_NS);
	double ran_ns = (double)waiting->ran_ns, waited_ns = (double)waiting->waited_ns;

	moments_forget(&full->served, kept);
	moments_forget(&full->ran, kept);
	if (!waiting->ran_ns || !waiting->dt_ns)
		return 0;
	moments_add(&full->served, weight, log(ran_ns / (ran_ns + waited_ns)));
	if (waited_ns < WAITING_LEAST * (ran_ns + waited_ns))
		return 0;
	moments_add(&full->ran, weight, log(ran_ns / ((double)waiting->dt_ns * waiting->cpus)));
	ratio = fmin(variance(&full->ran), LIMIT_CHANGE * LIMIT_CHANGE) / variance(&full->served);
	return 1 / (1 + pow(ratio, -full->served.count / 2));
}

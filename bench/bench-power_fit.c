// SPDX-License-Identifier: Apache-2.0
/*
 * The cost of learning what work costs, for an interval of a zone: the regression, and the factors
 * of 16 owners. Times are of the calling thread's CPU.
 *
 *     bench-power_fit [INTERVALS]        100000
 */
#include <stdio.h>
#include <stdlib.h>

#include "attribution/learning/power_fit.h"
#include "attribution/learning/power_owners.h"
#include "base/clock.h"
#include "base/num.h"

#define PARTIES 16
#define SIGNALS                                                                                    \
	(SIGNAL_BIT(SIGNAL_COUNTED_TIME) | SIGNAL_BIT(SIGNAL_PAIRED_TIME) |                        \
	 SIGNAL_BIT(SIGNAL_CPU_CYCLES) | SIGNAL_BIT(SIGNAL_INSTRUCTIONS) |                         \
	 SIGNAL_BIT(SIGNAL_CACHE_MISSES))

static double random_unit(void)
{
	return (double)random() / RAND_MAX;
}

static void run_party(size_t party, struct power_fit_work *ret)
{
	double time_s = random_unit(), cycles = 3 * time_s;
	const uint64_t amounts[SIGNAL_COUNT] = {
		[SIGNAL_COUNTED_TIME] = (uint64_t)(time_s * 1e9),
		[SIGNAL_PAIRED_TIME] = (uint64_t)(time_s * random_unit() * 1e9),
		[SIGNAL_CPU_CYCLES] = (uint64_t)(cycles * 1e9),
		[SIGNAL_INSTRUCTIONS] = (uint64_t)(cycles * (0.5 + 0.1 * (double)party) * 1e9),
		[SIGNAL_CACHE_MISSES] = (uint64_t)(cycles * 0.01 * random_unit() * 1e9),
	};

	power_fit_work_of(amounts, SIGNALS, ret);
}

int main(int argc, char **argv)
{
	const double unit[POWER_FIT_FEATURES] = { 1, POWER_FIT_SMT_FACTOR };
	const double cost[POWER_FIT_FEATURES] = { 1, 0.6, 0.8, 0.02, 0.01, 0, 5, 3 };
	long intervals = argc > 1 ? strtol(argv[1], NULL, 10) : 100000;
	uint64_t fit_ns = 0, owners_ns = 0, begin_ns;
	static struct power_fit fit;
	static struct power_owners owners;

	power_fit_init(&fit, unit);
	power_owners_init(&owners);
	for (long i = 0; i < intervals; i++) {
		struct power_fit_sample sample = { .idle_w = -1,
						   .span_ns = NSEC_PER_SEC,
						   .signals = SIGNALS };
		struct power_fit_work work[PARTIES];
		uint64_t key[PARTIES];
		double awake_ratio;
		struct power_owners_sample shares = { .idle_w = -1,
						      .factor_limit = POWER_OWNERS_BOUND,
						      .power_w = 20,
						      .span_ns = NSEC_PER_SEC,
						      .all = &sample.work,
						      .unit = unit,
						      .key = key,
						      .work = work,
						      .count = PARTIES };

		for (size_t p = 0; p < PARTIES; p++) {
			run_party(p, &work[p]);
			power_fit_work_add(&sample.work, &work[p]);
			key[p] = p + 1;
			shares.power_w += power_fit_product(cost, work[p].amount, POWER_FIT_AWAKE) *
					  (0.7 + 0.04 * (double)p);
		}
		awake_ratio = power_fit_work_awake_ratio(sample.work.time_s, 1);
		power_fit_work_set_awake(&sample.work, awake_ratio);
		for (size_t p = 0; p < PARTIES; p++)
			power_fit_work_set_awake(&work[p], awake_ratio);
		shares.power_w += cost[POWER_FIT_AWAKE] * sample.work.amount[POWER_FIT_AWAKE];
		shares.power_w += random_unit();
		sample.energy_j = shares.power_w;
		begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		(void)power_fit_add(&fit, &sample);
		fit_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
		begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		(void)power_owners_add(&owners, &shares);
		owners_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	}
	printf("regression %.2f us, factors %.2f us an interval and zone; %zu and %zu bytes\n",
	       (double)fit_ns / 1e3 / (double)intervals,
	       (double)owners_ns / 1e3 / (double)intervals, sizeof(fit), sizeof(owners));
	return power_fit_model(&fit) == POWER_FIT_LEARNING;
}

// SPDX-License-Identifier: Apache-2.0
#include "trial/load_worker.h"

#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"

#define PERIOD_NS (20 * NSEC_PER_MSEC)

static volatile sig_atomic_t is_over;

static void end_worker(int number)
{
	(void)number;
	is_over = 1;
}

void load_worker_begin(void)
{
	const struct sigaction end = { .sa_handler = end_worker };

	(void)sigaction(SIGTERM, &end, NULL);
}

bool load_worker_is_over(void)
{
	return is_over != 0;
}

void load_worker_sleep_until(uint64_t ns)
{
	const struct timespec time = { (time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC) };

	(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

void load_worker_pace(const struct load_worker *worker, uint64_t end_ns, void (*do_chunk)(void *),
		      void *argument)
{
	uint64_t now, period = clock_ns(CLOCK_MONOTONIC);

	while (!is_over && (now = clock_ns(CLOCK_MONOTONIC)) < end_ns) {
		if (worker->cpus < 1 &&
		    now - period >= (uint64_t)(worker->cpus * (double)PERIOD_NS)) {
			period += PERIOD_NS;
			load_worker_sleep_until(period < end_ns ? period : end_ns);
			continue;
		}
		do_chunk(argument);
		atomic_fetch_add_explicit(&worker->work->units, 1, memory_order_relaxed);
	}
}

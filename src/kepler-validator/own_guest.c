// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/own_guest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

#define READY_S 180 /* an emulated guest on a busy machine */
/* New series may stand at 0 for two minutes, until all clients have seen them: --metrics.settle. */
#define SHOWN_S 130

bool own_guest_is_wanted(const struct observation *observation)
{
	for (size_t i = 0; i < observation->plan.count; i++)
		if (observation->plan.phases[i].load == &load_guest)
			return true;
	return false;
}

static double now_s(const struct observation *observation)
{
	return run_clock_now_s(&observation->clock);
}

/* Not expected of exporters that have no virtual machines at all. */
static bool is_shown_by(const struct exporter *exporter, double waited_s, double max_lag_s)
{
	bool has_machines = false;

	for (size_t i = 0; i < exporter->zone_count; i++) {
		const struct exporter_sum *sum = &exporter->zones[i].sums[ENERGY_VM];

		if (sum->mine > 0)
			return true;
		has_machines = has_machines || sum->mine_rows > 0;
	}
	return !has_machines && waited_s > max_lag_s;
}

static bool is_shown(const struct observation *observation, double waited_s)
{
	for (size_t i = 0; i < observation->exporter_count; i++)
		if (!is_shown_by(observation->exporters[i], waited_s, observation->max_lag_s))
			return false;
	return true;
}

static int step(struct observation *observation, int (*look)(struct observation *))
{
	uint64_t step_ns = (uint64_t)(1e9 * observation->step_s);
	const struct timespec pause = { (time_t)(step_ns / NSEC_PER_SEC),
					(long)(step_ns % NSEC_PER_SEC) };
	int r = look(observation);

	guest_machine_listen(&observation->machine);
	if (r == 0)
		(void)nanosleep(&pause, NULL);
	return r;
}

static int say_why(const struct observation *observation, const char *what, struct diag *diag)
{
	const char *last = observation->machine.last;

	return diag_set(diag, -ECHILD, "vm: the virtual machine %s%s%s", what, *last ? ": " : "",
			last);
}

static int wait_until_ready(struct observation *observation, int (*look)(struct observation *),
			    const volatile sig_atomic_t *stop, struct diag *diag)
{
	double began_s = now_s(observation);
	int r = 0;

	while (!observation->machine.is_ready && !*stop && r == 0) {
		bool has_ended = guest_machine_has_ended(&observation->machine);

		r = step(observation, look);
		if (has_ended && !observation->machine.is_ready)
			return say_why(observation, "has ended before its guest was ready", diag);
		if (now_s(observation) - began_s > READY_S)
			return say_why(observation, "was not ready after three minutes", diag);
	}
	return r < 0 ? diag_set(diag, r, "%s", strerror(-r)) : 0;
}

int own_guest_start(struct observation *observation, int (*look)(struct observation *),
		    const volatile sig_atomic_t *stop, struct diag *diag)
{
	int r = look(observation);

	if (r == 0)
		r = series_add_counter(observation->vm_cpu, now_s(observation), 0);
	if (r < 0)
		return diag_set(diag, r, "%s", strerror(-r));
	r = guest_machine_start(&observation->guest_options, observation->vm.uuid,
				&observation->machine, diag);
	if (r < 0)
		return r;
	observation->vm.pid = observation->machine.pid;
	r = wait_until_ready(observation, look, stop, diag);
	for (double began_s = now_s(observation), waited_s = 0;
	     r == 0 && !*stop && waited_s < SHOWN_S && !is_shown(observation, waited_s);
	     waited_s = now_s(observation) - began_s)
		r = step(observation, look);
	return r;
}

int own_guest_check(const struct observation *observation, struct result_list *ret)
{
	const struct guest_machine *machine = &observation->machine;

	if (!guest_machine_has_ended(machine))
		return 0;
	struct result *result = result_new("run/vm", RESULT_CORRECTNESS);
	if (!result)
		return -ENOMEM;
	result_set_verdict(result, VERDICT_INCONCLUSIVE,
			   "The virtual machine ended during the run%s%s",
			   *machine->last ? ": " : ".", machine->last);
	return result_list_add(ret, result);
}

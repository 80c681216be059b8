// SPDX-License-Identifier: Apache-2.0
/*
 * One thread: at each step it reads the truth, then asks each exporter. An exporter that hangs
 * delays the next reading by its deadline, which counters forgive.
 */
#include "kepler-validator/checks/observation.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/macro.h"
#include "kepler-validator/load_rows.h"
#include "truth/cpu_account.h"

#define S_PER_NS  1e-9
#define LONGER_BY 0.25 /* of its planned length, a phase that is not decided at its end */
#define LONGER_S  2.0  /* or so much, if that is more */

static double now_s(const struct observation *observation)
{
	return run_clock_now_s(&observation->clock);
}

static void sleep_s(double seconds)
{
	const struct timespec time = { (time_t)seconds,
				       (long)((seconds - (double)(time_t)seconds) / S_PER_NS) };

	if (seconds > 0)
		(void)nanosleep(&time, NULL);
}

/* The CPU time of its process; and the page of its guest. */
static int look_at_vm(struct observation *observation)
{
	double cpu_s = vm_process_cpu_s(observation->procfs, &observation->vm);
	int r = cpu_s < 0 ? 0 : series_add_counter(observation->vm_cpu, now_s(observation), cpu_s);

	if (r < 0 || !observation->guest)
		return r;
	observation->guest->wall_ahead_s = run_clock_wall_ahead_s(&observation->clock);
	return exporter_scrape(observation->guest, now_s(observation));
}

static double clock_now_s(const void *clock)
{
	return run_clock_now_s(clock);
}

static int look(struct observation *observation)
{
	const struct truth_clock clock = { clock_now_s, &observation->clock };
	double busy_s = cpu_account_busy_s(observation->procfs);
	double task_s = cpu_account_task_s(observation->procfs);
	double read_s = now_s(observation);
	int r = truth_read(&observation->truth, &clock);

	if (r == 0 && busy_s >= 0)
		r = series_add_counter(observation->cpu, read_s, busy_s);
	if (r == 0 && task_s >= 0)
		r = series_add_counter(observation->tasks, read_s, task_s);
	if (r == 0 && observation->vm.pid)
		r = look_at_vm(observation);
	for (size_t i = 0; i < observation->exporter_count && r == 0; i++) {
		observation->exporters[i]->wall_ahead_s =
			run_clock_wall_ahead_s(&observation->clock);
		r = exporter_scrape(observation->exporters[i], now_s(observation));
	}
	return r;
}

static void read_charges(const struct observation *observation, struct load_charge *ret)
{
	for (size_t i = 0; i < observation->exporter_count; i++) {
		const struct exporter *exporter = observation->exporters[i];

		for (size_t zone = 0; zone < exporter->zone_count; zone++) {
			const struct exporter_sum *sums = exporter->zones[zone].sums;

			for (int level = 0; level < ENERGY_LEVELS; level++) {
				ret[i].levels[level][zone] = sums[level].mine;
				ret[i].pending[level][zone] = sums[level].pending_j;
			}
		}
		ret[i].page_s = exporter->last_s;
	}
}

static void begin_phase(struct observation *observation, const char *name)
{
	struct observed_phase *observed = &observation->phases[observation->phase_count++];

	(void)snprintf(observed->phase.name, sizeof(observed->phase.name), "%s", name);
	observed->phase.start_s = now_s(observation);
	read_charges(observation, observed->charges);
}

/* Steps until @end_ns of the monotonic clock, or until a command that is the load has ended. */
static int step_until(struct observation *observation, uint64_t end_ns, double later_s,
		      const volatile sig_atomic_t *stop)
{
	uint64_t began, next;
	int r = 0;

	while ((began = clock_ns(CLOCK_MONOTONIC)) < end_ns && !*stop && r == 0 &&
	       !command_load_has_ended(&observation->command_load)) {
		if (observation->progress)
			observation->progress(observation,
					      later_s + S_PER_NS * (double)(end_ns - began));
		r = look(observation);
		next = began + (uint64_t)(observation->step_s / S_PER_NS);
		if (next > end_ns)
			next = end_ns;
		began = clock_ns(CLOCK_MONOTONIC);
		if (next > began && r == 0)
			sleep_s(S_PER_NS * (double)(next - began));
	}
	return r;
}

static int start_load(struct observation *observation, const struct plan_phase *phase,
		      struct load *ret)
{
	bool is_command = phase->load == &load_command || phase->load == &load_gpu_command;

	if (!is_command && phase->load != &load_guest)
		return load_start(phase, &observation->cgroup, ret);
	*ret = (struct load){ 0 };
	if (!is_command) {
		guest_machine_work(&observation->machine, true);
		return 0;
	}
	return command_load_start(observation->command, &observation->cgroup,
				  &observation->command_load);
}

/* A fixed number of processes, and a command, end at their own time. */
static bool may_be_longer(const struct observation *observation, const struct plan_phase *phase)
{
	return observation->needs_more && phase->processes == 0 && phase->load != &load_command &&
	       phase->load != &load_gpu_command;
}

/* After its planned end, as long as that helps and there is time to spare. */
static int lengthen(struct observation *observation, const struct plan_phase *phase, double later_s,
		    const volatile sig_atomic_t *stop)
{
	struct observed_phase *observed = &observation->phases[observation->phase_count - 1];
	double step_s = fmax(LONGER_BY * phase->length_s, LONGER_S);
	int r = 0;

	while (r == 0 && !*stop && observation->spare_s > 0) {
		observed->phase.end_s = now_s(observation);
		if (!observation->needs_more(observation, observed->why))
			break;
		double more_s = fmin(step_s, observation->spare_s);
		observed->longer_s += more_s;
		observation->spare_s -= more_s;
		r = step_until(observation,
			       clock_ns(CLOCK_MONOTONIC) + (uint64_t)(more_s / S_PER_NS), later_s,
			       stop);
	}
	return r;
}

static int run_phase(struct observation *observation, const struct plan_phase *phase,
		     double later_s, const volatile sig_atomic_t *stop, struct diag *diag)
{
	struct observed_phase *observed = &observation->phases[observation->phase_count];
	CLEANUP(busy_look_release) struct busy_look before = { 0 }, after = { 0 };
	/* The commands of this program, and of the load. */
	const char *const mine[] = { "kepler-validato", "kv-",
				     phase->load ? phase->load->program : NULL, NULL };
	struct load load;
	double start_s = now_s(observation);

	begin_phase(observation, phase->name);
	int r = observation->plan.limits_frequency
			? frequency_limit(&observation->frequency, phase->max_frequency)
			: 0;
	if (r < 0)
		return diag_set(diag, r, "phase %s: the frequency cannot be limited: %s",
				phase->name, strerror(-r));
	busy_look_take(observation->procfs, &before);
	for (size_t i = 0; i < observation->exporter_count && phase->load; i++)
		observation->exporters[i]->load = (unsigned)observation->phase_count - 1;
	r = start_load(observation, phase, &load);
	if (r < 0)
		return diag_set(diag, r, "phase %s: its load cannot be started: %s", phase->name,
				strerror(-r));
	uint64_t began = clock_ns(CLOCK_MONOTONIC);
	uint64_t length = (uint64_t)(phase->length_s / S_PER_NS);
	r = step_until(observation, began + length / 4,
		       later_s + phase->length_s - phase->length_s / 4, stop);
	observed->settled_s = now_s(observation);
	read_charges(observation, observed->settled);
	if (r == 0)
		r = step_until(observation, began + length, later_s, stop);
	if (r == 0 && may_be_longer(observation, phase))
		r = lengthen(observation, phase, later_s, stop);
	observed->phase.end_s = now_s(observation);
	busy_look_take(observation->procfs, &after);
	busy_commands_text(&before, &after, mine, observed->busy);
	guest_machine_work(&observation->machine, false);
	load_stop(&load, observed->phase.end_s - start_s, &observed->load);
	command_load_stop(&observation->command_load, &observation->cgroup,
			  observed->phase.end_s - start_s, LOAD_COMMAND_PATIENCE_S,
			  &observed->load);
	return r < 0 ? diag_set(diag, r, "%s", strerror(-r)) : 0;
}

/*
 * Twice, at least the permitted lag apart: when the rest of the plan is just that long, and at the
 * end.
 */
static void look_at_processes(struct observation *observation)
{
	for (size_t i = 0; i < observation->exporter_count; i++)
		process_rows_look(&observation->exporters[i]->processes, now_s(observation),
				  observation->max_lag_s);
}

static void find_load_rows(struct observation *observation)
{
	struct own_container container;

	own_container_find(observation->procfs, &container);
	load_rows_find(&observation->cgroup, &container, &observation->load_rows);
	own_rows_add(&observation->load_rows, ENERGY_VM, observation->vm.uuid);
	own_rows_add(&observation->load_rows, ENERGY_VM, observation->vm.name);
	observation->load_rows.is_certain[ENERGY_VM] = true;
}

int observation_run(struct observation *observation, const volatile sig_atomic_t *stop,
		    struct diag *diag)
{
	double later_s = plan_length_s(&observation->plan);
	bool has_looked = false;
	int r = 0;

	observation->cpu = series_new("cpu", "CPUs");
	observation->tasks = series_new("tasks", "CPUs");
	observation->vm_cpu = series_new("vm", "CPUs");
	if (!observation->cpu || !observation->tasks || !observation->vm_cpu)
		return diag_set(diag, -ENOMEM, "out of memory");
	run_clock_start(&observation->clock);
	if (plan_has_load(&observation->plan) &&
	    load_cgroup_make("/proc/self/mounts", observation->load_shape, &observation->cgroup) <
		    0)
		return diag_set(diag, -EBUSY,
				"another kepler-validator runs its load in %s: both would be "
				"charged for it; wait until it has ended",
				observation->load_shape == LOAD_CGROUP_POD ? LOAD_CGROUP_PODS
									   : LOAD_CGROUP);
	if (observation->plan.limits_frequency)
		r = frequency_open(observation->sysfs, &observation->frequency);
	if (r < 0) {
		load_cgroup_remove(&observation->cgroup);
		return diag_set(diag, r, "the frequency limits cannot be read: %s", strerror(-r));
	}
	find_load_rows(observation);
	if (observation->begin)
		r = observation->begin(observation, look, stop, diag);
	for (size_t i = 0; i < observation->plan.count && !*stop && r == 0; i++) {
		const struct plan_phase *phase = &observation->plan.phases[i];

		later_s -= phase->length_s;
		if (later_s < observation->max_lag_s && !has_looked) {
			look_at_processes(observation);
			has_looked = true;
		}
		r = run_phase(observation, phase, later_s, stop, diag);
	}
	load_cgroup_remove(&observation->cgroup);
	if (frequency_restore(&observation->frequency) < 0 && r == 0)
		r = diag_set(diag, -EIO,
			     "the frequency limits could not be restored; write the "
			     "wanted one to scaling_max_freq of each policy in "
			     "/sys/devices/system/cpu/cpufreq");
	look_at_processes(observation);
	if (r == 0 && look(observation) < 0)
		r = diag_set(diag, -ENOMEM, "out of memory");
	begin_phase(observation, "end");
	observation->phase_count--;
	series_finish(observation->cpu);
	series_finish(observation->tasks);
	series_finish(observation->vm_cpu);
	if (observation->guest)
		exporter_finish(observation->guest);
	for (size_t i = 0; i < observation->truth.zone_count; i++)
		series_finish(observation->truth.zones[i].series);
	for (size_t i = 0; i < observation->truth.device_count; i++)
		series_finish(observation->truth.devices[i].zone.series);
	for (size_t i = 0; i < observation->exporter_count; i++)
		exporter_finish(observation->exporters[i]);
	return r;
}

void observation_release(struct observation *observation)
{
	load_cgroup_remove(&observation->cgroup);
	guest_machine_stop(&observation->machine);
	truth_close(&observation->truth);
	series_free(observation->cpu);
	series_free(observation->tasks);
	series_free(observation->vm_cpu);
	exporter_free(observation->guest);
	for (size_t i = 0; i < observation->exporter_count; i++)
		exporter_free(observation->exporters[i]);
	for (size_t i = 0; i < EXPORTERS_MAX; i++)
		model_exporter_stop(&observation->models[i]);
}

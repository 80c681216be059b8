// SPDX-License-Identifier: Apache-2.0
/*
 * Chooses the reader, BPF where the kernel allows it, else /proc, and passes each call to it. The
 * samples of a pass are compared with the machine's own account here, for both readers.
 */
#include "activity/activity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "activity/io_signals.h"
#include "activity/stolen_time.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/num.h"
#include "base/pid_namespace.h"

#define MAX_PROCESSES_DEFAULT 65536U

/* The kernel's 1/HZ is the resolution of its coarse clocks. */
static uint64_t kernel_tick_ns(void)
{
	struct timespec resolution;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &resolution) < 0 || resolution.tv_sec ||
	    resolution.tv_nsec < (long)NSEC_PER_MSEC)
		return 10 * NSEC_PER_MSEC;
	return (uint64_t)resolution.tv_nsec;
}

int activity_open(const struct activity_options *options, struct activity_reader **ret)
{
	struct activity_options complete = *options;
	char why[ACTIVITY_WHY_MAX] = "switched off";
	struct activity_reader *reader = NULL;
	struct machine_time now;
	int r = -ENOTSUP;

	if (!complete.procfs)
		complete.procfs = "/proc";
	if (!complete.sysfs)
		complete.sysfs = "/sys";
	if (!complete.cgroup_controller)
		complete.cgroup_controller = "";
	if (!complete.max_processes)
		complete.max_processes = MAX_PROCESSES_DEFAULT;
	if (complete.allow_bpf)
		r = bpf_activity_open(&complete, &reader, why, sizeof(why));
	if (r == 0 && complete.io != IO_WANTED_OFF)
		reader->io_err = io_signals_open(&complete, &reader->io);
	if (r < 0) {
		r = proc_activity_open(&complete, &reader);
		if (r < 0)
			return r;
		(void)snprintf(reader->why_not_bpf, sizeof(reader->why_not_bpf), "%s", why);
	}
	if (machine_clock_open(complete.procfs, &reader->clock) < 0)
		reader->clock = NULL; /* unseen time stays unknown, and is reported as such */
	reader->has_steal =
		reader->clock && machine_clock_read(reader->clock, &now) == 0 && now.steal_ns > 0;
	reader->frequencies = complete.frequencies;
	unseen_time_init(&reader->unseen_time, kernel_tick_ns());
	reader->own_pid_namespace = pid_namespace_is_own();
	*ret = reader;
	return 0;
}

void activity_close(struct activity_reader *reader)
{
	if (!reader)
		return;
	machine_clock_close(reader->clock);
	io_signals_close(reader->io);
	free(reader->frequency_time);
	reader->ops->close(reader);
}

/* Run time × frequency of each sample. Without memory for that the pass does not have it. */
static void add_frequency_time(struct activity_reader *reader, struct activity *activity)
{
	const struct cpu_frequencies *frequencies = reader->frequencies;

	if (!frequencies || !frequencies->mean_khz ||
	    ARRAY_RESERVE(reader->frequency_time, reader->frequency_cells, activity->count) < 0)
		return;
	for (size_t i = 0; i < activity->count; i++) {
		const struct activity_sample *sample = &activity->samples[i];

		reader->frequency_time[i] =
			sample->cycles
				? sample->cycles
				: cpu_frequencies_cycles(frequencies, sample->cpu, sample->cpu_ns);
	}
	activity->signals |= SIGNAL_BIT(SIGNAL_FREQUENCY_TIME);
	activity->signal[SIGNAL_FREQUENCY_TIME] = activity->count ? reader->frequency_time : NULL;
	activity->mean_khz = frequencies->mean_khz;
}

/* Before the account of the last pass is replaced. */
static void add_stolen_time(struct activity_reader *reader, const struct machine_time *now,
			    struct activity *activity)
{
	const struct machine_time *last = &reader->unseen_time.last;

	reader->has_steal = activity->has_steal = now->steal_ns > 0;
	if (!reader->unseen_time.has_last)
		return;
	activity->stolen_ns = stolen_time(last, now, activity->busy_ns);
	if (now->steal_ns > last->steal_ns)
		activity->steal_ns = now->steal_ns - last->steal_ns;
	reader->steal_ns += activity->steal_ns;
}

/*
 * Work between the two readings must not look unseen, and on a busy machine they may be far apart:
 * so the account is read before the pass, and after it only for the first one.
 */
int activity_read(struct activity_reader *reader, struct activity *activity)
{
	struct machine_time now;
	bool has_account = reader->clock && machine_clock_read(reader->clock, &now) == 0;
	int r = reader->ops->read(reader, activity);

	/*
	 * Work that a failed pass did not report comes with the next pass, and is compared there.
	 */
	if (r == 0 && reader->io)
		io_signals_read(reader->io, activity);
	if (r == 0)
		add_frequency_time(reader, activity);
	if (r < 0 || !has_account)
		return r;
	if (!reader->unseen_time.has_last && machine_clock_read(reader->clock, &now) < 0)
		return r;
	activity->cpus = now.cpus;
	add_stolen_time(reader, &now, activity);
	activity->unseen_ns = unseen_time_add(
		&reader->unseen_time, &now, activity->busy_ns,
		activity->coming_ns + activity->coming_threads * reader->unseen_time.tick_ns);
	activity->busy_ns += activity->unseen_ns;
	reader->unseen_ns += activity->unseen_ns;
	return r;
}

int activity_fd(const struct activity_reader *reader)
{
	return reader->ops->fd ? reader->ops->fd(reader) : -1;
}

void activity_drain(struct activity_reader *reader)
{
	if (reader->ops->drain)
		reader->ops->drain(reader);
}

void activity_get_info(const struct activity_reader *reader, struct activity_info *ret)
{
	reader->ops->get_info(reader, ret);
	ret->unseen_ns = reader->unseen_ns;
	ret->steal_ns = reader->steal_ns;
	ret->has_steal = reader->has_steal;
	if (reader->io)
		io_signals_get_info(reader->io, &ret->io);
	ret->io.err = reader->io_err;
	ret->account = MACHINE_ACCOUNT_MISSING;
	if (reader->unseen_time.has_last)
		ret->account = reader->unseen_time.is_static ? MACHINE_ACCOUNT_STATIC
							     : MACHINE_ACCOUNT_GOOD;
	ret->own_pid_namespace = reader->own_pid_namespace;
	(void)snprintf(ret->why_not_bpf, sizeof(ret->why_not_bpf), "%s", reader->why_not_bpf);
}

void activity_visit(struct activity_reader *reader, activity_visit_fn *fn, void *userdata)
{
	reader->ops->visit(reader, fn, userdata);
}

void activity_visit_new_cgroups(struct activity_reader *reader, activity_cgroup_fn *fn,
				void *userdata)
{
	if (reader->ops->new_cgroups)
		reader->ops->new_cgroups(reader, fn, userdata);
}

bool activity_want_parents(struct activity_reader *reader, bool wanted)
{
	if (!reader->ops->want_parents)
		return false;
	reader->ops->want_parents(reader, wanted);
	return true;
}

void activity_want_users(struct activity_reader *reader, bool wanted)
{
	reader->ops->want_users(reader, wanted);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * The readers belong to one side at a time: to the job while it is submitted, else to the loop. The
 * loop keeps a copy of what passes need, so that a late job takes nothing away from them.
 */
#include "engine/machine_reads.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "activity/memory_traffic.h"
#include "activity/resctrl.h"
#include "base/macro.h"
#include "base/num.h"
#include "base/offload.h"

#define SCAN_EVERY_NS  (60 * NSEC_PER_SEC) /* files come with drivers, mounts and CPUs */
#define TASKS_EVERY_NS (10 * NSEC_PER_SEC) /* the groups, if any, and their tasks */
#define IDLE_EVERY_NS  (10 * NSEC_PER_SEC)
#define END_PATIENCE   (100 * NSEC_PER_MSEC)

/* First the job: the two are one address. */
struct read_job {
	struct offload_job job;
	bool is_scan; /* looks for what there is, too */
	bool is_idle_due;
	bool has_frequency, has_traffic, has_idle;
	struct cpu_frequency *frequency;
	struct resctrl *resctrl;
	struct cpu_idle *idle;
};

struct machine_reads {
	struct offload *pool;
	struct read_job *job;         /* the loop's unless it is away */
	bool is_away, is_due;         /* due: the loop has not waited for it yet */
	bool is_new;                  /* taken in this interval */
	uint64_t scanned_ns, idle_ns; /* when it was done last; 0: not yet */
	struct cpu_idle_state states[CPU_IDLE_STATES_MAX];
	size_t state_count;
	struct cpu_frequencies frequencies;
	struct memory_traffic *traffic;
	struct machine_reads_info info;
};

static void job_free(struct read_job *job)
{
	if (!job)
		return;
	cpu_frequency_close(job->frequency);
	resctrl_close(job->resctrl);
	cpu_idle_close(job->idle);
	free(job);
}

static void job_drop(struct offload_job *base)
{
	job_free((struct read_job *)base);
}

static void job_run(struct offload_job *base)
{
	struct read_job *job = (struct read_job *)base;

	/* Without memory there are none until the next time. */
	if (job->is_scan) {
		(void)cpu_frequency_scan(job->frequency);
		(void)resctrl_scan(job->resctrl);
		(void)cpu_idle_scan(job->idle);
	}
	job->has_frequency = cpu_frequency_read(job->frequency);
	job->has_traffic = resctrl_read(job->resctrl);
	if (job->is_idle_due)
		job->has_idle = cpu_idle_read(job->idle);
}

static int job_new(const char *sysfs, struct read_job **ret)
{
	struct read_job *job = calloc(1, sizeof(*job));

	if (!job || cpu_frequency_open(sysfs, &job->frequency) < 0 ||
	    resctrl_open(sysfs, &job->resctrl) < 0 || cpu_idle_open(sysfs, &job->idle) < 0) {
		job_free(job);
		return -ENOMEM;
	}
	job->job.run = job_run;
	job->job.drop = job_drop;
	*ret = job;
	return 0;
}

int machine_reads_open(const char *sysfs, void (*start_thread)(void), struct machine_reads **ret)
{
	const struct offload_options options = { .max_threads = 1, .start_thread = start_thread };
	struct machine_reads *reads = calloc(1, sizeof(*reads));
	int r = reads ? job_new(sysfs, &reads->job) : -ENOMEM;

	if (r == 0)
		r = memory_traffic_new(&reads->traffic);
	if (r == 0)
		r = offload_new(&options, &reads->pool);
	if (r < 0) {
		machine_reads_close(reads);
		return r;
	}
	*ret = reads;
	return 0;
}

void machine_reads_close(struct machine_reads *reads)
{
	if (!reads)
		return;
	offload_free(reads->pool, END_PATIENCE);
	if (!reads->is_away)
		job_free(reads->job);
	cpu_frequencies_release(&reads->frequencies);
	memory_traffic_free(reads->traffic);
	free(reads);
}

static bool is_due(uint64_t last_ns, uint64_t every_ns, uint64_t now_ns)
{
	return !last_ns || now_ns - last_ns >= every_ns;
}

void machine_reads_begin(struct machine_reads *reads, uint64_t now_ns)
{
	struct read_job *job = reads->job;
	uint64_t every_ns;

	reads->is_new = false;
	if (reads->is_away)
		return;
	every_ns = job->has_traffic ? TASKS_EVERY_NS : SCAN_EVERY_NS;
	job->is_scan = is_due(reads->scanned_ns, every_ns, now_ns);
	job->is_idle_due =
		job->is_scan || (job->has_idle && is_due(reads->idle_ns, IDLE_EVERY_NS, now_ns));
	if (!job->is_idle_due && !job->has_frequency && !job->has_traffic)
		return;
	if (offload_submit(reads->pool, &job->job) < 0)
		return; /* no thread: tried again in the next interval */
	reads->is_away = reads->is_due = true;
	if (job->is_scan)
		reads->scanned_ns = now_ns;
	if (job->is_idle_due)
		reads->idle_ns = now_ns;
}

static void look_at(struct machine_reads *reads)
{
	const struct resctrl_reading reading = resctrl_get(reads->job->resctrl);
	const struct cpu_idle_state *states = cpu_idle_list(reads->job->idle, &reads->state_count);

	memcpy(reads->states, states, reads->state_count * sizeof(*states));
	reads->info = (struct machine_reads_info){
		.mean_khz = reads->frequencies.mean_khz,
		.traffic_groups = reading.pid_count ? reading.group_count : 0,
		.traffic_is_known = reading.is_known,
	};
}

void machine_reads_take(struct machine_reads *reads)
{
	struct pollfd done = { .fd = offload_fd(reads->pool), .events = POLLIN };
	int patience_ms = reads->is_due ? (int)(MACHINE_READS_PATIENCE_NS / NSEC_PER_MSEC) : 0;

	if (!reads->is_away)
		return;
	reads->is_due = false;
	if (poll(&done, 1, patience_ms) != 1 || !offload_take(reads->pool))
		return;
	reads->is_away = false;
	reads->is_new = true;
	/* Without memory the frequencies of before stay. */
	(void)cpu_frequencies_copy(&reads->frequencies, cpu_frequency_get(reads->job->frequency));
	look_at(reads);
}

const struct cpu_frequencies *machine_reads_frequencies(const struct machine_reads *reads)
{
	return &reads->frequencies;
}

void machine_reads_add(struct machine_reads *reads, struct activity *activity)
{
	struct resctrl_reading reading;

	if (!reads->is_new) { /* the readers are the thread's */
		memory_traffic_add(reads->traffic, NULL, activity);
		return;
	}
	reading = resctrl_get(reads->job->resctrl);
	memory_traffic_add(reads->traffic, &reading, activity);
}

void machine_reads_get_info(const struct machine_reads *reads, struct machine_reads_info *ret)
{
	*ret = reads->info;
}

static bool fill_health(const void *owner, void *ret)
{
	const struct machine_reads *reads = owner;
	struct machine_reads_health *health = ret;

	health->state_count = (uint32_t)reads->state_count;
	for (uint32_t i = 0; i < health->state_count; i++) {
		memcpy(health->states[i].name, reads->states[i].name, CPU_IDLE_NAME_MAX);
		health->states[i].seconds = (double)reads->states[i].time_us / 1e6;
	}
	return true;
}

static const struct health_label state_labels[] = {
	{ "state", offsetof(struct idle_state_time, name) },
	{ 0 },
};

static const struct health_metric metrics[] = {
	{ .name = "kepler_node_cpu_idle_state_seconds",
	  .type = FAMILY_COUNTER,
	  .unit = "seconds",
	  .help = "Time in this idle state, summed over all CPUs, since Kepler started, as "
		  "requested by cpuidle; read every 10 s.",
	  .value = HEALTH_VALUE(struct idle_state_time, seconds),
	  .labels = state_labels,
	  .array = HEALTH_ARRAY(struct machine_reads_health, states, state_count) },
};

const struct health_part machine_reads_health_part = {
	.size = sizeof(struct machine_reads_health),
	.fill = fill_health,
	.metrics = metrics,
	.metric_count = ARRAY_SIZE(metrics),
};

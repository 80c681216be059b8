// SPDX-License-Identifier: Apache-2.0
#include "activity/activity_health.h"

#include <stdio.h>

#include "base/macro.h"

void activity_health_update(struct activity_health *health, const struct activity_info *info)
{
	const struct activity_health before = *health;

	*health = (struct activity_health){
		.drops = info->drops,
		.errors = info->errors,
		.threads_known = info->threads_known,
		.cgroups_missed = info->cgroups_missed,
		.tasks_walked = before.tasks_walked + info->tasks_walked,
		.tasks_sent = before.tasks_sent + info->tasks_sent,
		.bpf_seconds = before.bpf_seconds + (double)info->bpf_run_ns / 1e9,
		.unseen_processes = info->unseen,
		.unseen_cpu_seconds = (double)info->unseen_cpu_ns / 1e9,
		.unseen_work_seconds = (double)info->unseen_ns / 1e9,
		.bpf_programs_refused = info->refused + info->io.refused,
		.io_dropped = info->io.dropped,
		.softirqs_without_cause = info->io.softirqs_without_cause,
		.softirq_seconds_without_cause = (double)info->io.softirq_ns_without_cause / 1e9,
		.counts_switches = info->counts_switches,
		.counters = (uint32_t)__builtin_popcount(info->signals >> SIGNAL_CPU_CYCLES),
		.uncounted_cpus = info->uncounted_cpus,
		.threads_without_work = info->threads_without_work,
		.work_lost_seconds = (double)info->work_lost_ns / 1e9,
		.own_pid_namespace = info->own_pid_namespace,
		.sees_part = info->sees_part,
		.machine_time_is_up = info->account == MACHINE_ACCOUNT_GOOD,
	};
	(void)snprintf(health->reader, sizeof(health->reader), "%s", info->reader);
}

static bool fill_health(const void *owner, void *ret)
{
	*(struct activity_health *)ret = *(const struct activity_health *)owner;
	return true;
}

static const struct health_label reader_labels[] = {
	{ "reader", offsetof(struct activity_health, reader) },
	{ 0 },
};

static const struct health_metric metrics[] = {
	{ .name = "kepler_exporter_bpf_seconds",
	  .type = FAMILY_COUNTER,
	  .unit = "seconds",
	  .help = "Part of Kepler's CPU time spent in BPF passes over the threads. The time of "
		  "the hooks at the end of a thread counts for that thread.",
	  .value = HEALTH_VALUE(struct activity_health, bpf_seconds) },
	{ .name = "kepler_exporter_activity_reader",
	  .type = FAMILY_INFO,
	  .help = "The reader that measures the run time of processes.",
	  .labels = reader_labels },
	{ .name = "kepler_exporter_activity_drops",
	  .type = FAMILY_COUNTER,
	  .help = "Records of ended tasks that did not fit into the buffer; their time is charged "
		  "without a name.",
	  .value = HEALTH_VALUE(struct activity_health, drops) },
	{ .name = "kepler_exporter_activity_errors",
	  .type = FAMILY_COUNTER,
	  .help = "Passes over the processes that failed.",
	  .value = HEALTH_VALUE(struct activity_health, errors) },
	{ .name = "kepler_exporter_tasks_walked",
	  .type = FAMILY_COUNTER,
	  .help = "Threads that the passes examined.",
	  .value = HEALTH_VALUE(struct activity_health, tasks_walked) },
	{ .name = "kepler_exporter_tasks_sent",
	  .type = FAMILY_COUNTER,
	  .help = "Threads that had run and were reported to user space.",
	  .value = HEALTH_VALUE(struct activity_health, tasks_sent) },
	{ .name = "kepler_exporter_threads_known",
	  .type = FAMILY_GAUGE,
	  .help = "Threads whose run time is kept between passes.",
	  .value = HEALTH_VALUE(struct activity_health, threads_known) },
	{ .name = "kepler_exporter_bpf_programs_refused",
	  .type = FAMILY_GAUGE,
	  .help = "BPF programs that this kernel should accept and refuses; the log and doctor "
		  "report which, and the consequences.",
	  .value = HEALTH_VALUE(struct activity_health, bpf_programs_refused) },
	{ .name = "kepler_exporter_io_dropped",
	  .type = FAMILY_COUNTER,
	  .help = "I/O events that belong to no container because the kernel's table of cgroups "
		  "was full.",
	  .value = HEALTH_VALUE(struct activity_health, io_dropped) },
	{ .name = "kepler_exporter_softirqs_without_cause",
	  .type = FAMILY_COUNTER,
	  .help = "Softirqs of network and block devices that belong to no container because no "
		  "socket or request was seen in them. 0 where softirqs are not counted.",
	  .value = HEALTH_VALUE(struct activity_health, softirqs_without_cause) },
	{ .name = "kepler_exporter_softirq_seconds_without_cause",
	  .type = FAMILY_COUNTER,
	  .help = "Time of such softirqs, in seconds.",
	  .value = HEALTH_VALUE(struct activity_health, softirq_seconds_without_cause) },
	{ .name = "kepler_exporter_switches_counted",
	  .type = FAMILY_GAUGE,
	  .help = "1 if Kepler traces context switches (counters.switches), otherwise 0.",
	  .value = HEALTH_VALUE(struct activity_health, counts_switches) },
	{ .name = "kepler_exporter_counters",
	  .type = FAMILY_GAUGE,
	  .help = "Hardware events that are counted per process. kepler doctor lists them, and "
		  "the reasons why others are not counted.",
	  .value = HEALTH_VALUE(struct activity_health, counters) },
	{ .name = "kepler_exporter_counters_uncounted_cpus",
	  .type = FAMILY_GAUGE,
	  .unit = "cpus",
	  .help = "Online CPUs on which such an event is not counted, because they came online "
		  "after startup (counters.enabled=true is needed for these) or their type of "
		  "core lacks it.",
	  .value = HEALTH_VALUE(struct activity_health, uncounted_cpus) },
	{ .name = "kepler_exporter_threads_without_work",
	  .type = FAMILY_COUNTER,
	  .help = "Times that the kernel had no memory for a thread's counters between context "
		  "switches. Only the thread's run time is counted then.",
	  .value = HEALTH_VALUE(struct activity_health, threads_without_work) },
	{ .name = "kepler_exporter_work_lost_seconds",
	  .type = FAMILY_COUNTER,
	  .unit = "seconds",
	  .help = "Run time counted at context switches that was assigned to no process because a "
		  "buffer or a table was full.",
	  .value = HEALTH_VALUE(struct activity_health, work_lost_seconds) },
	{ .name = "kepler_exporter_own_pid_namespace",
	  .type = FAMILY_GAUGE,
	  .help = "1 if Kepler runs in its own PID namespace, so that /proc does not show the "
		  "machine's processes; otherwise 0.",
	  .value = HEALTH_VALUE(struct activity_health, own_pid_namespace) },
	{ .name = "kepler_exporter_cgroups_missed",
	  .type = FAMILY_COUNTER,
	  .help = "New cgroups missed because the kernel's buffer was full: short work there may "
		  "lack an owner.",
	  .value = HEALTH_VALUE(struct activity_health, cgroups_missed) },
	{ .name = "kepler_exporter_unseen_processes",
	  .type = FAMILY_GAUGE,
	  .help = "Processes visible in /proc but hidden from BPF by the kernel. At most 32 are "
		  "read from /proc; the CPU time of any others is unseen. Kepler looks for them "
		  "at the start and every 4,096 intervals.",
	  .value = HEALTH_VALUE(struct activity_health, unseen_processes) },
	{ .name = "kepler_exporter_unseen_cpu_seconds",
	  .type = FAMILY_COUNTER,
	  .unit = "seconds",
	  .help = "CPU time of these processes since they were found, from /proc.",
	  .value = HEALTH_VALUE(struct activity_health, unseen_cpu_seconds) },
	{ .name = "kepler_exporter_unseen_work_seconds",
	  .type = FAMILY_COUNTER,
	  .unit = "seconds",
	  .help = "CPU time in /proc/stat that belongs to no visible process, beyond the possible "
		  "error of tick sampling. Its energy is unattributed, with reason=\"unseen\".",
	  .value = HEALTH_VALUE(struct activity_health, unseen_work_seconds) },
	{ .name = "kepler_exporter_machine_time_up",
	  .type = FAMILY_GAUGE,
	  .help = "1 if /proc/stat counts the machine's CPU time; 0 if it is hidden or does not "
		  "advance, in which case unseen time is unknown.",
	  .value = HEALTH_VALUE(struct activity_health, machine_time_is_up) },
	{ .name = "kepler_exporter_activity_partial",
	  .type = FAMILY_GAUGE,
	  .help = "1 if processes of this machine are hidden from Kepler by a PID namespace or "
		  "hidepid, otherwise 0.",
	  .value = HEALTH_VALUE(struct activity_health, sees_part) },
};

const struct health_part activity_health_part = {
	.size = sizeof(struct activity_health),
	.fill = fill_health,
	.metrics = metrics,
	.metric_count = ARRAY_SIZE(metrics),
};

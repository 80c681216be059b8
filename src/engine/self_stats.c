// SPDX-License-Identifier: Apache-2.0
#include "engine/self_stats.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/macro.h"
#include "host/cpuinfo.h"
#include "host/proc.h"
#include "options/version.h"

/* Counting descriptors lists a directory: enough to do now and then. */
#define FD_COUNT_EVERY 16

static const double bucket_bounds[SNAPSHOT_HISTOGRAM_BUCKETS] = {
	0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0,
};

void self_stats_open(struct self_stats *stats, const struct host_info *host, double start_time_s)
{
	struct snapshot_self *self = &stats->self;

	*stats = (struct self_stats){ .stat_fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC) };
	(void)snprintf(self->version, sizeof(self->version), "%s", KEPLER_VERSION);
	(void)snprintf(self->revision, sizeof(self->revision), "%s", KEPLER_REVISION);
	(void)snprintf(self->node_name, sizeof(self->node_name), "%s", host->node_name);
	(void)snprintf(self->cpu_architecture, sizeof(self->cpu_architecture), "%s",
		       host->cpu_architecture);
	(void)snprintf(self->kernel, sizeof(self->kernel), "%s", host->kernel);
	self->cpus = host->cpus;
	memcpy(self->cpu_vendor, host->cpu_vendor, sizeof(self->cpu_vendor));
	memcpy(self->cpu_model, host->cpu_model, sizeof(self->cpu_model));
	self->start_time_s = start_time_s;
	self->last_reload_ok = true;
	memcpy(self->interval_buckets_le, bucket_bounds, sizeof(bucket_bounds));
}

void self_stats_close(struct self_stats *stats)
{
	if (stats->stat_fd >= 0)
		(void)close(stats->stat_fd);
	stats->stat_fd = -1;
	free(stats->cpus);
	stats->cpus = NULL;
}

void self_stats_cpus(struct self_stats *stats, const char *procfs)
{
	CLEANUP_FREE struct cpuinfo_cpu *cpus = NULL;
	size_t count = 0;

	_Static_assert(CPU_NUMBER_NONE == SNAPSHOT_CPU_UNKNOWN, "a copy is as good");
	if (host_cpus_read(procfs, &cpus, &count) < 0)
		return;
	stats->cpus = calloc(count + 1, sizeof(*stats->cpus));
	for (size_t i = 0; stats->cpus && i < count; i++)
		stats->cpus[i] =
			(struct snapshot_cpu){ cpus[i].processor, cpus[i].package, cpus[i].core };
	stats->self.cpu_list = stats->cpus;
	stats->self.cpu_list_count = stats->cpus ? (uint32_t)count : 0;
}

static uint64_t count_open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	uint64_t count = 0;

	if (!dir)
		return 0;
	while (readdir(dir))
		count++;
	(void)closedir(dir);
	return count >= 3 ? count - 3 : 0; /* ".", ".." and the directory itself */
}

static void read_stat(struct self_stats *stats)
{
	struct proc_stat stat;
	char text[1024];
	ssize_t len = stats->stat_fd < 0 ? -1 : read_piece_fd(stats->stat_fd, text, sizeof(text));

	if (len <= 0 || proc_stat_parse(text, (size_t)len, &stat) < 0)
		return;
	stats->self.threads = stat.threads;
	stats->self.rss_bytes = stat.rss_pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void self_stats_update(struct self_stats *stats)
{
	struct snapshot_self *self = &stats->self;
	struct rusage usage;

	self->cpu_seconds = (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9;
	read_stat(stats);
	if (getrusage(RUSAGE_SELF, &usage) == 0) {
		self->max_rss_bytes = (uint64_t)usage.ru_maxrss * 1024;
		self->wakeups = (uint64_t)usage.ru_nvcsw;
	}
	if (self->interval_count % FD_COUNT_EVERY == 0)
		self->open_fds = count_open_fds();
}

void self_stats_activity(struct snapshot_self *self, const struct activity_info *info)
{
	(void)snprintf(self->activity_reader, sizeof(self->activity_reader), "%s", info->reader);
	self->activity_drops = info->drops;
	self->activity_errors = info->errors;
	self->tasks_walked += info->tasks_walked; /* of one pass each */
	self->tasks_sent += info->tasks_sent;
	self->threads_known = info->threads_known;
	self->cgroups_missed = info->cgroups_missed;
	self->unseen_processes = info->unseen;
	self->unseen_cpu_seconds = (double)info->unseen_cpu_ns / 1e9;
	self->unseen_work_seconds = (double)info->unseen_ns / 1e9;
	self->node_cpu_steal_seconds = info->has_steal ? (double)info->steal_ns / 1e9 : (double)NAN;
	self->bpf_programs_refused = info->refused + info->io.refused;
	self->io_dropped = info->io.dropped;
	self->softirqs_without_cause = info->io.softirqs_without_cause;
	self->softirq_seconds_without_cause = (double)info->io.softirq_ns_without_cause / 1e9;
	self->switches_counted = info->counts_switches;
	self->counters = (uint64_t)__builtin_popcount(info->signals >> SIGNAL_CPU_CYCLES);
	self->counters_uncounted_cpus = info->uncounted_cpus;
	self->threads_without_work = info->threads_without_work;
	self->work_lost_seconds = (double)info->work_lost_ns / 1e9;
	self->own_pid_namespace = info->own_pid_namespace;
	self->activity_partial = info->sees_part;
	self->machine_time_up = info->account == MACHINE_ACCOUNT_GOOD;
	self->bpf_seconds += (double)info->bpf_run_ns / 1e9;
}

void self_stats_identities(struct snapshot_self *self, const struct identity_resolver *identities)
{
	struct identity_info info;

	identity_resolver_get_info(identities, &info);
	if (info.reads_late && !self->process_reads_late)
		log_warn("a read of a process's command line or cgroup hangs: until it returns, "
			 "the process is charged to its last known owner");
	self->process_reads_outstanding = info.reads_outstanding;
	self->process_reads_late = info.reads_late;
	self->machine_overflows = info.machine_overflows;
}

void self_stats_idle_states(struct snapshot_self *self, const struct machine_reads *reads)
{
	size_t count;
	const struct cpu_idle_state *states = machine_reads_idle(reads, &count);

	_Static_assert(SNAPSHOT_IDLE_STATES >= CPU_IDLE_STATES_MAX, "room for each");
	_Static_assert(sizeof(self->idle_states->name) == CPU_IDLE_NAME_MAX, "a copy is as good");
	for (size_t i = 0; i < count; i++) {
		memcpy(self->idle_states[i].name, states[i].name, CPU_IDLE_NAME_MAX);
		self->idle_states[i].seconds = (double)states[i].time_us / 1e6;
	}
	self->idle_state_count = (uint32_t)count;
}

void self_stats_interval(struct self_stats *stats, uint64_t ns)
{
	double seconds = (double)ns / 1e9;

	stats->self.interval_count++;
	stats->self.interval_sum_s += seconds;
	for (size_t i = 0; i < ARRAY_SIZE(bucket_bounds); i++) {
		if (seconds <= bucket_bounds[i]) {
			stats->self.interval_bucket_counts[i]++;
			return;
		}
	}
}

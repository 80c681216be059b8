// SPDX-License-Identifier: Apache-2.0
#include "engine/self_stats.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/macro.h"
#include "host/proc.h"

/* Counting descriptors lists a directory: enough to do now and then. */
#define FD_COUNT_EVERY 16

void self_stats_open(struct self_stats *stats)
{
	*stats = (struct self_stats){ .stat_fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC) };
}

void self_stats_close(struct self_stats *stats)
{
	if (stats->stat_fd >= 0)
		(void)close(stats->stat_fd);
	stats->stat_fd = -1;
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
	stats->health.threads = stat.threads;
	stats->health.rss_bytes = stat.rss_pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void self_stats_update(struct self_stats *stats)
{
	struct self_health *health = &stats->health;
	struct rusage usage;

	health->cpu_seconds = (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9;
	read_stat(stats);
	if (getrusage(RUSAGE_SELF, &usage) == 0) {
		health->max_rss_bytes = (uint64_t)usage.ru_maxrss * 1024;
		health->wakeups = (uint64_t)usage.ru_nvcsw;
	}
	if (stats->updates++ % FD_COUNT_EVERY == 0)
		health->open_fds = count_open_fds();
	health->log_lost_lines = log_lost_lines();
}

static bool fill_health(const void *owner, void *ret)
{
	*(struct self_health *)ret = ((const struct self_stats *)owner)->health;
	return true;
}

static const struct health_metric metrics[] = {
	{ .name = "kepler_exporter_cpu_seconds",
	  .type = FAMILY_COUNTER,
	  .unit = "seconds",
	  .help = "CPU time used by Kepler, including its BPF passes over the threads in the "
		  "kernel.",
	  .value = HEALTH_VALUE(struct self_health, cpu_seconds) },
	{ .name = "kepler_exporter_wakeups",
	  .type = FAMILY_COUNTER,
	  .help = "Wake-ups of Kepler's threads (voluntary context switches).",
	  .value = HEALTH_VALUE(struct self_health, wakeups) },
	{ .name = "kepler_exporter_resident_memory_bytes",
	  .type = FAMILY_GAUGE,
	  .unit = "bytes",
	  .help = "Resident memory of Kepler.",
	  .value = HEALTH_VALUE(struct self_health, rss_bytes) },
	{ .name = "kepler_exporter_resident_memory_max_bytes",
	  .type = FAMILY_GAUGE,
	  .unit = "bytes",
	  .help = "Highest resident memory of Kepler so far.",
	  .value = HEALTH_VALUE(struct self_health, max_rss_bytes) },
	{ .name = "kepler_exporter_open_fds",
	  .type = FAMILY_GAUGE,
	  .help = "Open file descriptors of Kepler.",
	  .value = HEALTH_VALUE(struct self_health, open_fds) },
	{ .name = "kepler_exporter_threads",
	  .type = FAMILY_GAUGE,
	  .help = "Threads of Kepler.",
	  .value = HEALTH_VALUE(struct self_health, threads) },
	{ .name = "kepler_exporter_log_lost_lines",
	  .type = FAMILY_COUNTER,
	  .help = "Log lines lost because standard error was not read.",
	  .value = HEALTH_VALUE(struct self_health, log_lost_lines) },
};

const struct health_part self_health_part = {
	.size = sizeof(struct self_health),
	.fill = fill_health,
	.metrics = metrics,
	.metric_count = ARRAY_SIZE(metrics),
};

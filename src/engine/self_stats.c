// SPDX-License-Identifier: Apache-2.0
#include "engine/self_stats.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/macro.h"

/* Counting descriptors lists a directory, which costs the kernel a third of an interval. */
#define FD_COUNT_EVERY 60
/* Links that a directory of procfs has before its entries add theirs. */
#define OWN_LINKS 2

void self_stats_open(struct self_stats *stats)
{
	*stats = (struct self_stats){
		.statm_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC),
		.task_fd = open("/proc/self/task", O_PATH | O_DIRECTORY | O_CLOEXEC),
	};
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

void self_stats_close(struct self_stats *stats)
{
	close_fd(&stats->statm_fd);
	close_fd(&stats->task_fd);
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

/* Each thread is a link of the directory: /proc/self/stat costs the kernel ten times as much. */
static void count_threads(struct self_stats *stats)
{
	struct stat task;

	if (stats->task_fd >= 0 && fstat(stats->task_fd, &task) == 0 && task.st_nlink > OWN_LINKS)
		stats->health.threads = task.st_nlink - OWN_LINKS;
}

/* Numbers of pages: all, resident, … */
static void read_resident(struct self_stats *stats)
{
	char text[128];
	const char *resident;

	if (stats->statm_fd < 0 || read_piece_fd(stats->statm_fd, text, sizeof(text)) <= 0)
		return;
	resident = strchr(text, ' ');
	if (resident)
		stats->health.rss_bytes =
			strtoull(resident, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static double seconds_of(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

void self_stats_update(struct self_stats *stats)
{
	struct self_health *health = &stats->health;
	struct rusage usage;

	read_resident(stats);
	count_threads(stats);
	if (getrusage(RUSAGE_SELF, &usage) == 0) {
		health->cpu_seconds = seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime);
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

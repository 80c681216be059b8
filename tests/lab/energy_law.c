// SPDX-License-Identifier: Apache-2.0
/*
 * Energy is kept as µW × ns in 128 bits and brought up to date at each read, so changing the power
 * never loses or invents anything, and what is shown is the truth modulo the range.
 */
#include "energy_law.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ALL_CPUS    UINT_MAX
#define DEFAULT_MAX 262143328850ULL /* a 32-bit counter of 2^-14 J */

uint64_t now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* The CPU @only, or all. */
static uint64_t machine_busy_ns(unsigned only)
{
	/* user nice system idle iowait irq softirq steal */
	uint64_t ticks[8], sum = 0;
	FILE *file = fopen("/proc/stat", "re");
	char line[512], name[16], want[16] = "cpu";

	if (!file)
		return 0;
	if (only != ALL_CPUS)
		(void)snprintf(want, sizeof(want), "cpu%u", only);
	while (!sum && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%15s %lu %lu %lu %lu %lu %lu %lu %lu", name, &ticks[0], &ticks[1],
			   &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7]) == 9 &&
		    strcmp(name, want) == 0)
			sum = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6];
	}
	(void)fclose(file);
	return sum * (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* The seventh number of each CPU's line is what tasks ran there, in ns, up to the last switch. */
static uint64_t scheduled_ns(void)
{
	FILE *file = fopen("/proc/schedstat", "re");
	uint64_t sum = 0, value;
	char line[512];

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "cpu%*u %*u %*u %*u %*u %*u %*u %lu", &value) == 1)
			sum += value;
	}
	(void)fclose(file);
	return sum;
}

static bool scan_file(const char *dir, const char *name, const char *format, uint64_t *ret)
{
	char path[512];
	FILE *file;
	bool found;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "re");
	if (!file)
		return false;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* the two formats below */
	found = fscanf(file, format, ret) == 1;
#pragma GCC diagnostic pop
	(void)fclose(file);
	return found;
}

static uint64_t cgroup_busy_ns(const char *dir)
{
	uint64_t value;

	if (scan_file(dir, "cpuacct.usage", "%lu", &value))
		return value;
	return scan_file(dir, "cpu.stat", "usage_usec %lu", &value) ? value * 1000 : 0;
}

static uint64_t pids_busy_ns(struct source *source)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < source->pid_count; i++) {
		struct timespec ts;
		clockid_t clock;

		if (clock_getcpuclockid(source->pids[i], &clock) == 0 &&
		    clock_gettime(clock, &ts) == 0)
			source->pid_ns[i] = (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
		sum += source->pid_ns[i];
	}
	return sum;
}

static uint64_t busy_ns(struct source *source)
{
	switch (source->kind) {
	case SOURCE_STAT:
		return machine_busy_ns(source->cpu);
	case SOURCE_SCHEDSTAT:
		return scheduled_ns();
	case SOURCE_CGROUP:
		return cgroup_busy_ns(source->dir);
	case SOURCE_PIDS:
		return pids_busy_ns(source);
	case SOURCE_NONE:
		break;
	}
	return 0;
}

uint64_t counter_energy(struct counter *counter)
{
	uint64_t time_ns = now_ns(), busy = busy_ns(&counter->source);

	counter->energy_uw_ns += (u128)counter->idle_uw * (time_ns - counter->last_ns);
	if (busy > counter->source.last_ns) {
		counter->energy_uw_ns += (u128)counter->dyn_uw * (busy - counter->source.last_ns);
		counter->source.last_ns = busy;
	}
	counter->last_ns = time_ns;
	return (uint64_t)(counter->energy_uw_ns / NS_PER_S);
}

static uint64_t counter_shown(const struct counter *counter, uint64_t energy_uj)
{
	return (uint64_t)(((u128)energy_uj + counter->offset_uj) % ((u128)counter->max_uj + 1));
}

void counter_jump(struct counter *counter, uint64_t shown_uj)
{
	u128 range = (u128)counter->max_uj + 1;

	counter->offset_uj =
		(uint64_t)((shown_uj % range + range - counter_energy(counter) % range) % range);
}

void counter_start(struct counter *counter, uint64_t start_uj)
{
	counter->last_ns = now_ns();
	counter->source.last_ns = busy_ns(&counter->source);
	counter->offset_uj = start_uj;
	if (counter->max_uj == 0)
		counter->max_uj = DEFAULT_MAX;
}

/* The same number for the same tick (SplitMix64's last steps), so that a value stays as it is. */
static uint64_t tick_noise_uj(uint64_t tick, uint64_t most_uj)
{
	uint64_t z = tick * 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return (z ^ (z >> 31)) % (most_uj + 1);
}

/* The value that a counter in ticks and units shows of its energy. */
static uint64_t counter_ticked(const struct counter *counter, uint64_t energy_uj)
{
	if (counter->tick_ns > 0) {
		u128 since = (u128)counter->idle_uw * (counter->last_ns % counter->tick_ns);

		energy_uj = since > counter->energy_uw_ns
				    ? 0
				    : (uint64_t)((counter->energy_uw_ns - since) / NS_PER_S);
		energy_uj += tick_noise_uj(counter->last_ns / counter->tick_ns, counter->noise_uj);
	}
	if (counter->unit_nj > 0)
		energy_uj = energy_uj * 1000 / counter->unit_nj * counter->unit_nj / 1000;
	return energy_uj;
}

uint64_t counter_read(struct counter *counter)
{
	uint64_t energy_uj = counter_energy(counter);

	if (counter->reads == 0)
		counter->first_uj = energy_uj;
	if (counter->reads++ == 1)
		counter->second_uj = energy_uj;
	counter->last_uj = energy_uj;
	return counter_shown(counter, counter_ticked(counter, energy_uj));
}

int source_parse(const char *text, struct source *ret)
{
	*ret = (struct source){ .kind = SOURCE_STAT, .cpu = ALL_CPUS };
	if (strcmp(text, "stat") == 0)
		return 0;
	if (strcmp(text, "schedstat") == 0) {
		ret->kind = SOURCE_SCHEDSTAT;
		return 0;
	}
	if (strncmp(text, "stat:", 5) == 0) {
		ret->cpu = (unsigned)strtoul(text + 5, NULL, 10);
		return 0;
	}
	if (strncmp(text, "cgroup:", 7) == 0) {
		ret->kind = SOURCE_CGROUP;
		return snprintf(ret->dir, sizeof(ret->dir), "%s", text + 7) < (int)sizeof(ret->dir)
			       ? 0
			       : -EINVAL;
	}
	if (strncmp(text, "pid:", 4) != 0)
		return -EINVAL;
	ret->kind = SOURCE_PIDS;
	for (text += 4; *text && ret->pid_count < PIDS_MAX;) {
		char *end;

		ret->pids[ret->pid_count++] = (pid_t)strtol(text, &end, 10);
		if (end == text)
			return -EINVAL;
		text = end + (*end == ',');
	}
	return 0;
}

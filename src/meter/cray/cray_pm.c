// SPDX-License-Identifier: Apache-2.0
/*
 * HPE Cray EX and Cray XC: counters of the blade's controller in SYSFS/cray/pm_counters (HPE, "User
 * Access to Compute Node Power Data"). "energy" is the node's, with its accelerators; cpu_energy
 * and memory_energy are parts of it; cpuN_energy is a socket's, accelN_energy an accelerator's.
 * They are in joules, each with the time of its sample, and sampled ten times a second.
 *
 * Accelerators are one zone, their sum: the files do not show which board N is, or what used it, so
 * the zone competes with the boards that their drivers show (energy/rank.h), and these win.
 *
 * "startup" counts the starts of the controller; each start resets the counters. ("generation"
 * counts changes of power limits.) A time that does not change means that the controller does not
 * sample: there is no new reading then, and after three seconds the zone is down.
 *
 * Polled: the values come from a controller next to the node, which may be slow.
 */
#include "meter/cray/cray_pm.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "meter/cray/cray_pm_text.h"
#include "meter/meter.h"

#define PERIOD_NS      NSEC_PER_SEC
#define STALE_NS       (3 * PERIOD_NS)
#define CPUS_MAX       16
#define ACCELS_MAX     16
#define ZONES_SIZE     (2 + CPUS_MAX + 2)
#define FILE_NAME_SIZE 32

struct cray_zone {
	struct zone zone;          /* this and the next are fixed */
	char name[FILE_NAME_SIZE]; /* "": the sum of all accelerators */
	uint64_t time_us;          /* of the last sample; 0: none, or it says no time */
	uint64_t fresh_ns;         /* MONOTONIC; when a new sample was seen last */
};

struct meter {
	char *dir_path;
	pthread_mutex_t lock; /* of `count`; other variable members belong to the poller's thread */
	struct cray_zone zones[ZONES_SIZE];
	size_t count;
	unsigned accelerators; /* that the sum is of */
};

/* Returns 0 without such a file. */
static uint32_t read_startup(int dir_fd)
{
	char text[64];
	ssize_t len = read_file_at(dir_fd, "startup", text, sizeof(text));
	uint64_t startup;

	if (len <= 0 || parse_u64(text, strspn(text, "0123456789"), &startup) < 0)
		return 0;
	return (uint32_t)startup;
}

/* Checks that the sample is new, as the first one is. */
static int check_time(struct cray_zone *zone, uint64_t time_us)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (time_us && time_us == zone->time_us)
		return now_ns - zone->fresh_ns > STALE_NS ? -ETIMEDOUT : -EAGAIN;
	zone->time_us = time_us;
	zone->fresh_ns = now_ns;
	return 0;
}

static int read_file(int dir_fd, const char *name, uint64_t *ret_uj, uint64_t *ret_time_us)
{
	char text[64];

	return cray_pm_energy_parse(text, read_file_at(dir_fd, name, text, sizeof(text)), ret_uj,
				    ret_time_us);
}

static void name_accelerator(unsigned number, char ret[static FILE_NAME_SIZE])
{
	(void)snprintf(ret, FILE_NAME_SIZE, "accel%u_energy", number);
}

/* All or nothing; *ret_time_us: of the last one. */
static int read_accelerators(int dir_fd, unsigned count, uint64_t *ret_uj, uint64_t *ret_time_us)
{
	uint64_t sum_uj = 0, energy_uj;
	int r = 0;

	for (unsigned number = 0; r == 0 && number < count; number++) {
		char name[FILE_NAME_SIZE];

		name_accelerator(number, name);
		r = read_file(dir_fd, name, &energy_uj, ret_time_us);
		if (r == 0 && __builtin_add_overflow(sum_uj, energy_uj, &sum_uj))
			r = -ERANGE;
	}
	*ret_uj = sum_uj;
	return r;
}

static int cray_read_raw(struct meter *meter, size_t index, struct raw_reading *ret)
{
	CLEANUP_FD int dir_fd = open(meter->dir_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct cray_zone *zone = &meter->zones[index];
	struct raw_reading raw = { .kind = SAMPLE_TOTAL };
	uint64_t time_us = 0;
	int r;

	if (dir_fd < 0)
		return -errno;
	if (zone->name[0])
		r = read_file(dir_fd, zone->name, &raw.value, &time_us);
	else
		r = read_accelerators(dir_fd, meter->accelerators, &raw.value, &time_us);
	if (r == 0)
		r = check_time(zone, time_us);
	if (r < 0)
		return r;
	raw.generation = read_startup(dir_fd);
	*ret = raw;
	return 0;
}

static bool is_known(const struct meter *meter, const char *name)
{
	for (size_t i = 0; i < meter->count; i++) {
		if (strcmp(meter->zones[i].name, name) == 0)
			return true;
	}
	return false;
}

/* True if the file is there; it is a zone from then on. */
static bool take(struct meter *meter, int dir_fd, const char *name, enum zone_kind kind,
		 const char *instance)
{
	struct cray_zone *zone = &meter->zones[meter->count];

	if (faccessat(dir_fd, name, F_OK, 0) < 0)
		return false;
	if (is_known(meter, name) || meter->count == ZONES_SIZE)
		return true;
	*zone = (struct cray_zone){ .zone = { .kind = kind,
					      .domain = zone_domain(kind, instance),
					      .source = cray_pm_meter.name,
					      .rank = RANK_BOARD_ENERGY } };
	(void)snprintf(zone->zone.instance, sizeof(zone->zone.instance), "%s", instance);
	(void)snprintf(zone->zone.path, sizeof(zone->zone.path), "pm_counters/%s", name);
	(void)snprintf(zone->name, sizeof(zone->name), "%s", name);
	meter->count++;
	return true;
}

/* As many as there are when the first one is found: with another number it would be another sum. */
static void take_accelerators(struct meter *meter, int dir_fd)
{
	struct cray_zone *zone = &meter->zones[meter->count];
	char name[FILE_NAME_SIZE];
	unsigned count = 0;

	if (meter->accelerators || meter->count == ZONES_SIZE)
		return;
	name_accelerator(count, name);
	while (count < ACCELS_MAX && faccessat(dir_fd, name, F_OK, 0) == 0)
		name_accelerator(++count, name);
	if (!count)
		return;
	*zone = (struct cray_zone){ .zone = { .kind = ZONE_GPU,
					      .domain = { DOMAIN_DEVICE, DEVICE_ALL },
					      .source = cray_pm_meter.name,
					      .rank = RANK_CONTROLLER,
					      .path = "pm_counters/accelN_energy" } };
	meter->accelerators = count;
	meter->count++;
}

static int cray_rescan(struct meter *meter)
{
	CLEANUP_FD int dir_fd = open(meter->dir_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool has_sockets = false;

	if (dir_fd < 0)
		return 0;
	pthread_mutex_lock(&meter->lock);
	(void)take(meter, dir_fd, "energy", ZONE_PLATFORM, "");
	(void)take(meter, dir_fd, "memory_energy", ZONE_DRAM, "");
	for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
		char name[FILE_NAME_SIZE], instance[ZONE_INSTANCE_MAX];

		(void)snprintf(name, sizeof(name), "cpu%u_energy", cpu);
		(void)snprintf(instance, sizeof(instance), "%u", cpu);
		has_sockets |= take(meter, dir_fd, name, ZONE_PACKAGE, instance);
	}
	if (!has_sockets)
		(void)take(meter, dir_fd, "cpu_energy", ZONE_PACKAGE, "");
	take_accelerators(meter, dir_fd);
	pthread_mutex_unlock(&meter->lock);
	return 0;
}

static size_t cray_zone_count(struct meter *meter)
{
	size_t count;

	pthread_mutex_lock(&meter->lock);
	count = meter->count;
	pthread_mutex_unlock(&meter->lock);
	return count;
}

static const struct zone *cray_zone_at(struct meter *meter, size_t index)
{
	return &meter->zones[index].zone;
}

static void cray_close(struct meter *meter)
{
	if (!meter)
		return;
	(void)pthread_mutex_destroy(&meter->lock);
	free(meter->dir_path);
	free(meter);
}

static int cray_open(const struct meter_options *options, struct meter **ret)
{
	struct meter *meter = calloc(1, sizeof(*meter));
	char path[PATH_MAX];

	if (!meter)
		return -ENOMEM;
	(void)pthread_mutex_init(&meter->lock, NULL); /* cannot fail with default attributes */
	if (path_join(path, sizeof(path), options->sysfs, "cray/pm_counters") == 0)
		meter->dir_path = strdup(path);
	if (!meter->dir_path) {
		cray_close(meter);
		return -ENOMEM;
	}
	*ret = meter;
	return 0;
}

const struct meter_ops cray_pm_meter = {
	.name = "cray-pm-counters",
	.period_ns = PERIOD_NS,
	.open = cray_open,
	.zone_count = cray_zone_count,
	.zone_at = cray_zone_at,
	.read_raw = cray_read_raw,
	.rescan = cray_rescan,
	.close = cray_close,
};

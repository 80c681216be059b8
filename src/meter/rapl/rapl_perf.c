// SPDX-License-Identifier: Apache-2.0
/*
 * RAPL through the kernel's perf PMU "power": one group of events for each package (or die), and
 * one read() for all of its zones. The kernel keeps 64-bit counters over the 32-bit ones of the
 * processor, in 2^-32 J.
 *
 * The reader asks zone by zone: the first one of a package reads the group, and the others take
 * their values from that reading, each once, if it is not older than FRESH_NS.
 *
 * If the last CPU of a package goes offline, its events continue to answer with their last values,
 * but the time for which they were enabled stops. Then the group is closed, and a later rescan
 * opens it on a CPU of the mask as it is then. (As long as the package has another CPU the kernel
 * moves the events there.) A package has zones only once its group was opened: without permission
 * there is a remark instead of a meter that is down.
 *
 * A hypervisor may return 0 whenever the register is read, and some servers have a psys event that
 * their board does not feed; from Sapphire Rapids on the kernel does not check that counter. So
 * each group is tried when it is opened: a package or psys draws power as long as a program runs,
 * and if it does not count for TRIAL_READS × TRIAL_NS it is left out: it would show 0 W.
 */
#include "meter/rapl/rapl_perf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"
#include "host/topology.h"
#include "meter/meter.h"
#include "meter/rapl/rapl_name.h"
#include "meter/rapl/rapl_pmu.h"
#include "meter/rapl/rapl_scan.h"
#include "meter/shared_fds.h"
#include "service/needs.h"

#define PACKAGES_MAX RAPL_PMU_CPUS_MAX
#define FRESH_NS     (50 * NSEC_PER_MSEC) /* half of the shortest interval */
#define TRIAL_READS  50
#define TRIAL_NS     (2 * NSEC_PER_MSEC) /* a counter is updated every millisecond */
/*
 * The finest unit is 2^-16 J, where 32 bits are 2^16 J. The kernel reads the processor's counter by
 * itself only as often as 200 W need it.
 */
#define UNREAD_MAX_UJ (65536 * UJ_PER_J)

/* PERF_FORMAT_GROUP with both times: perf_event_open(2). */
struct group_reading {
	uint64_t count;
	uint64_t enabled_ns, running_ns;
	uint64_t values[RAPL_PMU_EVENTS_MAX];
};

struct package {
	struct cpu_place place;
	char instance[ZONE_INSTANCE_MAX];
	struct shared_fds *group; /* NULL: not open */
	uint32_t generation;
	struct rapl_pmu_event events[RAPL_PMU_EVENTS_MAX]; /* of the group */
	size_t event_count;
	unsigned still; /* bit i: event i does not count */
	struct group_reading last;
	uint64_t last_ns; /* MONOTONIC */
	unsigned unused;  /* bit i: values[i] was not given to its zone yet */
};

struct perf_zone {
	struct zone zone; /* fixed once the zone is counted */
	struct package *package;
};

struct meter {
	char *sysfs;
	bool is_virtual; /* meter_options.rapl_is_virtual */
	rapl_perf_open_fn *open_event;
	bool is_by_die; /* of rescan() alone, as is has_mask */
	bool has_mask;
	pthread_mutex_t lock; /* all below; never held over I/O */
	struct package packages[PACKAGES_MAX];
	size_t package_count;
	struct perf_zone zones[METER_ZONES_MAX];
	size_t count;
	size_t ignored;
	char why_not[sizeof(((struct meter_remark *)NULL)->what)];
	char why_still[sizeof(
		((struct meter_remark *)NULL)->what)]; /* of events that do not count */
};

static int kernel_open_event(const struct perf_event_attr *attr, int cpu, int group_fd)
{
	long fd = syscall(SYS_perf_event_open, attr, -1, cpu, group_fd, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* ---- reading ---- */

/* The place of @kind in the package's group; event_count: it has none. */
static size_t find_event(const struct package *package, enum zone_kind kind)
{
	size_t i = 0;

	while (i < package->event_count && package->events[i].kind != kind)
		i++;
	return i;
}

/* Called with the lock held. False where the last reading has nothing new for the zone. */
static bool take_value(const struct meter *meter, struct package *package, enum zone_kind kind,
		       uint64_t now_ns, struct raw_reading *ret)
{
	size_t i = find_event(package, kind);
	uint64_t unit;

	if (!package->group || i == package->event_count || !(package->unused & 1U << i) ||
	    now_ns - package->last_ns > FRESH_NS)
		return false;
	unit = package->events[i].unit;
	package->unused &= ~(1U << i);
	*ret = (struct raw_reading){
		.value = rapl_pmu_energy_uj(package->last.values[i], unit),
		.range_uj = rapl_pmu_range_uj(unit),
		.unread_max_uj = UNREAD_MAX_UJ,
		.generation = package->generation,
		.to_ns = package->last_ns,
		.caveat = meter->is_virtual ? CAVEAT_VIRTUAL : CAVEAT_NONE,
	};
	return true;
}

static int read_group(const struct shared_fds *group, struct group_reading *ret)
{
	const ssize_t size = (ssize_t)(offsetof(struct group_reading, values) +
				       group->count * sizeof(ret->values[0]));
	ssize_t n = read(group->fds[0], ret, sizeof(*ret));

	if (n < 0)
		return -errno;
	/* An event in an error state is at its end; a group that was taken apart is shorter. */
	return n == size && ret->count == group->count ? 0 : -ENODEV;
}

/* Closes the package's group, unless it was reopened meanwhile. */
static void lose_group(struct meter *meter, struct package *package, uint32_t generation)
{
	struct shared_fds *old = NULL;

	pthread_mutex_lock(&meter->lock);
	if (package->generation == generation)
		old = TAKE_PTR(package->group);
	pthread_mutex_unlock(&meter->lock);
	shared_fds_unref(old);
}

static int perf_read_raw(struct meter *meter, size_t index, struct raw_reading *ret)
{
	CLEANUP(shared_fds_release) struct shared_fds *group = NULL;
	struct perf_zone *zone = &meter->zones[index];
	struct package *package = zone->package;
	struct group_reading reading = { 0 };
	uint64_t enabled_ns;
	bool is_there;
	int r;

	pthread_mutex_lock(&meter->lock);
	is_there = take_value(meter, package, zone->zone.kind, clock_ns(CLOCK_MONOTONIC), ret);
	group = shared_fds_ref(package->group);
	enabled_ns = package->last.enabled_ns;
	pthread_mutex_unlock(&meter->lock);
	if (is_there)
		return 0;
	if (!group)
		return -ENODEV;
	r = read_group(group, &reading);
	if (r == 0 && reading.enabled_ns <= enabled_ns)
		r = -ENODEV;
	if (r == -ENODEV)
		lose_group(meter, package, group->generation);
	if (r < 0)
		return r;
	pthread_mutex_lock(&meter->lock);
	/* Another read may have come back before this one. */
	if (package->generation == group->generation &&
	    reading.enabled_ns > package->last.enabled_ns) {
		package->last = reading;
		package->last_ns = clock_ns(CLOCK_MONOTONIC);
		package->unused = (1U << package->event_count) - 1;
	}
	is_there = take_value(meter, package, zone->zone.kind, package->last_ns, ret);
	pthread_mutex_unlock(&meter->lock);
	return is_there ? 0 : -EAGAIN;
}

/* ---- searching ---- */

static int open_group(const struct meter *meter, const struct rapl_pmu *pmu, unsigned cpu,
		      uint32_t generation, struct shared_fds **ret)
{
	CLEANUP(shared_fds_release) struct shared_fds *group = NULL;
	int fds[RAPL_PMU_EVENTS_MAX];
	size_t count = 0;
	int fd = 0;

	while (count < pmu->event_count) {
		const struct perf_event_attr attr = {
			.type = pmu->type,
			.size = sizeof(attr),
			.config = pmu->events[count].config,
			.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
				       PERF_FORMAT_TOTAL_TIME_RUNNING,
		};

		fd = meter->open_event(&attr, (int)cpu, count ? fds[0] : -1);
		if (fd < 0)
			break;
		fds[count++] = fd;
	}
	group = shared_fds_new(fds, count, generation);
	if (fd < 0 || !group)
		return fd < 0 ? fd : -ENOMEM;
	*ret = TAKE_PTR(group);
	return 0;
}

static bool has_zone(const struct meter *meter, enum zone_kind kind, const char *instance)
{
	for (size_t i = 0; i < meter->count; i++) {
		const struct zone *zone = &meter->zones[i].zone;

		if (zone->kind == kind && strcmp(zone->instance, instance) == 0)
			return true;
	}
	return false;
}

/* Which events of a group that was just opened stand still: bit i is event i. */
static unsigned try_group(const struct rapl_pmu *pmu, const struct shared_fds *group)
{
	const struct timespec pause = { .tv_nsec = TRIAL_NS };
	struct group_reading first = { 0 }, now = { 0 };
	unsigned still = 0;

	for (size_t i = 0; i < pmu->event_count; i++) {
		if (pmu->events[i].kind == ZONE_PACKAGE || pmu->events[i].kind == ZONE_PSYS)
			still |= 1U << i;
	}
	if (still && read_group(group, &first) < 0)
		return 0; /* that is seen when it is read */
	for (int reads = 0; still && reads < TRIAL_READS; reads++) {
		(void)nanosleep(&pause, NULL);
		if (read_group(group, &now) < 0)
			return 0;
		for (size_t i = 0; i < pmu->event_count; i++) {
			if (now.values[i] != first.values[i])
				still &= ~(1U << i);
		}
	}
	return still;
}

/* Called with the lock held. */
static void add_zones(struct meter *meter, struct package *package)
{
	for (size_t i = 0; i < package->event_count; i++) {
		const struct rapl_pmu_event *event = &package->events[i];
		struct perf_zone *zone = &meter->zones[meter->count];
		char instance[ZONE_INSTANCE_MAX];

		rapl_zone_instance(event->kind, &package->place, meter->is_by_die, instance);
		if (package->still & 1U << i) {
			(void)snprintf(meter->why_still, sizeof(meter->why_still),
				       "power/%s@%.*s is not read: it does not advance, because "
				       "the hypervisor or the board does not implement it",
				       event->name, ZONE_PACKAGE_MAX, instance);
			continue;
		}
		if (has_zone(meter, event->kind, instance))
			continue;
		if (meter->count == METER_ZONES_MAX) {
			meter->ignored++;
			continue;
		}
		zone->package = package;
		zone->zone = (struct zone){ .kind = event->kind,
					    .domain = zone_domain(event->kind, instance),
					    .source = rapl_perf_meter.name,
					    .rank = RANK_MEASURED_PERF +
						    (meter->is_virtual ? RANK_VIRTUAL : 0) };
		(void)snprintf(zone->zone.instance, sizeof(zone->zone.instance), "%s", instance);
		(void)snprintf(zone->zone.path, sizeof(zone->zone.path), "power/%s@%.*s",
			       event->name, ZONE_PACKAGE_MAX, instance);
		meter->count++;
	}
}

/* The package of that CPU, a new one if need be; NULL if there are too many. */
static struct package *package_of(struct meter *meter, const struct cpu_place *place)
{
	struct package *package = meter->packages;

	for (; package < meter->packages + meter->package_count; package++) {
		if (package->place.package == place->package &&
		    (package->place.die == place->die || !meter->is_by_die))
			return package;
	}
	if (meter->package_count == PACKAGES_MAX)
		return NULL;
	package->place = *place;
	meter->package_count++;
	return package;
}

/* Rescans run one at a time, and other threads write only the members that are read here. */
static int open_package(struct meter *meter, struct package *package, const struct rapl_pmu *pmu,
			unsigned cpu)
{
	struct shared_fds *group;
	unsigned still;
	bool is_open;
	int r;

	pthread_mutex_lock(&meter->lock);
	is_open = package->group != NULL;
	pthread_mutex_unlock(&meter->lock);
	if (is_open)
		return 0;
	r = open_group(meter, pmu, cpu, package->generation + 1, &group);
	if (r < 0)
		return r;
	still = try_group(pmu, group);
	pthread_mutex_lock(&meter->lock);
	package->generation++;
	package->group = group;
	package->still = still;
	memcpy(package->events, pmu->events, sizeof(pmu->events));
	package->event_count = pmu->event_count;
	package->last = (struct group_reading){ 0 };
	package->unused = 0;
	add_zones(meter, package);
	pthread_mutex_unlock(&meter->lock);
	return 0;
}

/*
 * The counters are the dies' where a package has two CPUs in the mask, and their zones have the
 * names that powercap gives them. Names do not change later.
 */
static void learn_dies(struct meter *meter, const struct cpu_place *places, size_t count)
{
	for (size_t i = 0; !meter->has_mask && i < count; i++) {
		for (size_t k = 0; k < i; k++)
			meter->is_by_die |= places[i].package == places[k].package;
	}
	meter->has_mask |= count > 0;
}

static int open_packages(struct meter *meter, const struct rapl_pmu *pmu)
{
	struct cpu_place places[RAPL_PMU_CPUS_MAX];
	unsigned cpus[RAPL_PMU_CPUS_MAX];
	size_t count = 0;
	int worst = 0;

	for (size_t i = 0; i < pmu->cpu_count; i++) {
		cpus[count] = pmu->cpus[i];
		count += topology_place(meter->sysfs, pmu->cpus[i], &places[count]);
	}
	learn_dies(meter, places, count);
	for (size_t i = 0; i < count && pmu->event_count; i++) {
		struct package *package = package_of(meter, &places[i]);
		int r = package ? open_package(meter, package, pmu, cpus[i]) : 0;

		/* A CPU that has just gone offline has no events: its package is searched for. */
		worst = r < 0 && r != -ENODEV ? r : worst;
	}
	return worst;
}

static void note(struct meter *meter, const struct rapl_pmu *pmu, int error)
{
	pthread_mutex_lock(&meter->lock);
	meter->ignored = pmu->unknown_count;
	meter->why_not[0] = '\0';
	if (error < 0 && error != -ENOENT)
		(void)snprintf(
			meter->why_not, sizeof(meter->why_not),
			"the events of the perf PMU \"power\" (RAPL) cannot be opened: %s%s",
			strerrordesc_np(-error),
			error == -EACCES || error == -EPERM
				? "; CAP_PERFMON is needed (before Linux 5.8 CAP_SYS_ADMIN), "
				  "and kernel.perf_event_paranoid not above 2"
				: "");
	pthread_mutex_unlock(&meter->lock);
}

static int perf_rescan(struct meter *meter)
{
	struct rapl_pmu pmu = { 0 };
	int r = rapl_pmu_read(meter->sysfs, &pmu);

	if (r == 0)
		r = open_packages(meter, &pmu);
	note(meter, &pmu, r);
	return r == -ENOENT ? 0 : r;
}

/* ---- the rest ---- */

static size_t perf_zone_count(struct meter *meter)
{
	size_t count;

	pthread_mutex_lock(&meter->lock);
	count = meter->count;
	pthread_mutex_unlock(&meter->lock);
	return count;
}

static const struct zone *perf_zone_at(struct meter *meter, size_t index)
{
	return &meter->zones[index].zone;
}

static size_t perf_ignored(struct meter *meter)
{
	size_t ignored;

	pthread_mutex_lock(&meter->lock);
	ignored = meter->ignored;
	pthread_mutex_unlock(&meter->lock);
	return ignored;
}

static bool perf_remark(struct meter *meter, size_t index, struct meter_remark *ret)
{
	bool has_one, is_failure;

	pthread_mutex_lock(&meter->lock);
	is_failure = index == 0 && meter->why_not[0];
	has_one = is_failure || (index == (meter->why_not[0] != '\0') && meter->why_still[0]);
	*ret = (struct meter_remark){ .is_failure = is_failure };
	memcpy(ret->what, is_failure ? meter->why_not : meter->why_still, sizeof(ret->what));
	pthread_mutex_unlock(&meter->lock);
	return has_one;
}

static void perf_close(struct meter *meter)
{
	if (!meter)
		return;
	for (size_t i = 0; i < meter->package_count; i++)
		shared_fds_unref(meter->packages[i].group);
	(void)pthread_mutex_destroy(&meter->lock);
	free(meter->sysfs);
	free(meter);
}

/* Where the kernel has the PMU, and powercap shows nothing. */
static bool perf_is_wanted(const struct meter_options *options)
{
	CLEANUP(rapl_scan_release) struct rapl_scan powercap = { 0 };

	return rapl_pmu_exists(options->sysfs) && rapl_scan_read(options->sysfs, &powercap) == 0 &&
	       powercap.count == 0;
}

static int perf_open(const struct meter_options *options, struct meter **ret)
{
	struct meter *meter = calloc(1, sizeof(*meter));

	if (!meter)
		return -ENOMEM;
	(void)pthread_mutex_init(&meter->lock, NULL); /* cannot fail with default attributes */
	meter->open_event =
		options->rapl_perf.open_event ? options->rapl_perf.open_event : kernel_open_event;
	meter->is_virtual = options->rapl_is_virtual;
	meter->sysfs = strdup(options->sysfs);
	if (!meter->sysfs) {
		perf_close(meter);
		return -ENOMEM;
	}
	*ret = meter;
	return 0;
}

const struct meter_ops rapl_perf_meter = {
	.name = "rapl-perf",
	.is_wanted = perf_is_wanted,
	.needs = NEED_PERF_ENERGY,
	.open = perf_open,
	.zone_count = perf_zone_count,
	.zone_at = perf_zone_at,
	.ignored = perf_ignored,
	.remark = perf_remark,
	.read_raw = perf_read_raw,
	.rescan = perf_rescan,
	.close = perf_close,
};

// SPDX-License-Identifier: Apache-2.0
/*
 * RAPL by the registers themselves, through the kernel's driver msr (/dev/cpu/N/msr, msr(4)): each
 * is read on one CPU of its package, or die. It is opened by name alone, because it takes
 * CAP_SYS_RAWIO, which is as good as root.
 *
 * A register that is 0 counts nothing, as for the kernel's own driver. If the CPU that is read goes
 * offline, reads fail with ENXIO: the device is closed, and a later rescan opens another CPU of the
 * package as a new generation, because the package may have been off meanwhile. Registers that
 * count a single core are read on one CPU of each core, if that is configured (rapl_cores.h).
 */
#include "meter/rapl/rapl_msr.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "host/topology.h"
#include "meter/meter.h"
#include "meter/rapl/rapl_cores.h"
#include "meter/rapl/rapl_name.h"
#include "meter/rapl/rapl_units.h"
#include "meter/shared_fds.h"
#include "service/needs.h"

#define MSR_DEVICES  "/dev/cpu"
#define PACKAGES_MAX 128

/* Intel SDM volume 4: IA32_ARCH_CAPABILITIES, IA32_MISC_PACKAGE_CTLS. */
#define MSR_ARCH_CAPABILITIES 0x10a
#define HAS_ENERGY_FILTERING  (1ULL << 11)
#define MSR_MISC_PACKAGE_CTLS 0xbc
#define ENERGY_IS_FILTERED    (1ULL << 0)

struct package {
	struct cpu_place place;
	struct shared_fds *device; /* NULL: not open */
	uint32_t generation;
	uint64_t unit_value;
	struct shared_fds *cores; /* of one CPU of each core; NULL: not open */
	uint32_t cores_generation;
	unsigned *core_cpus; /* [core_count]: these CPUs */
	size_t core_count;
};

struct msr_zone {
	struct zone zone; /* fixed once the zone is counted, as all of this */
	struct package *package;
	uint32_t msr;
	uint64_t unit;             /* rapl_unit() */
	struct rapl_core_sum *sum; /* of all cores of the package; NULL: it has one register */
};

struct meter {
	char *sysfs, *devices;
	const struct rapl_cpu *cpu; /* NULL: not known */
	char cpu_text[80];
	bool is_by_die; /* of rescan() alone, as is has_places */
	bool has_places;
	bool wants_cores, is_virtual;
	pthread_mutex_t lock; /* all below; never held over I/O */
	struct package packages[PACKAGES_MAX];
	size_t package_count;
	struct msr_zone zones[METER_ZONES_MAX];
	size_t count;
	size_t ignored;
	bool is_filtered;
	char why_not[sizeof(((struct meter_remark *)NULL)->what)];
};

/* Drops the descriptors of @place, unless they were reopened meanwhile. */
static void lose(struct meter *meter, struct shared_fds **place, const struct shared_fds *lost)
{
	struct shared_fds *old = NULL;

	pthread_mutex_lock(&meter->lock);
	if (*place == lost)
		old = TAKE_PTR(*place);
	pthread_mutex_unlock(&meter->lock);
	shared_fds_unref(old);
}

/* While all together have used less than one of them can count, none has turned over twice. */
static int read_cores(const struct msr_zone *zone, const struct shared_fds *cores,
		      struct raw_reading *ret)
{
	int r = rapl_core_sum_read(zone->sum, cores, zone->msr);

	if (r < 0)
		return r;
	*ret = (struct raw_reading){
		.value = (uint64_t)((unsigned __int128)zone->sum->counts * zone->unit >> 32),
		.kind = SAMPLE_TOTAL,
		.generation = cores->generation,
		.unread_max_uj = zone->unit,
	};
	return 0;
}

static int read_package(const struct msr_zone *zone, const struct shared_fds *device,
			struct raw_reading *ret)
{
	uint64_t value = 0;
	int r = rapl_register_read(device->fds[0], zone->msr, &value);

	if (r < 0)
		return r;
	*ret = (struct raw_reading){ .value = rapl_register_uj(value, zone->unit),
				     .range_uj = zone->unit - 1,
				     .generation = device->generation };
	return 0;
}

static int msr_read_raw(struct meter *meter, size_t index, struct raw_reading *ret)
{
	CLEANUP(shared_fds_release) struct shared_fds *device = NULL;
	const struct msr_zone *zone = &meter->zones[index];
	struct shared_fds **place = zone->sum ? &zone->package->cores : &zone->package->device;
	enum zone_caveat caveat;
	int r;

	pthread_mutex_lock(&meter->lock);
	device = shared_fds_ref(*place);
	caveat = meter->is_filtered ? CAVEAT_FILTERED : CAVEAT_NONE;
	pthread_mutex_unlock(&meter->lock);
	if (!device)
		return -ENODEV;
	r = zone->sum ? read_cores(zone, device, ret) : read_package(zone, device, ret);
	if (r == -ENODEV)
		lose(meter, place, device);
	else if (r == 0)
		ret->caveat = meter->is_virtual ? CAVEAT_VIRTUAL : caveat;
	return r;
}

/* ---- searching ---- */

/* CPUs of a search: the first one of each place, and, where they are read, of each core. */
struct found {
	const struct meter *meter;
	struct cpu_place places[PACKAGES_MAX];
	unsigned cpus[PACKAGES_MAX];
	size_t count;
	size_t beyond;
	unsigned *core_cpus; /* [core_count]; in packages core_packages[] */
	uint32_t *core_packages;
	size_t core_count, core_size, core_package_size;
	bool no_memory;
};

static void found_release(struct found *found)
{
	free(found->core_cpus);
	free(found->core_packages);
}

static void take_core(struct found *found, unsigned cpu, uint32_t package)
{
	size_t count = found->core_count + 1;

	if (!topology_is_first_of_core(found->meter->sysfs, cpu))
		return;
	if (ARRAY_RESERVE(found->core_cpus, found->core_size, count) < 0 ||
	    ARRAY_RESERVE(found->core_packages, found->core_package_size, count) < 0) {
		found->no_memory = true;
		return;
	}
	found->core_cpus[found->core_count] = cpu;
	found->core_packages[found->core_count++] = package;
}

static void take_cpu(void *userdata, unsigned cpu, uint32_t package)
{
	struct found *found = userdata;
	struct cpu_place place = { package, 0 };

	if (found->meter->wants_cores)
		take_core(found, cpu, package);
	if (found->meter->cpu->is_by_die && !topology_place(found->meter->sysfs, cpu, &place))
		return;
	for (size_t i = 0; i < found->count; i++) {
		if (found->places[i].package == place.package && found->places[i].die == place.die)
			return;
	}
	if (found->count == PACKAGES_MAX) {
		found->beyond++;
		return;
	}
	found->places[found->count] = place;
	found->cpus[found->count++] = cpu;
}

/* As the kernel names them; names do not change later. */
static void learn_dies(struct meter *meter, const struct found *found)
{
	for (size_t i = 0; !meter->has_places && i < found->count; i++) {
		for (size_t k = 0; k < i; k++)
			meter->is_by_die |= found->places[i].package == found->places[k].package;
	}
	meter->has_places |= found->count > 0;
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

/* Called with the lock held. @sum is taken over; NULL: the register is the package's. */
static void add_zone(struct meter *meter, struct package *package,
		     const struct rapl_register *counter, struct rapl_core_sum *sum)
{
	struct msr_zone *zone = &meter->zones[meter->count];
	char instance[ZONE_INSTANCE_MAX];

	rapl_zone_instance(counter->kind, &package->place, meter->is_by_die, instance);
	if (has_zone(meter, counter->kind, instance) || meter->count == METER_ZONES_MAX) {
		meter->ignored += !has_zone(meter, counter->kind, instance);
		free(sum);
		return;
	}
	*zone = (struct msr_zone){
		.zone = { .kind = counter->kind,
			  .domain = zone_domain(counter->kind, instance),
			  .source = rapl_msr_meter.name,
			  .rank = RANK_MEASURED_MSR + (meter->is_virtual ? RANK_VIRTUAL : 0) },
		.package = package,
		.msr = counter->msr,
		.unit = rapl_unit(meter->cpu, counter->kind, package->unit_value),
		.sum = sum,
	};
	(void)snprintf(zone->zone.instance, sizeof(zone->zone.instance), "%s", instance);
	(void)snprintf(zone->zone.path, sizeof(zone->zone.path), "msr/0x%x@%.*s", counter->msr,
		       ZONE_PACKAGE_MAX, instance);
	meter->count++;
}

/* Those registers that count: not 0, and readable. */
static unsigned find_counters(const struct rapl_cpu *cpu, int fd)
{
	unsigned counters = 0;
	uint64_t value = 0;

	for (size_t i = 0; i < cpu->register_count; i++) {
		if (rapl_register_read(fd, cpu->registers[i].msr, &value) == 0 &&
		    (value & UINT32_MAX))
			counters |= 1U << i;
	}
	return counters;
}

/* Counters can be coarser to prevent attacks such as PLATYPUS: sums stay right. */
static bool is_filtered(int fd)
{
	uint64_t value = 0;

	return rapl_register_read(fd, MSR_ARCH_CAPABILITIES, &value) == 0 &&
	       (value & HAS_ENERGY_FILTERING) &&
	       rapl_register_read(fd, MSR_MISC_PACKAGE_CTLS, &value) == 0 &&
	       (value & ENERGY_IS_FILTERED);
}

static int open_device(const struct meter *meter, unsigned cpu)
{
	char path[4096];
	int n = snprintf(path, sizeof(path), "%s/%u/msr", meter->devices, cpu);
	int fd;

	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

static int open_package(struct meter *meter, struct package *package, unsigned cpu)
{
	CLEANUP_FD int fd = open_device(meter, cpu);
	struct shared_fds *device;
	uint64_t unit_value = 0;
	unsigned counters;
	bool filtered;
	int r;

	if (fd < 0)
		return fd == -ENXIO ? -ENODEV : fd;
	r = rapl_register_read(fd, meter->cpu->unit_msr, &unit_value);
	if (r < 0)
		return r;
	counters = find_counters(meter->cpu, fd);
	filtered = is_filtered(fd);
	device = shared_fds_new(&fd, 1, package->generation + 1);
	(void)TAKE_FD(fd);
	if (!device)
		return -ENOMEM;
	pthread_mutex_lock(&meter->lock);
	package->generation++;
	package->device = device;
	package->unit_value = unit_value;
	meter->is_filtered |= filtered;
	for (size_t i = 0; i < meter->cpu->register_count; i++) {
		if (counters & 1U << i)
			add_zone(meter, package, &meter->cpu->registers[i], NULL);
	}
	pthread_mutex_unlock(&meter->lock);
	return 0;
}

/* Rescans are never two at a time. */
static int take_place(struct meter *meter, const struct cpu_place *place, unsigned cpu)
{
	struct package *package = meter->packages;
	bool is_open;

	while (package < meter->packages + meter->package_count &&
	       (package->place.package != place->package || package->place.die != place->die))
		package++;
	if (package == meter->packages + meter->package_count) {
		if (meter->package_count == PACKAGES_MAX)
			return 0;
		package->place = *place;
		meter->package_count++;
	}
	pthread_mutex_lock(&meter->lock);
	is_open = package->device != NULL;
	pthread_mutex_unlock(&meter->lock);
	return is_open ? 0 : open_package(meter, package, cpu);
}

/* ---- cores ---- */

static bool any_counts(const struct shared_fds *cores, uint32_t msr)
{
	uint64_t value = 0;

	for (size_t i = 0; i < cores->count; i++) {
		if (rapl_register_read(cores->fds[i], msr, &value) == 0 && (value & UINT32_MAX))
			return true;
	}
	return false;
}

/* All of @cpus, or none. */
static int open_cores(const struct meter *meter, const unsigned *cpus, size_t count,
		      uint32_t generation, struct shared_fds **ret)
{
	CLEANUP_FREE int *fds = calloc(count, sizeof(*fds));
	struct shared_fds *cores;
	size_t opened = 0;
	int fd = 0;

	if (!fds)
		return -ENOMEM;
	while (opened < count && (fd = open_device(meter, cpus[opened])) >= 0)
		fds[opened++] = fd;
	cores = shared_fds_new(fds, opened, generation);
	if (fd < 0 || !cores) {
		shared_fds_unref(cores);
		return fd < 0 ? fd == -ENXIO ? -ENODEV : fd : -ENOMEM;
	}
	*ret = cores;
	return 0;
}

/* @cpus is taken over: from now on the cores of the package are read on these. */
static void adopt_cores(struct meter *meter, struct package *package, struct shared_fds *cores,
			unsigned *cpus)
{
	const struct rapl_register counter = { ZONE_CORE, meter->cpu->core_msr };
	struct rapl_core_sum *sum = any_counts(cores, counter.msr) ? calloc(1, sizeof(*sum)) : NULL;
	struct shared_fds *old;

	pthread_mutex_lock(&meter->lock);
	old = package->cores;
	package->cores = cores;
	package->cores_generation = cores->generation;
	if (sum)
		add_zone(meter, package, &counter, sum);
	pthread_mutex_unlock(&meter->lock);
	shared_fds_unref(old);
	free(package->core_cpus);
	package->core_cpus = cpus;
	package->core_count = cores->count;
}

/* Opens the cores of @package that were found, unless these are open. */
static int take_cores(struct meter *meter, struct package *package, const struct found *found)
{
	CLEANUP_FREE unsigned *cpus = calloc(found->core_count + 1, sizeof(*cpus));
	struct shared_fds *cores = NULL;
	size_t count = 0;
	bool is_open;
	int r;

	if (!cpus)
		return -ENOMEM;
	for (size_t i = 0; i < found->core_count; i++) {
		if (found->core_packages[i] == package->place.package)
			cpus[count++] = found->core_cpus[i];
	}
	pthread_mutex_lock(&meter->lock);
	is_open = package->cores != NULL;
	pthread_mutex_unlock(&meter->lock);
	if (!count || (is_open && count == package->core_count &&
		       memcmp(cpus, package->core_cpus, count * sizeof(*cpus)) == 0))
		return 0;
	r = open_cores(meter, cpus, count, package->cores_generation + 1, &cores);
	if (r == 0)
		adopt_cores(meter, package, cores, TAKE_PTR(cpus));
	return r;
}

/* ---- a search ---- */

static void note(struct meter *meter, size_t beyond, int error)
{
	const char *why = error == -ENOENT ? "; is the module msr loaded (modprobe msr)?" : "";

	if (error == -EACCES || error == -EPERM)
		why = "; CAP_SYS_RAWIO and CAP_DAC_READ_SEARCH are needed";
	pthread_mutex_lock(&meter->lock);
	meter->ignored = beyond;
	meter->why_not[0] = '\0';
	if (!meter->cpu)
		(void)snprintf(meter->why_not, sizeof(meter->why_not),
			       "the energy units of this processor (%s) are unknown; rapl-msr "
			       "reads nothing",
			       meter->cpu_text);
	else if (error < 0)
		(void)snprintf(meter->why_not, sizeof(meter->why_not),
			       "energy registers cannot be read in %.100s: %s%s", meter->devices,
			       strerrordesc_np(-error), why);
	pthread_mutex_unlock(&meter->lock);
}

static int msr_rescan(struct meter *meter)
{
	CLEANUP(found_release) struct found found = { .meter = meter };
	int worst = 0;

	if (meter->cpu)
		topology_visit(meter->sysfs, take_cpu, &found);
	if (found.no_memory)
		return -ENOMEM;
	learn_dies(meter, &found);
	for (size_t i = 0; i < found.count; i++) {
		int r = take_place(meter, &found.places[i], found.cpus[i]);

		/* A CPU that has just gone offline: its package is searched for. */
		worst = r < 0 && r != -ENODEV ? r : worst;
	}
	for (size_t i = 0; i < meter->package_count && meter->wants_cores; i++) {
		bool has_unit = meter->packages[i].generation > 0;
		int r = has_unit ? take_cores(meter, &meter->packages[i], &found) : 0;

		worst = r < 0 && r != -ENODEV ? r : worst;
	}
	note(meter, found.beyond, worst);
	return worst == -ENOENT ? 0 : worst;
}

/* ---- the rest ---- */

static size_t msr_zone_count(struct meter *meter)
{
	size_t count;

	pthread_mutex_lock(&meter->lock);
	count = meter->count;
	pthread_mutex_unlock(&meter->lock);
	return count;
}

static const struct zone *msr_zone_at(struct meter *meter, size_t index)
{
	return &meter->zones[index].zone;
}

static size_t msr_ignored(struct meter *meter)
{
	size_t ignored;

	pthread_mutex_lock(&meter->lock);
	ignored = meter->ignored;
	pthread_mutex_unlock(&meter->lock);
	return ignored;
}

static bool msr_remark(struct meter *meter, size_t index, struct meter_remark *ret)
{
	struct meter_remark remark = { .is_failure = true };
	bool has_one = true;

	pthread_mutex_lock(&meter->lock);
	memcpy(remark.what, meter->why_not, sizeof(remark.what));
	index += !remark.what[0];
	if (index == 1 && meter->is_filtered)
		remark = (struct meter_remark){
			"the processor filters its energy counters (ENERGY_FILTERING_ENABLE, set "
			"by its firmware, for one with SGX): energy is right in sum, and blurred "
			"within some milliseconds",
			"", false
		};
	else
		has_one = index == 0;
	pthread_mutex_unlock(&meter->lock);
	if (has_one)
		*ret = remark;
	return has_one;
}

static void msr_close(struct meter *meter)
{
	if (!meter)
		return;
	for (size_t i = 0; i < meter->package_count; i++) {
		shared_fds_unref(meter->packages[i].device);
		shared_fds_unref(meter->packages[i].cores);
		free(meter->packages[i].core_cpus);
	}
	for (size_t i = 0; i < meter->count; i++) {
		if (meter->zones[i].sum)
			rapl_core_sum_release(meter->zones[i].sum);
		free(meter->zones[i].sum);
	}
	(void)pthread_mutex_destroy(&meter->lock);
	free(meter->sysfs);
	free(meter->devices);
	free(meter);
}

static bool msr_is_wanted(const struct meter_options *options)
{
	(void)options;
	return false;
}

static int msr_open(const struct meter_options *options, struct meter **ret)
{
	const char *vendor = options->cpu_vendor ? options->cpu_vendor : "";
	struct meter *meter = calloc(1, sizeof(*meter));

	if (!meter)
		return -ENOMEM;
	(void)pthread_mutex_init(&meter->lock, NULL); /* cannot fail with default attributes */
	meter->is_virtual = options->rapl_is_virtual;
	meter->cpu = rapl_cpu_find(vendor, options->cpu_family, options->cpu_model);
	meter->wants_cores = options->rapl_msr.cores && meter->cpu && meter->cpu->core_msr;
	(void)snprintf(meter->cpu_text, sizeof(meter->cpu_text), "%.32s, family %u, model %u",
		       vendor, options->cpu_family, options->cpu_model);
	meter->sysfs = strdup(options->sysfs);
	meter->devices =
		strdup(options->rapl_msr.devices ? options->rapl_msr.devices : MSR_DEVICES);
	if (!meter->sysfs || !meter->devices) {
		msr_close(meter);
		return -ENOMEM;
	}
	*ret = meter;
	return 0;
}

static void msr_files(const struct meter_options *options, meter_path_fn *add, void *userdata)
{
	add(userdata, options->rapl_msr.devices);
}

static const struct option rows[] = {
	{ "meter.msr-devices", NULL, OPTION_STRING, OPTION_MEMBER(struct rapl_msr_options, devices),
	  .default_text = MSR_DEVICES, .metavar = "DIR",
	  .help = "Directory of the MSR devices (N/msr) for the meter rapl-msr, which is read only "
		  "if meters names it." },
	{ "meter.msr-cores", NULL, OPTION_BOOL, OPTION_MEMBER(struct rapl_msr_options, cores),
	  .default_text = "false",
	  .help = "On AMD, let rapl-msr also read the energy of each core (zone core). This reads "
		  "a register on each core in each interval and wakes sleeping cores." },
};

const struct meter_ops rapl_msr_meter = {
	.name = "rapl-msr",
	.is_wanted = msr_is_wanted,
	.options = METER_OPTIONS(rows, rapl_msr),
	.needs = NEED_MSR,
	.devices = { { .unit = "char-cpu/msr r" } },
	.files = msr_files,
	.open = msr_open,
	.zone_count = msr_zone_count,
	.zone_at = msr_zone_at,
	.ignored = msr_ignored,
	.remark = msr_remark,
	.read_raw = msr_read_raw,
	.rescan = msr_rescan,
	.close = msr_close,
};

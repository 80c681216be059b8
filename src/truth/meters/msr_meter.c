// SPDX-License-Identifier: Apache-2.0
#include "truth/meters/msr_meter.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "truth/meter_list.h"
#include "truth/meters/rapl_registers.h"
#include "truth/timed_meter.h"

#define CPUINFO_MAX (64 << 10) /* the first processor is enough */
#define PLACES_MAX  128
#define COUNTER_MAX UINT32_MAX

/* A package, or a die of it, and the CPU that it is read on. */
struct place {
	uint64_t package, die;
	unsigned cpu;
};

struct places {
	struct place items[PLACES_MAX];
	size_t count;
};

static void cleanup_dir(DIR **dir)
{
	if (*dir)
		(void)closedir(*dir);
}

static bool read_number(const char *folder, const char *name, uint64_t *ret)
{
	char path[TRUTH_PATH_MAX], text[32];

	if (path_join(path, sizeof(path), folder, name) < 0)
		return false;
	ssize_t len = read_file_nowait_at(AT_FDCWD, path, text, sizeof(text));
	return len > 0 && parse_u64(text, (size_t)len, ret) == 0;
}

static void take_cpu(const char *folder, unsigned cpu, bool is_by_die, struct places *places)
{
	struct place place = { .cpu = cpu };

	/* Without a topology it is offline. */
	if (!read_number(folder, "topology/physical_package_id", &place.package))
		return;
	if (is_by_die)
		(void)read_number(folder, "topology/die_id", &place.die); /* before Linux 5.3: 0 */
	for (size_t i = 0; i < places->count; i++) {
		struct place *known = &places->items[i];

		if (known->package == place.package && known->die == place.die) {
			known->cpu = cpu < known->cpu ? cpu : known->cpu;
			return;
		}
	}
	if (places->count < PLACES_MAX)
		places->items[places->count++] = place;
}

static void find_places(const char *sysfs, bool is_by_die, struct places *ret)
{
	char dir[TRUTH_PATH_MAX], folder[TRUTH_PATH_MAX];
	uint64_t cpu;

	ret->count = 0;
	if (path_join(dir, sizeof(dir), sysfs, "devices/system/cpu") < 0)
		return;
	CLEANUP(cleanup_dir) DIR *cpus = opendir(dir);
	for (struct dirent *entry; cpus && (entry = readdir(cpus));) {
		const char *number = entry->d_name + 3;

		if (strncmp(entry->d_name, "cpu", 3) == 0 &&
		    parse_u64(number, strlen(number), &cpu) == 0 && cpu <= UINT16_MAX &&
		    path_join(folder, sizeof(folder), dir, entry->d_name) == 0)
			take_cpu(folder, (unsigned)cpu, is_by_die, ret);
	}
}

/* The registers of a machine, and the CPUs that they are read on. */
struct machine {
	struct rapl_processor processor;
	struct truth_registers registers;
	struct places places;
};

/* A timed_call_fn: the options of the truth as @state, a struct machine as @ret. */
static ssize_t find_machine(void *state, void *ret)
{
	const struct truth_options *options = state;
	struct machine *machine = ret;
	CLEANUP_FREE char *cpuinfo = calloc(1, CPUINFO_MAX);
	char path[TRUTH_PATH_MAX];

	if (!cpuinfo || path_join(path, sizeof(path), options->procfs, "cpuinfo") < 0)
		return -ENOMEM;
	/* A longer file is cut. */
	ssize_t len = read_file_nowait_at(AT_FDCWD, path, cpuinfo, CPUINFO_MAX);
	if (len < 0 && len != -EFBIG)
		return len;
	memset(machine, 0, sizeof(*machine));
	if (!truth_processor_parse(cpuinfo, &machine->processor) ||
	    !truth_registers_find(&machine->processor, &machine->registers))
		return -ENODEV;
	find_places(options->sysfs, machine->registers.is_by_die, &machine->places);
	return sizeof(*machine);
}

struct source {
	char device[TRUTH_PATH_MAX];
	uint32_t address;
	int fd;
};

/* A timed_call_fn: a struct source as @state, the register's value as @ret. */
static ssize_t read_register(void *state, void *ret)
{
	struct source *source = state;

	if (source->fd < 0)
		source->fd = open(source->device, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t len =
		source->fd < 0 ? -1 : pread(source->fd, ret, sizeof(uint64_t), source->address);
	return len < 0 ? -errno : len;
}

static int read_counter(struct truth_meter *meter, double now_s, struct truth_value *ret,
			struct diag *diag)
{
	int r = timed_meter_read(meter, &ret->raw, sizeof(ret->raw), diag);

	(void)now_s;
	ret->raw &= COUNTER_MAX;
	return r;
}

/* Registers of a device that does not answer are all left out. */
static void add_registers(const struct machine *machine, const char *device, struct truth *truth)
{
	const struct truth_registers *registers = &machine->registers;
	struct source source = { .address = registers->unit_address, .fd = -1 };
	char path[TRUTH_PATH_MAX + 32];
	uint64_t unit, value;

	(void)snprintf(source.device, sizeof(source.device), "%s", device);
	struct timed_call *call =
		timed_meter_try(read_register, &source, &unit, sizeof(unit), device, truth);
	if (!call)
		return;
	timed_call_free(call);
	for (size_t i = 0; i < registers->count; i++) {
		const struct truth_register *counter = &registers->items[i];
		const struct truth_meter like = {
			.read = read_counter,
			.unit = truth_register_unit(&machine->processor, counter->kind, unit),
			.range = COUNTER_MAX,
		};

		source.address = counter->address;
		(void)snprintf(path, sizeof(path), "%s:0x%x", device, counter->address);
		call = timed_meter_try(read_register, &source, &value, sizeof(value), path, truth);
		if (call && (value & COUNTER_MAX))
			timed_meter_add(truth, counter->kind, path, &like, call);
		else
			timed_call_free(call);
	}
}

void truth_search_msr(const struct truth_options *options, struct truth *truth)
{
	struct truth_options copy = *options;
	struct machine machine;
	char path[TRUTH_PATH_MAX];
	ssize_t len = timed_call_once(find_machine, &copy, &machine, sizeof(machine));

	if (len != (ssize_t)sizeof(machine)) {
		if (len == -ETIMEDOUT)
			truth_search_failed(truth, options->sysfs, (int)len);
		return;
	}
	for (size_t i = 0; i < machine.places.count; i++) {
		int n = snprintf(path, sizeof(path), "%s/cpu/%u/msr", options->devices,
				 machine.places.items[i].cpu);

		if (n > 0 && (size_t)n < sizeof(path))
			add_registers(&machine, path, truth);
	}
}

int truth_msr_read(const char *device, uint32_t address, uint64_t *ret)
{
	struct source source = { .address = address, .fd = -1 };

	(void)snprintf(source.device, sizeof(source.device), "%s", device);
	ssize_t len = timed_call_once(read_register, &source, ret, sizeof(*ret));
	return len == (ssize_t)sizeof(*ret) ? 0 : len < 0 ? (int)len : -EIO;
}

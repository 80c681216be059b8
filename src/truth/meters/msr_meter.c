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

static int read_register(int fd, uint32_t address, uint64_t *ret)
{
	ssize_t len = pread(fd, ret, sizeof(*ret), address);

	return len == (ssize_t)sizeof(*ret) ? 0 : len < 0 ? -errno : -EIO;
}

static int read_counter(struct truth_meter *meter, double now_s, struct truth_value *ret,
			struct diag *diag)
{
	int r = read_register(meter->fd, meter->address, &ret->raw);

	(void)now_s;
	ret->raw &= COUNTER_MAX;
	return r < 0 ? diag_set(diag, r, "%s: it cannot be read: %s", meter->path, strerror(-r))
		     : 0;
}

static void add_registers(const struct rapl_processor *processor,
			  const struct truth_registers *registers, int fd, const char *device,
			  struct truth *truth)
{
	char path[TRUTH_PATH_MAX + 32];
	uint64_t unit, value;

	if (read_register(fd, registers->unit_address, &unit) < 0)
		return;
	for (size_t i = 0; i < registers->count; i++) {
		const struct truth_register *counter = &registers->items[i];

		if (read_register(fd, counter->address, &value) < 0 || !(value & COUNTER_MAX))
			continue;
		const struct truth_meter like = {
			.read = read_counter,
			.unit = truth_register_unit(processor, counter->kind, unit),
			.range = COUNTER_MAX,
			.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0),
			.address = counter->address,
		};
		(void)snprintf(path, sizeof(path), "%s:0x%x", device, counter->address);
		if (like.fd >= 0)
			truth_add_meter(truth, counter->kind, path, &like);
	}
}

void truth_search_msr(const struct truth_options *options, struct truth *truth)
{
	CLEANUP_FREE char *cpuinfo = calloc(1, CPUINFO_MAX);
	char path[TRUTH_PATH_MAX];
	struct rapl_processor processor;
	struct truth_registers registers;
	struct places places;

	if (!cpuinfo || path_join(path, sizeof(path), options->procfs, "cpuinfo") < 0)
		return;
	/* A longer file is cut. */
	ssize_t len = read_file_nowait_at(AT_FDCWD, path, cpuinfo, CPUINFO_MAX);
	if ((len < 0 && len != -EFBIG) || !truth_processor_parse(cpuinfo, &processor) ||
	    !truth_registers_find(&processor, &registers))
		return;
	find_places(options->sysfs, registers.is_by_die, &places);
	for (size_t i = 0; i < places.count; i++) {
		int n = snprintf(path, sizeof(path), "%s/cpu/%u/msr", options->devices,
				 places.items[i].cpu);
		CLEANUP_FD int fd = n > 0 && (size_t)n < sizeof(path)
					    ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
					    : -1;

		if (fd >= 0)
			add_registers(&processor, &registers, fd, path, truth);
	}
}

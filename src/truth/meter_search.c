// SPDX-License-Identifier: Apache-2.0
#include "truth/meter_search.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"

#define UNIT_MICRO 1e-6

static void cleanup_dir(DIR **dir)
{
	if (*dir)
		(void)closedir(*dir);
}

/* A short file's text without its newline; false: it cannot be read, or is too long. */
static bool read_text(const char *dir, const char *name, char *buf, size_t size)
{
	char path[TRUTH_PATH_MAX];

	if (path_join(path, sizeof(path), dir, name) < 0)
		return false;
	ssize_t len = read_file_at(AT_FDCWD, path, buf, size);
	if (len < 0)
		return false;
	buf[strcspn(buf, "\n")] = '\0';
	return true;
}

static void add_meter(struct truth *truth, const char *kind, const char *dir, const char *name,
		      const struct truth_meter *like)
{
	if (truth->meter_count == TRUTH_METERS_MAX)
		return;
	struct truth_meter *meter = &truth->meters[truth->meter_count];

	*meter = *like;
	(void)snprintf(meter->kind, sizeof(meter->kind), "%.*s", TRUTH_KIND_MAX - 1, kind);
	if (path_join(meter->path, sizeof(meter->path), dir, name) == 0)
		truth->meter_count++;
}

/* A zone of powercap, "intel-rapl:0" or "intel-rapl:0:1". */
static void add_powercap_zone(struct truth *truth, const char *dir)
{
	struct truth_meter like = { .unit = UNIT_MICRO };
	char name[TRUTH_KIND_MAX], range[32];

	if (!read_text(dir, "name", name, sizeof(name)))
		return;
	if (strncmp(name, "package-", 8) == 0)
		name[7] = '\0';
	if (read_text(dir, "max_energy_range_uj", range, sizeof(range)) &&
	    parse_u64(range, strlen(range), &like.range) < 0)
		like.range = 0;
	add_meter(truth, name, dir, "energy_uj", &like);
}

void search_rapl_sysfs(const char *sysfs, struct truth *truth)
{
	char dir[TRUTH_PATH_MAX], zone[TRUTH_PATH_MAX];

	if (path_join(dir, sizeof(dir), sysfs, "class/powercap") < 0)
		return;
	CLEANUP(cleanup_dir) DIR *folder = opendir(dir);
	for (struct dirent *entry; folder && (entry = readdir(folder));)
		if (strncmp(entry->d_name, "intel-rapl:", 11) == 0 &&
		    path_join(zone, sizeof(zone), dir, entry->d_name) == 0)
			add_powercap_zone(truth, zone);
}

/* The platform's power, of which a device has one file: the mean if there is one. */
static void add_hwmon_device(struct truth *truth, const char *dir)
{
	static const char *const powers[] = { "power1_average", "power1_input" };
	const struct truth_meter power = { .unit = UNIT_MICRO, .is_power = true };
	const struct truth_meter energy = { .unit = UNIT_MICRO };
	char text[32];

	if (read_text(dir, "energy1_input", text, sizeof(text))) {
		add_meter(truth, "platform", dir, "energy1_input", &energy);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(powers); i++)
		if (read_text(dir, powers[i], text, sizeof(text))) {
			add_meter(truth, "platform", dir, powers[i], &power);
			return;
		}
}

static bool is_gpu(const char *device)
{
	static const char *const names[] = { "amdgpu", "radeon", "nouveau", "i915", "xe" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(device, names[i]) == 0)
			return true;
	return false;
}

void search_hwmon(const char *sysfs, bool acpi, struct truth *truth)
{
	char dir[TRUTH_PATH_MAX], device[TRUTH_PATH_MAX], name[64];

	if (path_join(dir, sizeof(dir), sysfs, "class/hwmon") < 0)
		return;
	CLEANUP(cleanup_dir) DIR *folder = opendir(dir);
	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		if (strncmp(entry->d_name, "hwmon", 5) != 0 ||
		    path_join(device, sizeof(device), dir, entry->d_name) < 0 ||
		    !read_text(device, "name", name, sizeof(name)))
			continue;
		if ((strcmp(name, "power_meter") == 0) == acpi && !is_gpu(name))
			add_hwmon_device(truth, device);
	}
}

void search_file(const char *path, struct truth *truth)
{
	struct truth_meter *meter = &truth->meters[0];
	char text[64];

	*meter = (struct truth_meter){ .kind = "platform", .unit = 1, .is_power = true };
	if (strlen(path) < sizeof(meter->path) &&
	    read_file_at(AT_FDCWD, path, text, sizeof(text)) > 0) {
		memcpy(meter->path, path, strlen(path) + 1);
		truth->meter_count = 1;
	}
}

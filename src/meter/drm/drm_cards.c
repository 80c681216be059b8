// SPDX-License-Identifier: Apache-2.0
#include "meter/drm/drm_cards.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"

/*
 * The files of each driver; the first one that exists is read. Source: kernel,
 * Documentation/gpu/amdgpu/thermal.rst and
 * Documentation/ABI/testing/sysfs-driver-intel-{i915,xe}-hwmon. The first counter of xe is the
 * board's, the second its package's, which some boards have alone.
 */
static const struct drm_sensor sensors[] = {
	{ "amdgpu", "power1_average", SAMPLE_POWER }, { "amdgpu", "power1_input", SAMPLE_POWER },
	{ "i915", "energy1_input", SAMPLE_TOTAL },    { "xe", "energy1_input", SAMPLE_TOTAL },
	{ "xe", "energy2_input", SAMPLE_TOTAL },
};

const char *drm_address(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool drm_is_node(const char *name, const char *prefix, uint32_t *ret_minor)
{
	size_t len = strlen(prefix);
	uint64_t minor;

	if (strncmp(name, prefix, len) != 0 ||
	    parse_u64(name + len, strlen(name + len), &minor) < 0 || minor > UINT32_MAX)
		return false;
	*ret_minor = (uint32_t)minor;
	return true;
}

bool drm_is_card(const char *name)
{
	uint32_t minor;

	return drm_is_node(name, "card", &minor);
}

bool drm_find_device(const char *class_path, const char *card, char ret_path[PATH_MAX],
		     char *ret_driver, size_t driver_size)
{
	char link[PATH_MAX], target[PATH_MAX];

	if ((size_t)snprintf(link, sizeof(link), "%s/%s/device", class_path, card) >=
		    sizeof(link) ||
	    !realpath(link, ret_path) || path_join(link, sizeof(link), ret_path, "driver") < 0 ||
	    !realpath(link, target))
		return false;
	(void)snprintf(ret_driver, driver_size, "%.*s", (int)driver_size - 1, drm_address(target));
	return true;
}

bool drm_knows_driver(const char *driver)
{
	for (size_t i = 0; i < ARRAY_SIZE(sensors); i++) {
		if (strcmp(sensors[i].driver, driver) == 0)
			return true;
	}
	return false;
}

/*
 * amdgpu shows no limit of power (power1_cap) for an APU, except for Van Gogh, where it labels the
 * limit "slowPPT".
 */
static bool is_apu(int hwmon_fd)
{
	char label[32];
	ssize_t len = read_file_at(hwmon_fd, "power1_label", label, sizeof(label));

	return faccessat(hwmon_fd, "power1_cap", F_OK, 0) < 0 ||
	       (len > 0 && strncmp(label, "slowPPT", strlen("slowPPT")) == 0);
}

static const struct drm_sensor *choose_sensor(int hwmon_fd, const char *driver)
{
	if (strcmp(driver, "amdgpu") == 0 && is_apu(hwmon_fd))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(sensors); i++) {
		if (strcmp(sensors[i].driver, driver) == 0 &&
		    faccessat(hwmon_fd, sensors[i].file, F_OK, 0) == 0)
			return &sensors[i];
	}
	return NULL;
}

char *drm_find_hwmon(const char *device_path, const char *driver,
		     const struct drm_sensor **ret_sensor)
{
	char path[PATH_MAX], inner[PATH_MAX];
	const struct dirent *entry;
	const struct drm_sensor *sensor = NULL;
	DIR *dir = path_join(path, sizeof(path), device_path, "hwmon") == 0 ? opendir(path) : NULL;

	while (dir && !sensor && (entry = readdir(dir))) {
		CLEANUP_FD int fd = -1;

		if (entry->d_name[0] == '.' ||
		    path_join(inner, sizeof(inner), path, entry->d_name) < 0)
			continue;
		fd = open(inner, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		sensor = fd < 0 ? NULL : choose_sensor(fd, driver);
	}
	if (dir)
		(void)closedir(dir);
	if (!sensor)
		return NULL;
	*ret_sensor = sensor;
	return strdup(inner);
}

bool drm_has_card(const char *sysfs, bool needs_sensor)
{
	char class_path[PATH_MAX], device_path[PATH_MAX], driver[32];
	const struct drm_sensor *sensor;
	const struct dirent *entry;
	bool has_one = false;
	DIR *dir;

	if (path_join(class_path, sizeof(class_path), sysfs, "class/drm") < 0)
		return false;
	dir = opendir(class_path);
	while (dir && !has_one && (entry = readdir(dir))) {
		CLEANUP_FREE char *hwmon_path = NULL;

		if (!drm_is_card(entry->d_name) ||
		    !drm_find_device(class_path, entry->d_name, device_path, driver,
				     sizeof(driver)) ||
		    !drm_knows_driver(driver))
			continue;
		if (needs_sensor)
			hwmon_path = drm_find_hwmon(device_path, driver, &sensor);
		has_one = !needs_sensor || hwmon_path;
	}
	if (dir)
		(void)closedir(dir);
	return has_one;
}

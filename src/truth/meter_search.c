// SPDX-License-Identifier: Apache-2.0
#include "truth/meter_search.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "base/timed_call.h"
#include "truth/meter_list.h"
#include "truth/timed_file.h"

#define UNIT_MICRO     1e-6
#define FILE_AGE_MAX_S 60

/* A short file's text without its newline; false: it cannot be read, or is too long. */
static bool read_text(struct truth *truth, const char *dir, const char *name, char *buf,
		      size_t size)
{
	char path[TRUTH_PATH_MAX];

	if (path_join(path, sizeof(path), dir, name) < 0)
		return false;
	ssize_t len = timed_file_read_once(path, buf, size);
	if (len == -ETIMEDOUT)
		truth_search_failed(truth, path, (int)len);
	if (len < 0)
		return false;
	buf[strcspn(buf, "\n")] = '\0';
	return true;
}

static int read_number(struct truth_meter *meter, double now_s, struct truth_value *ret,
		       struct diag *diag)
{
	char text[64];
	ssize_t len = timed_file_read(meter->state, text, sizeof(text));

	(void)now_s;
	if (len < 0)
		return diag_set(diag, (int)len, "%s: it cannot be read: %s", meter->path,
				timed_call_error((int)len));
	if (!meter->is_power && parse_u64(text, (size_t)len, &ret->raw) == 0)
		return 0;
	text[strcspn(text, "\n")] = '\0';
	if (meter->is_power && parse_double(text, &ret->power) == 0)
		return 0;
	return diag_set(diag, -EBADMSG, "%s: it contains no number", meter->path);
}

/* A file that another program keeps up to date: the number is true as long as that program runs. */
static int read_kept_file(struct truth_meter *meter, double now_s, struct truth_value *ret,
			  struct diag *diag)
{
	int r = read_number(meter, now_s, ret, diag);
	double age_s = difftime(time(NULL), timed_file_changed(meter->state));

	if (r == 0 && age_s > FILE_AGE_MAX_S)
		return diag_set(diag, -ESTALE, "%s: it has not been written for %.0f s",
				meter->path, age_s);
	return r;
}

static void release_file(void *state)
{
	timed_file_free(state);
}

static void add_file(struct truth *truth, const char *kind, const char *path,
		     const struct truth_meter *like)
{
	struct truth_meter meter = *like;
	struct timed_file *file = NULL;

	if (timed_file_new(path, &file) < 0) {
		truth->left_out++;
		return;
	}
	meter.state = file;
	meter.release = release_file;
	truth_add_meter(truth, kind, path, &meter);
}

static void add_meter(struct truth *truth, const char *kind, const char *dir, const char *name,
		      const struct truth_meter *like)
{
	struct truth_meter meter = *like;
	char path[TRUTH_PATH_MAX];

	meter.read = read_number;
	if (path_join(path, sizeof(path), dir, name) == 0)
		add_file(truth, kind, path, &meter);
}

/* A zone of powercap, "intel-rapl:0" or "intel-rapl:0:1". */
static void add_powercap_zone(struct truth *truth, const char *dir)
{
	struct truth_meter like = { .unit = UNIT_MICRO };
	char name[TRUTH_KIND_MAX], range[32];

	if (!read_text(truth, dir, "name", name, sizeof(name)))
		return;
	/* "package-1", "package-0-die-1", and "psys-1" where each socket has a platform. */
	name[strcspn(name, "-")] = '\0';
	if (read_text(truth, dir, "max_energy_range_uj", range, sizeof(range)) &&
	    parse_u64(range, strlen(range), &like.range) < 0)
		like.range = 0;
	add_meter(truth, name, dir, "energy_uj", &like);
}

/* The names in a folder of @sysfs, none if it cannot be read, and its path. */
static void list_folder(struct truth *truth, const char *sysfs, const char *folder,
			char ret_path[static TRUTH_PATH_MAX], struct timed_names *ret)
{
	if (path_join(ret_path, TRUTH_PATH_MAX, sysfs, folder) < 0)
		return;
	int r = timed_folder_read(ret_path, ret);
	if (r < 0)
		truth_search_failed(truth, ret_path, r);
}

void search_rapl_sysfs(const char *sysfs, struct truth *truth)
{
	CLEANUP(timed_names_release) struct timed_names names = { 0 };
	char dir[TRUTH_PATH_MAX], zone[TRUTH_PATH_MAX];

	list_folder(truth, sysfs, "class/powercap", dir, &names);
	for (const char *name = NULL; (name = timed_names_next(&names, name));)
		if (strncmp(name, "intel-rapl:", 11) == 0 &&
		    path_join(zone, sizeof(zone), dir, name) == 0)
			add_powercap_zone(truth, zone);
}

/* The power of a device, which has one file: the mean if there is one. */
static void add_hwmon_device(struct truth *truth, const char *kind, const char *dir)
{
	static const char *const powers[] = { "power1_average", "power1_input" };
	const struct truth_meter power = { .unit = UNIT_MICRO, .is_power = true };
	const struct truth_meter energy = { .unit = UNIT_MICRO };
	char text[32];

	if (read_text(truth, dir, "energy1_input", text, sizeof(text))) {
		add_meter(truth, kind, dir, "energy1_input", &energy);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(powers); i++)
		if (read_text(truth, dir, powers[i], text, sizeof(text))) {
			add_meter(truth, kind, dir, powers[i], &power);
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

/* The devices of hwmon that @is_wanted, as meters of @kind. */
static void search_devices(const char *sysfs, const char *kind, bool (*is_wanted)(const char *name),
			   struct truth *truth)
{
	CLEANUP(timed_names_release) struct timed_names names = { 0 };
	char dir[TRUTH_PATH_MAX], device[TRUTH_PATH_MAX], driver[64];

	list_folder(truth, sysfs, "class/hwmon", dir, &names);
	for (const char *name = NULL; (name = timed_names_next(&names, name));)
		if (strncmp(name, "hwmon", 5) == 0 &&
		    path_join(device, sizeof(device), dir, name) == 0 &&
		    read_text(truth, device, "name", driver, sizeof(driver)) && is_wanted(driver))
			add_hwmon_device(truth, kind, device);
}

static bool is_acpi(const char *device)
{
	return strcmp(device, "power_meter") == 0;
}

static bool is_other(const char *device)
{
	return !is_acpi(device) && !is_gpu(device);
}

void search_hwmon(const char *sysfs, bool acpi, struct truth *truth)
{
	search_devices(sysfs, "platform", acpi ? is_acpi : is_other, truth);
}

void search_hwmon_gpus(const char *sysfs, struct truth *truth)
{
	search_devices(sysfs, "gpu", is_gpu, truth);
}

void search_file(const char *path, struct truth *truth)
{
	const struct truth_meter like = { .read = read_kept_file, .unit = 1, .is_power = true };
	char text[64];

	ssize_t len = timed_file_read_once(path, text, sizeof(text));
	if (len < 0)
		truth_search_failed(truth, path, (int)len);
	else if (len > 0)
		add_file(truth, "platform", path, &like);
}

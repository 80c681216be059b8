// SPDX-License-Identifier: Apache-2.0
#include "doctor/sysfs_shape.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "base/offload.h"

#define VALUE_MAX 256

struct pattern {
	const char *path;
	bool is_value; /* it changes with the power that is drawn */
};

/* Links among what these match are shown as links; all of them in their real folders. */
static const struct pattern patterns[] = {
	{ "class/powercap/*", false },
	{ "class/powercap/*/name", false },
	{ "class/powercap/*/enabled", false },
	{ "class/powercap/*/max_energy_range_uj", false },
	{ "class/powercap/*/energy_uj", true },
	{ "class/powercap/*/constraint_*_name", false },
	{ "class/powercap/*/constraint_*_power_limit_uw", false },
	{ "class/powercap/*/*:*/name", false },
	{ "class/powercap/*/*:*/enabled", false },
	{ "class/powercap/*/*:*/max_energy_range_uj", false },
	{ "class/powercap/*/*:*/energy_uj", true },
	{ "class/hwmon/*", false },
	{ "class/hwmon/*/device", false },
	{ "class/hwmon/*/name", false },
	{ "class/hwmon/*/energy*_label", false },
	{ "class/hwmon/*/energy*_input", true },
	{ "class/hwmon/*/power*_label", false },
	{ "class/hwmon/*/power*_input", true },
	{ "class/hwmon/*/power*_average", true },
	{ "class/hwmon/*/power*_average_interval", false },
	{ "class/hwmon/*/power*_accuracy", false },
	{ "class/hwmon/*/power*_is_battery", false },
	{ "class/hwmon/*/in*_label", false },
	{ "class/hwmon/*/in*_input", false },
	{ "class/hwmon/*/curr*_label", false },
	{ "class/hwmon/*/curr*_input", false },
	{ "class/hwmon/*/device/name", false },
	{ "class/hwmon/*/device/power*_label", false },
	{ "class/hwmon/*/device/power*_input", true },
	{ "class/hwmon/*/device/power*_average", true },
	{ "class/hwmon/*/device/power*_average_interval", false },
	{ "class/hwmon/*/device/power*_accuracy", false },
	{ "class/hwmon/*/device/power*_is_battery", false },
	{ "class/drm/card[0-9]", false },
	{ "class/drm/card[0-9]/device", false },
	{ "class/drm/card[0-9]/device/vendor", false },
	{ "class/drm/card[0-9]/device/device", false },
	{ "class/ipmi/*", false },
	{ "cray/pm_counters/*energy", true },
	{ "cray/pm_counters/*power", true },
	{ "cray/pm_counters/*power_cap", false },
	{ "cray/pm_counters/version", false },
	{ "cray/pm_counters/generation", false },
	{ "cray/pm_counters/raw_scan_hz", false },
	{ "bus/event_source/devices/power*", false },
	{ "bus/event_source/devices/power*/type", false },
	{ "bus/event_source/devices/power*/cpumask", false },
	{ "bus/event_source/devices/power*/events/*", false },
	{ "class/dmi/id", false },
	{ "class/dmi/id/sys_vendor", false },
	{ "class/dmi/id/product_name", false },
	{ "class/dmi/id/product_family", false },
	{ "class/dmi/id/board_vendor", false },
	{ "class/dmi/id/board_name", false },
	{ "class/dmi/id/bios_vendor", false },
	{ "class/dmi/id/bios_version", false },
	{ "class/dmi/id/bios_date", false },
	{ "class/dmi/id/chassis_type", false },
	{ "devices/system/cpu/online", false },
	{ "devices/system/cpu/possible", false },
	{ "devices/system/cpu/cpu[0-9]*/topology/physical_package_id", false },
	{ "devices/system/cpu/cpu[0-9]*/topology/die_id", false },
	{ "devices/system/cpu/cpu[0-9]*/topology/core_id", false },
	{ "devices/system/cpu/cpu0/acpi_cppc/nominal_freq", false },
	{ "devices/system/cpu/cpufreq/policy*/scaling_driver", false },
	{ "devices/system/cpu/cpufreq/policy*/scaling_governor", false },
	{ "devices/system/cpu/cpufreq/policy*/base_frequency", false },
	{ "devices/system/cpu/cpufreq/policy*/cpuinfo_min_freq", false },
	{ "devices/system/cpu/cpufreq/policy*/cpuinfo_max_freq", false },
	{ "devices/system/node/node*/cpulist", false },
};

/* Paths below the root, of files and links. */
struct listing {
	char root[PATH_MAX];
	size_t root_len;
	char *paths[SYSFS_SHAPE_FILES_MAX];
	size_t count, left_out;
};

struct shape_job {
	struct offload_job job;
	enum sysfs_shape_part part;
	struct listing listing;
	struct strbuf text;
};

static void add_path(struct listing *listing, const char *path)
{
	char *copy = NULL;

	if (strncmp(path, listing->root, listing->root_len) != 0 || path[listing->root_len] != '/')
		return;
	if (listing->count < SYSFS_SHAPE_FILES_MAX)
		copy = strdup(path + listing->root_len + 1);
	if (copy)
		listing->paths[listing->count++] = copy;
	else
		listing->left_out++;
}

/* A link by its own name in the real folder. */
static void add_match(struct listing *listing, const char *path)
{
	const char *slash = strrchr(path, '/');
	CLEANUP_FREE char *folder = strndup(path, (size_t)(slash - path));
	char real[PATH_MAX], full[PATH_MAX];
	struct stat st;

	if (!folder || lstat(path, &st) < 0 || !(S_ISLNK(st.st_mode) || S_ISREG(st.st_mode)))
		return;
	if (realpath(folder, real) && path_join(full, sizeof(full), real, slash + 1) == 0)
		add_path(listing, full);
}

/* The root's own characters are no pattern. */
static bool add_root(const char *root, struct strbuf *out)
{
	for (; *root; root++) {
		if (strchr("\\*?[", *root))
			strbuf_add_char(out, '\\');
		strbuf_add_char(out, *root);
	}
	return strbuf_error(out) == 0;
}

static void list(struct listing *listing, enum sysfs_shape_part part)
{
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		CLEANUP(strbuf_release) struct strbuf pattern = STRBUF_INIT;
		glob_t found;

		if (part == SYSFS_SHAPE_VALUES && !patterns[i].is_value)
			continue;
		if (!add_root(listing->root, &pattern))
			return;
		strbuf_addf(&pattern, "/%s", patterns[i].path);
		if (strbuf_error(&pattern) == 0 && glob(pattern.data, 0, NULL, &found) == 0) {
			for (size_t p = 0; p < found.gl_pathc; p++)
				add_match(listing, found.gl_pathv[p]);
			globfree(&found);
		}
	}
}

static void add_link(int root, const char *path, struct strbuf *out)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(root, path, target, sizeof(target));

	if (len > 0 && (size_t)len < sizeof(target))
		strbuf_addf(out, "%s -> %.*s\n", path, (int)len, target);
}

static void add_file(int root, const char *path, struct strbuf *out)
{
	char value[VALUE_MAX];
	ssize_t len = read_file_nowait_at(root, path, value, sizeof(value));

	if (len < 0) {
		strbuf_addf(out, "%s ! %s\n", path, strerrordesc_np((int)-len));
		return;
	}
	while (len && (value[len - 1] == '\n' || value[len - 1] == ' '))
		len--;
	for (ssize_t i = 0; i < len; i++) {
		if ((unsigned char)value[i] < ' ' || value[i] == 0x7f)
			value[i] = '?';
	}
	strbuf_addf(out, "%s = %.*s\n", path, (int)len, value);
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void describe(struct listing *listing, struct strbuf *out)
{
	int root = open(listing->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *before = "";

	if (root < 0)
		return;
	qsort(listing->paths, listing->count, sizeof(*listing->paths), compare_paths);
	for (size_t i = 0; i < listing->count; i++) {
		const char *path = listing->paths[i];
		struct stat st;

		if (strcmp(path, before) == 0)
			continue;
		before = path;
		if (fstatat(root, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
			add_link(root, path, out);
		else
			add_file(root, path, out);
	}
	(void)close(root);
	if (listing->left_out)
		strbuf_addf(out, "# %zu further files are left out\n", listing->left_out);
}

static void run(struct offload_job *job)
{
	struct shape_job *shape = (struct shape_job *)job;

	list(&shape->listing, shape->part);
	describe(&shape->listing, &shape->text);
}

static void drop(struct offload_job *job)
{
	struct shape_job *shape = (struct shape_job *)job;

	for (size_t i = 0; i < shape->listing.count; i++)
		free(shape->listing.paths[i]);
	strbuf_release(&shape->text);
	free(shape);
}

static int wait_for(struct offload *offload, struct shape_job *shape, uint64_t limit_ns,
		    struct strbuf *ret)
{
	struct pollfd fd = { .fd = offload_fd(offload), .events = POLLIN };
	int r = offload_submit(offload, &shape->job);

	if (r < 0) {
		drop(&shape->job);
		return r;
	}
	(void)poll(&fd, 1, (int)(limit_ns / NSEC_PER_MSEC));
	if (!offload_take(offload))
		return -ETIMEDOUT; /* offload_free() abandons it */
	r = strbuf_error(&shape->text);
	if (r == 0 && shape->text.len)
		strbuf_add(ret, shape->text.data, shape->text.len);
	drop(&shape->job);
	return r < 0 ? r : strbuf_error(ret);
}

int sysfs_shape_read(const char *sysfs, enum sysfs_shape_part part, uint64_t limit_ns,
		     struct strbuf *ret)
{
	const struct offload_options options = { .max_threads = 1, .max_waiting = 1 };
	struct shape_job *shape = calloc(1, sizeof(*shape));
	struct offload *offload = NULL;
	int r;

	if (!shape)
		return -ENOMEM;
	shape->job = (struct offload_job){ .run = run, .drop = drop };
	shape->part = part;
	r = realpath(sysfs, shape->listing.root) ? offload_new(&options, &offload) : -errno;
	shape->listing.root_len = strlen(shape->listing.root);
	if (r < 0) {
		drop(&shape->job);
		return r;
	}
	r = wait_for(offload, shape, limit_ns, ret);
	offload_free(offload, 0);
	return r;
}

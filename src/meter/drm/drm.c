// SPDX-License-Identifier: Apache-2.0
/*
 * GPUs of AMD and Intel, by the kernel's drivers: a zone is a board, identified by its PCI address,
 * and its energy comes from the sensors of its hwmon. cardN and hwmonN change from boot to boot.
 * Sleeping boards (runtime power management) are not woken for a reading. Polled: a sensor is read
 * through the board's firmware, which may hang.
 *
 * The users of a board are read with it (drm_users.h). Work through AMD's KFD, as ROCm does it, is
 * not in fdinfo: if KFD has processes, the time for which a board was busy beyond the time of the
 * processes found belongs to no known process. The same holds while files are beyond limits; a
 * board that does not report its busy time counts as busy all the time then.
 */
#include "meter/drm/drm.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "meter/drm/drm_cards.h"
#include "meter/drm/drm_users.h"
#include "meter/meter.h"
#include "meter/sysfs_number.h"
#include "service/needs.h"

#define PERIOD_NS  NSEC_PER_SEC
#define BOARDS_MAX DEVICES_DRM

struct board {
	struct zone zone; /* this and the next are fixed */
	const struct drm_sensor *sensor;
	char *hwmon_path; /* NULL while it is gone */
	char *device_path;
	uint32_t generation;
	uint32_t search; /* the last one that found it */
};

struct meter {
	char *class_path, *kfd_path;
	struct drm_users *users; /* NULL: they are not looked for */
	struct board boards[BOARDS_MAX];
	size_t count, beyond;
	uint32_t search; /* number of the last one */
	/*
	 * Protects the results of the last search, for other threads. Everything else belongs to
	 * the poller's thread, except for the fixed members of zones within found.count.
	 */
	pthread_mutex_t lock;
	struct {
		size_t count, beyond;
		struct drm_users_state users;
	} found;
};

static struct board *find_board(struct meter *meter, const char *address)
{
	for (size_t i = 0; i < meter->count; i++) {
		if (strcmp(meter->boards[i].zone.instance, address) == 0)
			return &meter->boards[i];
	}
	return NULL;
}

static void describe(struct meter *meter, struct board *board, const char *address,
		     const char *card, const struct drm_sensor *sensor)
{
	bool is_counter = sensor->kind == SAMPLE_TOTAL;

	board->sensor = sensor;
	board->zone = (struct zone){
		.kind = ZONE_GPU,
		.domain = { DOMAIN_DEVICE, DEVICES_NVML + (uint32_t)(board - meter->boards) },
		.source = drm_meter.name,
		.rank = is_counter ? RANK_SENSOR_ENERGY : RANK_SENSOR_POWER,
	};
	(void)snprintf(board->zone.instance, sizeof(board->zone.instance), "%s", address);
	(void)snprintf(board->zone.path, sizeof(board->zone.path), "%.16s/%s", card, sensor->file);
}

static void lose(struct board *board)
{
	free(board->hwmon_path);
	free(board->device_path);
	board->hwmon_path = board->device_path = NULL;
}

/* The board at @address, new or known; NULL: there is no room for it. */
static struct board *board_at(struct meter *meter, const char *address, const char *card,
			      const struct drm_sensor *sensor)
{
	struct board *board = find_board(meter, address);

	if (board)
		return board;
	if (meter->count == BOARDS_MAX || strlen(address) >= ZONE_INSTANCE_MAX) {
		meter->beyond++;
		return NULL;
	}
	board = &meter->boards[meter->count++];
	describe(meter, board, address, card, sensor);
	return board;
}

/* Takes over the paths. */
static void find_again(struct board *board, char *hwmon_path, char *device_path)
{
	board->generation += !board->hwmon_path; /* a reloaded driver restarts its counters */
	lose(board);
	board->hwmon_path = hwmon_path;
	board->device_path = device_path;
}

static int take_board(struct meter *meter, const char *card, const char *device_path,
		      const char *driver)
{
	const struct drm_sensor *sensor = NULL;
	CLEANUP_FREE char *hwmon_path = drm_find_hwmon(device_path, driver, &sensor);
	CLEANUP_FREE char *own_path = NULL;
	struct board *board;

	if (!hwmon_path)
		return 0;
	own_path = strdup(device_path);
	if (!own_path)
		return -ENOMEM;
	board = board_at(meter, drm_address(device_path), card, sensor);
	/* With another sensor it would be another zone: its energy is of another kind. */
	if (!board || board->sensor != sensor)
		return 0;
	board->search = meter->search;
	find_again(board, TAKE_PTR(hwmon_path), TAKE_PTR(own_path));
	return 0;
}

/* The device files of the boards, which is what programs open. */
static void find_nodes(struct meter *meter, DIR *dir)
{
	const struct dirent *entry;

	drm_users_forget_nodes(meter->users);
	rewinddir(dir);
	while ((entry = readdir(dir))) {
		char device_path[PATH_MAX], driver[32];
		struct board *board;
		uint32_t minor;

		if ((!drm_is_node(entry->d_name, "card", &minor) &&
		     !drm_is_node(entry->d_name, "renderD", &minor)) ||
		    !drm_find_device(meter->class_path, entry->d_name, device_path, driver,
				     sizeof(driver)))
			continue;
		board = find_board(meter, drm_address(device_path));
		if (board && board->hwmon_path)
			drm_users_add_node(meter->users, minor, (uint32_t)(board - meter->boards));
	}
}

static int drm_rescan(struct meter *meter)
{
	DIR *dir = opendir(meter->class_path);
	const struct dirent *entry;
	int r = 0;

	meter->search++;
	meter->beyond = 0;
	while (dir && r == 0 && (entry = readdir(dir))) {
		char device_path[PATH_MAX], driver[32];

		if (drm_is_card(entry->d_name) &&
		    drm_find_device(meter->class_path, entry->d_name, device_path, driver,
				    sizeof(driver)) &&
		    drm_knows_driver(driver))
			r = take_board(meter, entry->d_name, device_path, driver);
	}
	for (size_t i = 0; r == 0 && i < meter->count; i++) {
		if (meter->boards[i].search != meter->search)
			lose(&meter->boards[i]);
	}
	if (dir && meter->users)
		find_nodes(meter, dir);
	pthread_mutex_lock(&meter->lock);
	meter->found.count = meter->count;
	meter->found.beyond = meter->beyond;
	pthread_mutex_unlock(&meter->lock);
	if (dir)
		(void)closedir(dir);
	return r;
}

/* A file of the board's device. */
static ssize_t read_device(const struct board *board, const char *name, char *text, size_t size)
{
	char path[PATH_MAX];

	return path_join(path, sizeof(path), board->device_path, name) < 0
		       ? -ENAMETOOLONG
		       : read_file_at(AT_FDCWD, path, text, size);
}

static bool is_asleep(const struct board *board)
{
	char text[32];
	ssize_t len = read_device(board, "power/runtime_status", text, sizeof(text));

	return len > 0 && strncmp(text, "suspended", strlen("suspended")) == 0;
}

static bool kfd_has_processes(const struct meter *meter)
{
	DIR *dir = opendir(meter->kfd_path);
	const struct dirent *entry;
	bool is_there = false;

	while (dir && !is_there && (entry = readdir(dir)))
		is_there = entry->d_name[0] != '.';
	if (dir)
		(void)closedir(dir);
	return is_there;
}

/* Per cent of the time for which it was busy, by whatever. */
static bool read_busy(const struct board *board, uint64_t *ret_percent)
{
	char text[32];
	ssize_t len = read_device(board, "gpu_busy_percent", text, sizeof(text));

	return len > 0 && sysfs_number_parse(text, len, ret_percent) == 0 && *ret_percent <= 100;
}

static void read_users(struct meter *meter, size_t index)
{
	const struct board *board = &meter->boards[index];
	uint32_t device = board->zone.domain.number;
	uint64_t elapsed_ns = drm_users_read(meter->users, (uint32_t)index, device,
					     board->zone.instance, clock_ns(CLOCK_MONOTONIC));
	struct drm_users_state users = drm_users_state(meter->users);
	uint64_t percent;

	/* It is not known how long clients beyond the limits were busy. */
	if (strcmp(board->sensor->driver, "amdgpu") == 0 &&
	    (users.beyond || kfd_has_processes(meter)) && read_busy(board, &percent))
		drm_users_add_rest(meter->users, device, muldiv_u64(elapsed_ns, percent, 100));
	else if (users.beyond)
		drm_users_add_rest(meter->users, device, elapsed_ns);
	pthread_mutex_lock(&meter->lock);
	meter->found.users = users;
	pthread_mutex_unlock(&meter->lock);
}

static int drm_read_raw(struct meter *meter, size_t index, struct raw_reading *ret)
{
	struct board *board = &meter->boards[index];
	struct raw_reading raw = { .kind = board->sensor->kind, .generation = board->generation };
	char path[PATH_MAX], text[32];
	int r;

	if (meter->users)
		drm_users_clear(meter->users);
	if (!board->hwmon_path)
		return -ENODEV;
	if (is_asleep(board))
		return -EAGAIN;
	r = path_join(path, sizeof(path), board->hwmon_path, board->sensor->file);
	if (r == 0)
		r = sysfs_number_parse(text, read_file_at(AT_FDCWD, path, text, sizeof(text)),
				       &raw.value);
	if (r == -ENOENT || r == -ENODEV)
		lose(board);
	else if (meter->users)
		read_users(meter, index);
	if (r < 0)
		return r;
	*ret = raw;
	return 0;
}

static const struct device_use *drm_uses(struct meter *meter, size_t index, size_t *ret_count)
{
	(void)index;
	*ret_count = 0;
	return meter->users ? drm_users_uses(meter->users, ret_count) : NULL;
}

static const char not_known[] = "the processes that use AMD and Intel GPUs are unknown";

/*
 * Writes why the users are not known, or not all of them; false if they are. Numbers change all the
 * time, so they are separate from the text, which is logged when it changes.
 */
static bool describe_users(const struct drm_users_state *users, struct meter_remark *ret)
{
	char *what = ret->what, *option = ret->option;

	*ret = (struct meter_remark){ .is_failure = true };
	if (users->error < 0) {
		(void)snprintf(what, sizeof(ret->what), "%s: open files cannot be searched for: %s",
			       not_known, strerrordesc_np(-users->error));
	} else if (users->denied || users->hidden) {
		(void)snprintf(what, sizeof(ret->what),
			       "%s of all users: without CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH "
			       "/proc/PID/fdinfo of others cannot be read",
			       not_known);
		(void)snprintf(option, sizeof(ret->option),
			       "kepler config needs prints the unit's drop-in (now unread: %" PRIu64
			       " device files; unseen: %" PRIu64 " processes)",
			       users->denied, users->hidden);
	} else if (users->beyond) {
		(void)snprintf(what, sizeof(ret->what),
			       "%s of all: more device files of GPUs are open than are read; the "
			       "time that no known client explains is charged to no process",
			       not_known);
		(void)snprintf(option, sizeof(ret->option),
			       "%s (now unread: %" PRIu64 " device files)",
			       users->is_short_of_descriptors
				       ? "raise LimitNOFILE= or ulimit -n"
				       : "look for a process with more than 64 of them: ls -l "
					 "/proc/[0-9]*/fd",
			       users->beyond);
	} else if (users->silent && !users->speaking) {
		(void)snprintf(what, sizeof(ret->what),
			       "%s: this kernel's driver does not report it (amdgpu and i915 do "
			       "from 5.19 on, xe from 6.11)",
			       not_known);
		ret->is_failure = false;
	} else {
		return false;
	}
	return true;
}

static bool drm_remark(struct meter *meter, size_t index, struct meter_remark *ret)
{
	struct drm_users_state users;
	size_t count;

	if (index > 0)
		return false;
	pthread_mutex_lock(&meter->lock);
	users = meter->found.users;
	count = meter->found.count;
	pthread_mutex_unlock(&meter->lock);
	if (!count || meter->users)
		return count && describe_users(&users, ret);
	*ret = (struct meter_remark){ 0 };
	(void)snprintf(
		ret->what, sizeof(ret->what),
		"%s: the board was not there when Kepler started, Kepler has a pid namespace "
		"of its own, or could not start the process that reads fdinfo",
		not_known);
	return true;
}

static size_t drm_zone_count(struct meter *meter)
{
	size_t count;

	pthread_mutex_lock(&meter->lock);
	count = meter->found.count;
	pthread_mutex_unlock(&meter->lock);
	return count;
}

static const struct zone *drm_zone_at(struct meter *meter, size_t index)
{
	return &meter->boards[index].zone;
}

static size_t drm_ignored(struct meter *meter)
{
	size_t beyond;

	pthread_mutex_lock(&meter->lock);
	beyond = meter->found.beyond;
	pthread_mutex_unlock(&meter->lock);
	return beyond;
}

static uint64_t drm_unread_device_files(struct meter *meter)
{
	uint64_t beyond;

	pthread_mutex_lock(&meter->lock);
	beyond = meter->found.users.beyond;
	pthread_mutex_unlock(&meter->lock);
	return beyond;
}

static void drm_close(struct meter *meter)
{
	if (!meter)
		return;
	for (size_t i = 0; i < meter->count; i++)
		lose(&meter->boards[i]);
	drm_users_free(meter->users);
	(void)pthread_mutex_destroy(&meter->lock);
	free(meter->class_path);
	free(meter->kfd_path);
	free(meter);
}

static bool drm_is_wanted(const struct meter_options *options)
{
	return drm_has_card(options->sysfs, false);
}

/* The users of graphics in the CPU cannot be read. */
static bool drm_has_board(const struct meter_options *options)
{
	return drm_has_card(options->sysfs, true);
}

static int drm_open(const struct meter_options *options, struct meter **ret)
{
	struct meter *meter = calloc(1, sizeof(*meter));
	char path[PATH_MAX];

	if (!meter)
		return -ENOMEM;
	(void)pthread_mutex_init(&meter->lock, NULL); /* cannot fail with default attributes */
	if (path_join(path, sizeof(path), options->sysfs, "class/drm") == 0)
		meter->class_path = strdup(path);
	if (path_join(path, sizeof(path), options->sysfs, "class/kfd/kfd/proc") == 0)
		meter->kfd_path = strdup(path);
	if (!meter->class_path || !meter->kfd_path ||
	    (options->device_files &&
	     drm_users_new(options->device_files, options->wants_holders, &meter->users) < 0)) {
		drm_close(meter);
		return -ENOMEM;
	}
	*ret = meter;
	return 0;
}

const struct meter_ops drm_meter = {
	.name = "drm",
	.period_ns = PERIOD_NS,
	.is_wanted = drm_is_wanted,
	.needs = NEED_DEVICE_USERS,
	.needs_apply = drm_has_board,
	.open = drm_open,
	.zone_count = drm_zone_count,
	.zone_at = drm_zone_at,
	.ignored = drm_ignored,
	.unread_device_files = drm_unread_device_files,
	.remark = drm_remark,
	.read_raw = drm_read_raw,
	.uses = drm_uses,
	.rescan = drm_rescan,
	.close = drm_close,
};

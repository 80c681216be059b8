// SPDX-License-Identifier: Apache-2.0
/*
 * Intel's Gaudi accelerators, through the driver's library (gpu/hlml_library.h), as
 * meter/boards/library_boards.h has it.
 *
 * A board belongs to one process at a time, and the library does not say to which: its busy time is
 * known, and no process. The driver takes that from the board's power (hl_device_utilization() in
 * drivers/accel/habanalabs), so that it follows the energy.
 *
 * The library is loaded where a board of the driver is there when Kepler starts. Polled: the driver
 * may hang.
 */
#include "meter/boards/hlml.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "gpu/hlml_library.h"
#include "meter/boards/library_boards.h"
#include "service/needs.h"

#define PERIOD_NS NSEC_PER_SEC

struct meter {
	struct hlml_library library;
	struct library_boards boards;
	struct {
		uint32_t generation; /* the board's, in which it was read */
		uint64_t read_ns;    /* MONOTONIC */
	} last[DEVICES_HLML];
	struct device_use use; /* of the board that was read last */
	size_t use_count;
};

static const struct library_kind hlml_kind = {
	.source = "hlml",
	.vendor = "Gaudi",
	.api = "HLML",
	.device = "accel",
	.folder = HLML_LIBRARY_FOLDER,
	.functions = hlml_functions,
	.function_count = &hlml_function_count,
	.first_device = DEVICES_NVML + DEVICES_DRM,
	.boards_max = DEVICES_HLML,
};

static void note_use(struct meter *meter, const struct board *board, uint64_t elapsed_ns)
{
	struct hlml_utilization utilization;

	if (!meter->library.utilization ||
	    meter->library.utilization(board->device, &utilization) != VENDOR_OK ||
	    utilization.accelerator > 100)
		return;
	meter->use = (struct device_use){
		.device = board->zone.domain.number,
		.busy_ns = muldiv_u64(elapsed_ns, utilization.accelerator, 100),
	};
	meter->use_count = 1;
}

static int hlml_read_raw(struct meter *meter, size_t index, struct raw_reading *ret)
{
	struct board *board = library_boards_find(&meter->boards, index);
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), before_ns = meter->last[index].read_ns;
	bool is_first;
	int r;

	meter->use_count = 0;
	if (!board)
		return -ENODEV;
	is_first = meter->last[index].generation != board->generation;
	meter->last[index].generation = board->generation;
	meter->last[index].read_ns = now_ns;
	r = library_boards_read(&meter->boards, board, ret);
	if (board->is_there && !is_first)
		note_use(meter, board, now_ns - before_ns);
	return r;
}

static const struct device_use *hlml_uses(struct meter *meter, size_t index, size_t *ret_count)
{
	(void)index;
	*ret_count = meter->use_count;
	return &meter->use;
}

/* ---- the rest ---- */

static int hlml_rescan(struct meter *meter)
{
	return library_boards_search(&meter->boards);
}

static size_t hlml_zone_count(struct meter *meter)
{
	return library_boards_count(&meter->boards);
}

static const struct zone *hlml_zone_at(struct meter *meter, size_t index)
{
	return &meter->boards.boards[index].zone;
}

static size_t hlml_ignored(struct meter *meter)
{
	return library_boards_ignored(&meter->boards);
}

static bool hlml_remark(struct meter *meter, size_t index, struct meter_remark *ret)
{
	return library_boards_remark(&meter->boards, index, ret);
}

static void hlml_close(struct meter *meter)
{
	if (!meter)
		return;
	library_boards_release(&meter->boards);
	free(meter);
}

static bool is_of_driver(const char *class_path, const char *name)
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *slash;
	ssize_t len;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s/device/driver", class_path, name) >=
	    sizeof(path))
		return false;
	len = readlink(path, target, sizeof(target) - 1);
	if (len < 0)
		return false;
	target[len] = '\0';
	slash = strrchr(target, '/');
	return slash && strcmp(slash + 1, "habanalabs") == 0;
}

/* Drivers before Linux 6.2 have a class of their own. */
static bool has_board(const char *sysfs)
{
	char path[PATH_MAX];
	const struct dirent *entry;
	bool found = false;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "%s/class/habanalabs/hl0", sysfs);
	if (access(path, F_OK) == 0)
		return true;
	(void)snprintf(path, sizeof(path), "%s/class/accel", sysfs);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir)))
		found = entry->d_name[0] != '.' && is_of_driver(path, entry->d_name);
	if (dir)
		(void)closedir(dir);
	return found;
}

static bool hlml_is_wanted(const struct meter_options *options)
{
	const char *name = options->hlml.library;

	return name && name[0] && (strchr(name, '/') || has_board(options->sysfs));
}

static int hlml_open(const struct meter_options *options, struct meter **ret)
{
	const char *name = options->hlml.library;
	struct meter *meter = calloc(1, sizeof(*meter));

	if (!meter)
		return -ENOMEM;
	if (library_boards_init(&meter->boards, &hlml_kind,
				name && name[0] ? name : HLML_LIBRARY_NAME,
				&meter->library.common) < 0) {
		hlml_close(meter);
		return -ENOMEM;
	}
	*ret = meter;
	return 0;
}

static const struct option rows[] = {
	{ "meter.hlml-library", NULL, OPTION_STRING, OPTION_MEMBER(struct hlml_options, library),
	  .default_text = HLML_LIBRARY_NAME, .metavar = "FILE", .may_be_empty = true,
	  .help = "Management library for Intel Gaudi (HLML). A bare name is loaded at startup if "
		  "a habanalabs device exists, and is also looked up in /usr/lib/habanalabs; a "
		  "path (with a slash) is always loaded. Empty: Gaudi boards are not read unless "
		  "meters names hlml." },
};

const struct meter_ops hlml_meter = {
	.name = "hlml",
	.period_ns = PERIOD_NS,
	.is_wanted = hlml_is_wanted,
	.options = METER_OPTIONS(rows, hlml),
	.needs = NEED_GAUDI,
	.devices = { { "char-accel rw", "/dev/accel/" }, { "char-habanalabs rw", "/dev/hl" } },
	.open = hlml_open,
	.zone_count = hlml_zone_count,
	.zone_at = hlml_zone_at,
	.ignored = hlml_ignored,
	.remark = hlml_remark,
	.read_raw = hlml_read_raw,
	.uses = hlml_uses,
	.rescan = hlml_rescan,
	.close = hlml_close,
};

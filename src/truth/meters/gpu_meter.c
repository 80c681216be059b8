// SPDX-License-Identifier: Apache-2.0
/* Each board has the library open for itself: both the loader and NVML count their users. */
#include "truth/meters/gpu_meter.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "truth/meter_list.h"
#include "truth/meter_search.h"

#define UUID_MAX   96
#define GPUS_MAX   64
#define UNIT_MILLI 1e-3

struct nvml {
	void *library;
	int (*init)(void);
	int (*shutdown)(void);
	int (*count)(unsigned *ret);
	int (*handle)(unsigned index, void **ret);
	int (*uuid)(void *board, char *ret, unsigned size);
	int (*energy)(void *board, unsigned long long *ret_mj);
	int (*power)(void *board, unsigned *ret_mw);
};

struct nvml_board {
	struct nvml nvml;
	void *handle;
};

static void close_nvml(struct nvml *nvml)
{
	(void)nvml->shutdown();
	(void)dlclose(nvml->library);
}

/* ISO C has no conversion of an object pointer to one to a function; POSIX has this one. */
static bool find(void *library, const char *name, void *ret_function)
{
	void *symbol = dlsym(library, name);

	memcpy(ret_function, &symbol, sizeof(symbol));
	return symbol != NULL;
}

static bool open_nvml(const char *library, struct nvml *ret)
{
	ret->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (!ret->library)
		return false;
	if (find(ret->library, "nvmlInit_v2", &ret->init) &&
	    find(ret->library, "nvmlShutdown", &ret->shutdown) &&
	    find(ret->library, "nvmlDeviceGetCount_v2", &ret->count) &&
	    find(ret->library, "nvmlDeviceGetHandleByIndex_v2", &ret->handle) &&
	    find(ret->library, "nvmlDeviceGetUUID", &ret->uuid) &&
	    find(ret->library, "nvmlDeviceGetTotalEnergyConsumption", &ret->energy) &&
	    find(ret->library, "nvmlDeviceGetPowerUsage", &ret->power) && ret->init() == 0)
		return true;
	(void)dlclose(ret->library);
	return false;
}

static void release_board(void *state)
{
	struct nvml_board *board = state;

	close_nvml(&board->nvml);
	free(board);
}

static int read_board(struct truth_meter *meter, double now_s, struct truth_value *ret,
		      struct diag *diag)
{
	const struct nvml_board *board = meter->state;
	unsigned long long mj = 0;
	unsigned mw = 0;
	int r = meter->is_power ? board->nvml.power(board->handle, &mw)
				: board->nvml.energy(board->handle, &mj);

	(void)now_s;
	if (r != 0)
		return diag_set(diag, -EIO, "%s: NVML returned error %d", meter->path, r);
	ret->raw = mj;
	ret->power = mw;
	return 0;
}

/* False: there is no further board. */
static bool add_board(const char *library, unsigned index, struct truth *truth)
{
	struct nvml_board *board = calloc(1, sizeof(*board));
	char uuid[UUID_MAX] = "", name[UUID_MAX + 32];
	unsigned long long mj;
	unsigned mw, count;

	if (!board || !open_nvml(library, &board->nvml)) {
		free(board);
		return false;
	}
	struct truth_meter meter = { .read = read_board,
				     .unit = UNIT_MILLI,
				     .fd = -1,
				     .state = board,
				     .release = release_board };
	if (board->nvml.count(&count) != 0 || index >= count) {
		release_board(board);
		return false;
	}
	if (board->nvml.handle(index, &board->handle) != 0) {
		release_board(board);
		return true;
	}
	(void)board->nvml.uuid(board->handle, uuid, sizeof(uuid));
	meter.is_power = board->nvml.energy(board->handle, &mj) != 0;
	if (meter.is_power && board->nvml.power(board->handle, &mw) != 0) {
		release_board(board);
		return true;
	}
	(void)snprintf(name, sizeof(name), "NVML %u %s", index, uuid);
	truth_add_meter(truth, TRUTH_GPU, name, &meter);
	return true;
}

void truth_search_gpus(const char *sysfs, const char *library, struct truth *truth)
{
	for (unsigned i = 0; i < GPUS_MAX && add_board(library, i, truth); i++)
		;
	search_hwmon_gpus(sysfs, truth);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * A driver can keep a call of its library waiting for ever, so a process for each board has the
 * library open (truth/timed_call.h), and this program does not load it.
 */
#include "truth/meters/gpu_meter.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "truth/meter_search.h"
#include "truth/timed_meter.h"

#define GPUS_MAX   TRUTH_DEVICES_MAX
#define UNIT_MILLI 1e-3
#define NOT_FOUND  6 /* of NVML */

struct nvml {
	void *library;
	int (*init)(void);
	int (*count)(unsigned *ret);
	int (*handle)(unsigned index, void **ret);
	int (*uuid)(void *board, char *ret, unsigned size);
	int (*energy)(void *board, unsigned long long *ret_mj);
	int (*power)(void *board, unsigned *ret_mw);
};

struct board {
	char library[TRUTH_PATH_MAX];
	unsigned index;
	struct nvml nvml;
	void *handle; /* NULL: not open yet */
};

/* The reading of a board. Numbers are 0 with an error of NVML. */
struct answer {
	unsigned count; /* of boards */
	int energy_error, power_error;
	unsigned long long energy_mj;
	unsigned power_mw;
	char uuid[TRUTH_UUID_MAX];
};

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
	    find(ret->library, "nvmlDeviceGetCount_v2", &ret->count) &&
	    find(ret->library, "nvmlDeviceGetHandleByIndex_v2", &ret->handle) &&
	    find(ret->library, "nvmlDeviceGetUUID", &ret->uuid) &&
	    find(ret->library, "nvmlDeviceGetTotalEnergyConsumption", &ret->energy) &&
	    find(ret->library, "nvmlDeviceGetPowerUsage", &ret->power) && ret->init() == 0)
		return true;
	(void)dlclose(ret->library);
	ret->library = NULL;
	return false;
}

/* A timed_call_fn: a struct board as @state, a struct answer as @ret. */
static ssize_t ask_board(void *state, void *ret)
{
	struct board *board = state;
	struct answer *answer = ret;

	memset(answer, 0, sizeof(*answer));
	if (!board->nvml.library && !open_nvml(board->library, &board->nvml))
		return -ENODEV;
	if (board->nvml.count(&answer->count) != 0)
		return -EIO;
	answer->energy_error = answer->power_error = NOT_FOUND;
	if (!board->handle && (board->index >= answer->count ||
			       board->nvml.handle(board->index, &board->handle) != 0))
		return sizeof(*answer);
	(void)board->nvml.uuid(board->handle, answer->uuid, sizeof(answer->uuid));
	answer->energy_error = board->nvml.energy(board->handle, &answer->energy_mj);
	answer->power_error = board->nvml.power(board->handle, &answer->power_mw);
	return sizeof(*answer);
}

static int read_board(struct truth_meter *meter, double now_s, struct truth_value *ret,
		      struct diag *diag)
{
	struct answer answer;
	int r = timed_meter_read(meter, &answer, sizeof(answer), diag);

	(void)now_s;
	if (r < 0)
		return r;
	int error = meter->is_power ? answer.power_error : answer.energy_error;
	if (error != 0)
		return diag_set(diag, -EIO, "%s: NVML returned error %d", meter->path, error);
	ret->raw = answer.energy_mj;
	ret->power = answer.power_mw;
	ret->is_off = answer.power_error == 0 && answer.power_mw == 0;
	return 0;
}

/* The number of boards, if this one reports it; else @count. */
static unsigned add_board(const char *library, unsigned index, unsigned count, struct truth *truth)
{
	struct board board = { .index = index };
	char name[TRUTH_UUID_MAX + 32];
	struct answer answer;

	(void)snprintf(board.library, sizeof(board.library), "%s", library);
	(void)snprintf(name, sizeof(name), "NVML %u", index);
	struct timed_call *call =
		timed_meter_try(ask_board, &board, &answer, sizeof(answer), name, truth);
	if (!call)
		return count;
	struct truth_meter like = { .read = read_board,
				    .unit = UNIT_MILLI,
				    .is_power = answer.energy_error != 0,
				    .is_device = true,
				    .device_index = index };
	memcpy(like.uuid, answer.uuid, sizeof(like.uuid));
	(void)snprintf(name, sizeof(name), "NVML %u %s", index, answer.uuid);
	if (answer.energy_error == 0 || answer.power_error == 0)
		timed_meter_add(truth, TRUTH_GPU, name, &like, call);
	else
		timed_call_free(call);
	return answer.count < GPUS_MAX ? answer.count : GPUS_MAX;
}

void truth_search_gpus(const char *sysfs, const char *library, struct truth *truth)
{
	unsigned count = 1;

	for (unsigned i = 0; i < count; i++)
		count = add_board(library, i, count, truth);
	search_hwmon_gpus(sysfs, truth);
}

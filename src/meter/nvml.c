// SPDX-License-Identifier: Apache-2.0
/*
 * NVIDIA GPUs, through the driver's library (gpu/nvml_library.h), as meter/library_boards.h has it.
 *
 * What used a board is read with its energy, so that both are of the same time: per cent of the
 * board by process, as the driver samples it; where the driver does not, its busy time by memory
 * held.
 *
 * The library is loaded where the driver's device exists when Kepler starts. A driver that is
 * loaded later is found when Kepler starts again. Polled: the driver may hang.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/num.h"
#include "gpu/nvml_use.h"
#include "meter/library_boards.h"
#include "meter/meter.h"

#define PERIOD_NS     NSEC_PER_SEC
#define PATIENCE_NS   (5 * PERIOD_NS / 2)
#define PROCESSES_MAX 2048    /* of one board; the time of more is the board's alone */
#define AHEAD_US      5000000 /* a sample whose time is further ahead is none */

/* What is known of the use of a board. */
struct gpu {
	const struct board *board; /* its zone and its device */
	uint32_t generation;       /* the board's, of which all this is */
	bool samples_processes;
	uint64_t use_ns;            /* MONOTONIC; what used it is known until then; 0: not yet */
	unsigned long long seen_us; /* the newest sample */
	bool was_used;              /* as of the last reading */
};

/* One reading of what used a board. */
struct use_buffer {
	struct nvml_process_sample *samples;
	struct nvml_process *processes;
	struct device_use *uses;
	size_t use_count;
};

struct meter {
	struct nvml_library library;
	struct library_boards boards;
	bool wants_holders;
	struct gpu gpus[DEVICES_NVML];
	struct use_buffer buffer;
};

/* ---- energy ---- */

/* Of newer boards the library's own power is a mean over the last second. */
static int read_power(const struct vendor_library *common, vendor_device device, unsigned *ret_mw)
{
	const struct nvml_library *library = (const struct nvml_library *)common;
	struct nvml_field field = { .id = NVML_FIELD_POWER_INSTANT };

	if (library->fields && library->fields(device, 1, &field) == VENDOR_OK &&
	    field.result == VENDOR_OK && field.type == NVML_VALUE_UNSIGNED) {
		*ret_mw = field.value.as_unsigned;
		return VENDOR_OK;
	}
	return common->power ? common->power(device, ret_mw) : VENDOR_NOT_SUPPORTED;
}

static const struct library_kind nvml_kind = {
	.source = "nvml",
	.vendor = "NVIDIA",
	.api = "NVML",
	.device = "nvidia",
	.functions = nvml_functions,
	.function_count = &nvml_function_count,
	.boards_max = DEVICES_NVML,
	.read_power = read_power,
};

/* ---- use ---- */

/* What was sampled since the last reading. VENDOR_NOT_FOUND: nothing was. */
static int read_samples(struct meter *meter, struct gpu *gpu, unsigned *ret_count)
{
	uint64_t latest_us = clock_ns(CLOCK_REALTIME) / NSEC_PER_USEC + AHEAD_US;
	unsigned count = PROCESSES_MAX;
	int result;

	*ret_count = 0;
	if (gpu->seen_us > latest_us) /* the clock was set back */
		gpu->seen_us = latest_us - AHEAD_US;
	result = meter->library.process_samples(gpu->board->device, meter->buffer.samples, &count,
						gpu->seen_us);
	if (result == VENDOR_OK && count > PROCESSES_MAX)
		result = VENDOR_TOO_SMALL;
	if (result != VENDOR_OK)
		return result;
	for (unsigned i = 0; i < count; i++) {
		const struct nvml_process_sample *sample = &meter->buffer.samples[i];

		if (sample->pid && sample->time_us > gpu->seen_us && sample->time_us <= latest_us)
			meter->buffer.samples[(*ret_count)++] = *sample;
	}
	for (unsigned i = 0; i < *ret_count; i++) {
		unsigned long long time_us = meter->buffer.samples[i].time_us;

		gpu->seen_us = time_us > gpu->seen_us ? time_us : gpu->seen_us;
	}
	return VENDOR_OK;
}

static unsigned add_processes(nvml_processes_fn *list, vendor_device device,
			      struct nvml_process *processes, unsigned have)
{
	const unsigned room = PROCESSES_MAX - have;
	unsigned count = room;

	if (!list || !room || list(device, &count, processes + have) != VENDOR_OK || count > room)
		return have;
	return have + count;
}

/* Its busy time; all of it where the driver does not say even that, as with MIG. */
static uint64_t read_busy_ns(struct meter *meter, struct gpu *gpu, uint64_t elapsed_ns)
{
	struct nvml_utilization utilization;

	if (!meter->library.utilization ||
	    meter->library.utilization(gpu->board->device, &utilization) != VENDOR_OK)
		return elapsed_ns;
	return muldiv_u64(elapsed_ns, utilization.gpu < 100 ? utilization.gpu : 100, 100);
}

/* What holds the board, into the buffer; a process may be there twice. */
static unsigned read_processes(struct meter *meter, struct gpu *gpu)
{
	const struct nvml_library *library = &meter->library;
	struct nvml_process *processes = meter->buffer.processes;
	unsigned count =
		add_processes(library->compute_processes, gpu->board->device, processes, 0);

	count = add_processes(library->graphics_processes, gpu->board->device, processes, count);
	return add_processes(library->mps_processes, gpu->board->device, processes, count);
}

static size_t use_by_memory(struct meter *meter, struct gpu *gpu, uint64_t elapsed_ns)
{
	unsigned count = read_processes(meter, gpu);

	return nvml_use_by_memory(meter->buffer.processes, count, gpu->board->zone.domain.number,
				  read_busy_ns(meter, gpu, elapsed_ns), meter->buffer.uses);
}

/* Behind those that used it; what holds and uses it becomes one (device_uses.h). */
static void note_holders(struct meter *meter, struct gpu *gpu)
{
	struct use_buffer *buffer = &meter->buffer;
	unsigned count = read_processes(meter, gpu);

	for (unsigned i = 0; i < count; i++) {
		if (buffer->processes[i].pid)
			buffer->uses[buffer->use_count++] =
				(struct device_use){ .device = gpu->board->zone.domain.number,
						     .pid = buffer->processes[i].pid,
						     .held = DEVICE_WHOLE };
	}
}

/*
 * The driver samples processes once a second or more often. Where it has nothing new of a board
 * that was in use, its energy waits, so that it is shared by the use of its own time; not for long,
 * for what used it may have ended.
 */
static bool awaits_samples(const struct gpu *gpu, int result, uint64_t now_ns)
{
	return result == VENDOR_NOT_FOUND && gpu->board->has_counter && gpu->was_used &&
	       now_ns - gpu->use_ns < PATIENCE_NS;
}

/* @result and @count: of read_samples(). */
static void note_use(struct meter *meter, struct gpu *gpu, int result, unsigned count,
		     uint64_t now_ns)
{
	uint64_t elapsed_ns = gpu->use_ns ? now_ns - gpu->use_ns : 0;
	struct use_buffer *buffer = &meter->buffer;

	gpu->use_ns = now_ns;
	gpu->was_used = result == VENDOR_OK && count > 0;
	if (!elapsed_ns)
		return; /* the first: what was before is not known to be of our time */
	if (result == VENDOR_OK)
		buffer->use_count =
			nvml_use_of_samples(buffer->samples, count, gpu->board->zone.domain.number,
					    elapsed_ns, buffer->uses);
	else if (result != VENDOR_NOT_FOUND)
		buffer->use_count = use_by_memory(meter, gpu, elapsed_ns);
}

/* A board that is new, or was gone: what used it before is of energy that was not counted. */
static void begin(struct meter *meter, struct gpu *gpu, const struct board *board)
{
	gpu->board = board;
	gpu->generation = board->generation;
	gpu->samples_processes = meter->library.process_samples != NULL;
	gpu->use_ns = 0;
}

static int nvml_read_raw(struct meter *meter, size_t index, struct raw_reading *ret)
{
	struct board *board = library_boards_find(&meter->boards, index);
	struct gpu *gpu = &meter->gpus[index];
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	int result = VENDOR_NOT_SUPPORTED, r;
	unsigned count = 0;

	meter->buffer.use_count = 0;
	if (!board)
		return -ENODEV;
	if (gpu->generation != board->generation)
		begin(meter, gpu, board);
	if (gpu->samples_processes)
		result = read_samples(meter, gpu, &count);
	gpu->samples_processes &= result != VENDOR_NOT_SUPPORTED;
	if (awaits_samples(gpu, result, now_ns))
		return -EAGAIN;
	r = library_boards_read(&meter->boards, board, ret);
	if (board->is_there)
		note_use(meter, gpu, result, count, now_ns);
	if (board->is_there && meter->wants_holders)
		note_holders(meter, gpu);
	return r;
}

static const struct device_use *nvml_uses(struct meter *meter, size_t index, size_t *ret_count)
{
	(void)index;
	*ret_count = meter->buffer.use_count;
	return meter->buffer.uses;
}

/* ---- the rest ---- */

static int nvml_rescan(struct meter *meter)
{
	return library_boards_search(&meter->boards);
}

static size_t nvml_zone_count(struct meter *meter)
{
	return library_boards_count(&meter->boards);
}

static const struct zone *nvml_zone_at(struct meter *meter, size_t index)
{
	return &meter->boards.boards[index].zone;
}

static size_t nvml_ignored(struct meter *meter)
{
	return library_boards_ignored(&meter->boards);
}

static bool nvml_remark(struct meter *meter, size_t index, struct meter_remark *ret)
{
	return library_boards_remark(&meter->boards, index, ret);
}

static void nvml_close(struct meter *meter)
{
	if (!meter)
		return;
	library_boards_release(&meter->boards);
	free(meter->buffer.samples);
	free(meter->buffer.processes);
	free(meter->buffer.uses);
	free(meter);
}

static int make_buffers(struct use_buffer *buffer)
{
	if (ARRAY_RESIZE(buffer->samples, PROCESSES_MAX) < 0 ||
	    ARRAY_RESIZE(buffer->processes, PROCESSES_MAX) < 0 ||
	    ARRAY_RESIZE(buffer->uses, 2 * PROCESSES_MAX) < 0) /* used, and held */
		return -ENOMEM;
	return 0;
}

static bool nvml_is_wanted(const struct meter_options *options)
{
	const char *name = options->nvml_library;

	return name && name[0] && (strchr(name, '/') || access("/dev/nvidiactl", F_OK) == 0);
}

static int nvml_open(const struct meter_options *options, struct meter **ret)
{
	const char *name = options->nvml_library;
	struct meter *meter = calloc(1, sizeof(*meter));

	if (!meter)
		return -ENOMEM;
	meter->wants_holders = options->wants_holders;
	if (library_boards_init(&meter->boards, &nvml_kind,
				name && name[0] ? name : NVML_LIBRARY_NAME,
				&meter->library.common) < 0 ||
	    make_buffers(&meter->buffer) < 0) {
		nvml_close(meter);
		return -ENOMEM;
	}
	*ret = meter;
	return 0;
}

const struct meter_ops nvml_meter = {
	.name = "nvml",
	.period_ns = PERIOD_NS,
	.is_wanted = nvml_is_wanted,
	.open = nvml_open,
	.zone_count = nvml_zone_count,
	.zone_at = nvml_zone_at,
	.ignored = nvml_ignored,
	.remark = nvml_remark,
	.read_raw = nvml_read_raw,
	.uses = nvml_uses,
	.rescan = nvml_rescan,
	.close = nvml_close,
};

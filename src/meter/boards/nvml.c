// SPDX-License-Identifier: Apache-2.0
/*
 * NVIDIA GPUs, through the driver's library (gpu/nvml_library.h), by way of library_boards.h.
 *
 * What used a board is read with its energy, so that both are of the same time: per cent of the
 * board by process, as the driver samples it; where the driver does not, its busy time by memory
 * held. Of a board in MIG mode, the zone is the board as well, and its energy is divided by what
 * each instance did (gpu/nvml_mig.h).
 *
 * The library is loaded where the driver's device exists when Kepler starts. A driver that is
 * loaded later is found when Kepler starts again. Polled: the driver may hang.
 */
#include "meter/boards/nvml.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/num.h"
#include "gpu/nvml_mig.h"
#include "gpu/nvml_use.h"
#include "gpu/nvml_vgpu.h"
#include "meter/boards/library_boards.h"
#include "meter/meter.h"
#include "service/needs.h"

#define PERIOD_NS     NSEC_PER_SEC
#define PATIENCE_NS   (5 * PERIOD_NS / 2)
#define PROCESSES_MAX 2048 /* of one board; the time of more is the board's alone */
#define USES_MAX      (3 * PROCESSES_MAX + NVML_INSTANCES_MAX) /* sampled, listed, held, nameless */
#define AHEAD_US      5000000 /* a sample with a later time is ignored */

/* The MIG instances of a board that has been in MIG mode. */
struct instances {
	struct nvml_mig mig;
	bool is_sampled; /* the driver samples processes in instances */
	/* As of the last reading, for other threads. */
	struct nvml_mig_device shown[NVML_INSTANCES_MAX];
	size_t shown_count;
	bool is_by_rule; /* the activity of some is not measured */
};

/* The known use of a board. */
struct gpu {
	const struct board *board; /* its zone and its device */
	uint32_t generation;       /* of the board, at which all this was found */
	bool samples_processes, may_have_vgpus;
	uint64_t use_ns;             /* MONOTONIC; what used it is known until then; 0: not yet */
	unsigned long long seen_us;  /* the newest sample */
	bool was_used;               /* as of the last reading */
	struct instances *instances; /* NULL: it never had any */
};

/* One reading of what used a board. */
struct use_buffer {
	struct nvml_process_sample *samples; /* [PROCESSES_MAX], as the next */
	struct nvml_process *processes;
	struct device_use *uses; /* [USES_MAX] */
	unsigned sample_count;
	size_t use_count;
};

struct meter {
	struct nvml_library library;
	struct library_boards boards;
	bool wants_holders;
	struct gpu gpus[DEVICES_NVML];
	struct use_buffer buffer;
	struct nvml_vgpus vgpus; /* of the board that is read */
	pthread_mutex_t lock;    /* protects the results of instances, and which boards have any */
};

/* ---- energy ---- */

/* On newer boards the library's own power is a mean over the last second. */
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

/* Reads the samples of processes, or of the board's vGPUs if it has any. */
static int ask_samples(struct meter *meter, vendor_device device, unsigned long long since_us,
		       struct nvml_process_sample *ret, unsigned *count)
{
	if (meter->vgpus.count)
		return nvml_vgpu_samples(&meter->library, device, since_us, ret, count);
	return meter->library.process_samples(device, ret, count, since_us);
}

/*
 * Adds the *ret_count samples since @seen_us to the buffer. VENDOR_NOT_FOUND: there are none.
 */
static int read_samples(struct meter *meter, vendor_device device, unsigned long long *seen_us,
			unsigned *ret_count)
{
	struct use_buffer *buffer = &meter->buffer;
	struct nvml_process_sample *samples = buffer->samples + buffer->sample_count;
	const unsigned room = PROCESSES_MAX - buffer->sample_count;
	const uint64_t latest_us = clock_ns(CLOCK_REALTIME) / NSEC_PER_USEC + AHEAD_US;
	unsigned long long since_us = *seen_us;
	unsigned count = room;
	int result;

	*ret_count = 0;
	if (since_us > latest_us) /* the clock was set back */
		since_us = latest_us - AHEAD_US;
	*seen_us = since_us;
	result = ask_samples(meter, device, since_us, samples, &count);
	if (result == VENDOR_OK && count > room)
		result = VENDOR_TOO_SMALL;
	if (result != VENDOR_OK)
		return result;
	for (unsigned i = 0; i < count; i++) {
		struct nvml_process_sample sample = samples[i];

		if (!sample.pid || sample.time_us <= since_us || sample.time_us > latest_us)
			continue;
		samples[(*ret_count)++] = sample;
		*seen_us = sample.time_us > *seen_us ? sample.time_us : *seen_us;
	}
	buffer->sample_count += *ret_count;
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

/* Appends the processes that hold the device after @have entries; one may be there twice. */
static unsigned read_processes(struct meter *meter, vendor_device device, unsigned have)
{
	const struct nvml_library *library = &meter->library;
	struct nvml_process *processes = meter->buffer.processes;
	unsigned count = add_processes(library->compute_processes, device, processes, have);

	count = add_processes(library->graphics_processes, device, processes, count);
	return add_processes(library->mps_processes, device, processes, count);
}

static size_t use_by_memory(struct meter *meter, struct gpu *gpu, uint64_t elapsed_ns)
{
	unsigned count = read_processes(meter, gpu->board->device, 0);

	return nvml_use_by_memory(meter->buffer.processes, count, gpu->board->zone.domain.number,
				  read_busy_ns(meter, gpu, elapsed_ns), meter->buffer.uses);
}

/* Appends the holders to the users; a process that does both is merged (device_uses.h). */
static void note_holders(struct meter *meter, struct gpu *gpu)
{
	struct use_buffer *buffer = &meter->buffer;
	unsigned count;

	for (unsigned i = 0; i < meter->vgpus.count; i++)
		buffer->uses[buffer->use_count++] =
			(struct device_use){ .device = gpu->board->zone.domain.number,
					     .held = DEVICE_WHOLE / meter->vgpus.count,
					     .vm = meter->vgpus.vm[i] };
	if (meter->vgpus.count)
		return;
	count = read_processes(meter, gpu->board->device, 0);
	buffer->use_count +=
		nvml_use_of_holders(buffer->processes, count, gpu->board->zone.domain.number,
				    DEVICE_WHOLE, buffer->uses + buffer->use_count);
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

/* @result: of read_samples(). */
static void note_use(struct meter *meter, struct gpu *gpu, int result, uint64_t elapsed_ns)
{
	struct use_buffer *buffer = &meter->buffer;

	gpu->was_used = result == VENDOR_OK && buffer->sample_count > 0;
	if (!elapsed_ns)
		return; /* the first: what was before is not known to be of our time */
	if (result == VENDOR_OK)
		buffer->use_count = nvml_use_of_samples(buffer->samples, buffer->sample_count,
							gpu->board->zone.domain.number, elapsed_ns,
							buffer->uses);
	else if (result != VENDOR_NOT_FOUND)
		buffer->use_count = use_by_memory(meter, gpu, elapsed_ns);
	for (size_t i = 0; result == VENDOR_OK && meter->vgpus.count && i < buffer->use_count;
	     i++) {
		struct device_use *use = &buffer->uses[i];

		use->vm = nvml_vgpu_machine(&meter->vgpus, use->pid);
		use->pid = 0;
	}
}

/* ---- use of instances ---- */

static void end_instances(struct meter *meter, struct gpu *gpu)
{
	struct instances *instances = gpu->instances;

	if (!instances)
		return;
	if (instances->mig.was_asked) /* it leaves MIG mode: its processes may be sampled now */
		gpu->samples_processes = meter->library.process_samples != NULL;
	nvml_mig_clear(&meter->library, &instances->mig);
	instances->is_sampled = meter->library.process_samples != NULL;
	pthread_mutex_lock(&meter->lock);
	instances->shown_count = 0;
	instances->is_by_rule = false;
	pthread_mutex_unlock(&meter->lock);
}

static bool has_instances(struct meter *meter, struct gpu *gpu)
{
	struct instances *made;

	if (!nvml_mig_is_on(&meter->library, gpu->board->device)) {
		end_instances(meter, gpu);
		return false;
	}
	if (gpu->instances)
		return true;
	made = calloc(1, sizeof(*made));
	if (!made)
		return false;
	made->is_sampled = meter->library.process_samples != NULL;
	pthread_mutex_lock(&meter->lock);
	gpu->instances = made;
	pthread_mutex_unlock(&meter->lock);
	return true;
}

static void show_instances(struct meter *meter, struct instances *instances, bool is_first)
{
	const struct nvml_mig *mig = &instances->mig;
	bool is_by_rule = !mig->has_gpm;

	for (size_t i = 0; !is_first && i < mig->count; i++)
		is_by_rule |= isnan(mig->instances[i].activity);
	pthread_mutex_lock(&meter->lock);
	memcpy(instances->shown, mig->devices, sizeof(instances->shown));
	instances->shown_count = mig->device_count;
	instances->is_by_rule = is_by_rule;
	pthread_mutex_unlock(&meter->lock);
}

/*
 * The board lists what runs in all instances only to callers with privileges; else each of its
 * devices does.
 */
static unsigned read_instance_processes(struct meter *meter, const struct gpu *gpu)
{
	const struct nvml_mig *mig = &gpu->instances->mig;
	struct nvml_process *processes = meter->buffer.processes;
	unsigned count = read_processes(meter, gpu->board->device, 0);

	for (size_t i = 0; i < mig->count; i++) {
		if (nvml_processes_of(processes, count, mig->instances[i].id))
			return count;
	}
	count = 0;
	for (size_t i = 0; i < mig->device_count; i++) {
		const struct nvml_mig_device *device = &mig->devices[i];
		unsigned first = count;

		count = read_processes(meter, device->device, first);
		for (unsigned p = first; p < count; p++)
			processes[p].gpu_instance = device->instance;
	}
	return count;
}

/* Behind the samples in the buffer; how many. */
static unsigned read_instance_samples(struct meter *meter, struct instances *instances,
				      struct nvml_instance *instance)
{
	unsigned long long since_us = instance->seen_us;
	unsigned sum = 0, count;

	for (size_t i = 0; instances->is_sampled && i < instances->mig.device_count; i++) {
		const struct nvml_mig_device *device = &instances->mig.devices[i];
		unsigned long long seen_us = since_us;

		if (device->instance != instance->id)
			continue;
		instances->is_sampled = read_samples(meter, device->device, &seen_us, &count) !=
					VENDOR_NOT_SUPPORTED;
		sum += count;
		instance->seen_us = seen_us > instance->seen_us ? seen_us : instance->seen_us;
	}
	return sum;
}

/* @processes: those in it. */
static void note_instance(struct meter *meter, struct gpu *gpu, struct nvml_instance *instance,
			  const struct nvml_process *processes, size_t count, uint64_t busy_ns)
{
	struct use_buffer *buffer = &meter->buffer;
	struct device_use *uses = buffer->uses + buffer->use_count;
	const uint32_t device = gpu->board->zone.domain.number;
	unsigned first = buffer->sample_count;
	unsigned samples = read_instance_samples(meter, gpu->instances, instance);
	size_t used = 0;

	if (busy_ns)
		used = nvml_use_by_samples(buffer->samples + first, samples, device, busy_ns, uses);
	if (busy_ns && !used)
		used = nvml_use_by_memory(processes, count, device, busy_ns, uses);
	if (meter->wants_holders)
		used += nvml_use_of_holders(processes, count, device, instance->held, uses + used);
	buffer->use_count += used;
}

static void note_instances(struct meter *meter, struct gpu *gpu, uint64_t elapsed_ns)
{
	struct instances *instances = gpu->instances;
	struct nvml_mig *mig = &instances->mig;
	struct nvml_process *processes = meter->buffer.processes;
	unsigned left;
	uint64_t board_busy_ns = read_busy_ns(meter, gpu, elapsed_ns);

	nvml_mig_read(&meter->library, gpu->board->device, mig);
	show_instances(meter, instances, !elapsed_ns);
	left = read_instance_processes(meter, gpu);
	for (size_t i = 0; i < mig->count; i++) {
		struct nvml_instance *instance = &mig->instances[i];
		size_t own = nvml_processes_of(processes, left, instance->id);

		note_instance(meter, gpu, instance, processes, own,
			      nvml_instance_busy_ns(instance, elapsed_ns, board_busy_ns, own > 0));
		processes += own;
		left -= (unsigned)own;
	}
}

/* ---- a reading ---- */

/* A board that is new, or was gone: what used it before is of energy that was not counted. */
static void begin(struct meter *meter, struct gpu *gpu, const struct board *board)
{
	gpu->board = board;
	gpu->generation = board->generation;
	gpu->samples_processes = meter->library.process_samples != NULL;
	gpu->may_have_vgpus = true;
	gpu->use_ns = 0;
	end_instances(meter, gpu);
}

static bool has_vgpus(struct meter *meter, struct gpu *gpu)
{
	meter->vgpus.count = 0;
	if (gpu->may_have_vgpus)
		gpu->may_have_vgpus = nvml_vgpus_read(&meter->library, gpu->board->device,
						      &meter->vgpus) != VENDOR_NOT_SUPPORTED;
	return meter->vgpus.count > 0;
}

static int nvml_read_raw(struct meter *meter, size_t index, struct raw_reading *ret)
{
	struct board *board = library_boards_find(&meter->boards, index);
	struct gpu *gpu = &meter->gpus[index];
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), elapsed_ns;
	int result = VENDOR_NOT_SUPPORTED, r;
	bool is_shared, is_divided;
	unsigned count;

	meter->buffer.use_count = meter->buffer.sample_count = 0;
	if (!board)
		return -ENODEV;
	if (gpu->generation != board->generation)
		begin(meter, gpu, board);
	is_shared = has_vgpus(meter, gpu);
	is_divided = !is_shared && has_instances(meter, gpu);
	if (is_shared || (gpu->samples_processes && !is_divided))
		result = read_samples(meter, board->device, &gpu->seen_us, &count);
	if (!is_shared && !is_divided)
		gpu->samples_processes = result != VENDOR_NOT_SUPPORTED;
	if (awaits_samples(gpu, result, now_ns))
		return -EAGAIN;
	r = library_boards_read(&meter->boards, board, ret);
	if (!board->is_there)
		return r;
	elapsed_ns = gpu->use_ns ? now_ns - gpu->use_ns : 0;
	gpu->use_ns = now_ns;
	if (is_divided) {
		note_instances(meter, gpu, elapsed_ns);
		return r;
	}
	note_use(meter, gpu, result, elapsed_ns);
	if (meter->wants_holders)
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

/* The library's, then one a board whose instances do not show what they do. */
static bool nvml_remark(struct meter *meter, size_t index, struct meter_remark *ret)
{
	const size_t boards = library_boards_count(&meter->boards);
	size_t own = 0;
	bool found = false;

	if (library_boards_remark(&meter->boards, 0, ret) && index-- == 0)
		return true;
	pthread_mutex_lock(&meter->lock);
	for (size_t i = 0; i < boards && !found; i++) {
		const struct instances *instances = meter->gpus[i].instances;

		if (!instances || !instances->is_by_rule || own++ != index)
			continue;
		*ret = (struct meter_remark){ .is_failure = false };
		(void)snprintf(ret->what, sizeof(ret->what),
			       "%s does not report the activity of its MIG instances; its energy "
			       "is shared among the instances in use by size",
			       meter->boards.boards[i].zone.instance);
		found = true;
	}
	pthread_mutex_unlock(&meter->lock);
	return found;
}

static bool nvml_find_part(struct meter *meter, const char *uuid, struct device_part *ret)
{
	const size_t boards = library_boards_count(&meter->boards);
	bool found = false;

	pthread_mutex_lock(&meter->lock);
	for (size_t i = 0; i < boards && !found; i++) {
		const struct instances *instances = meter->gpus[i].instances;

		for (size_t d = 0; instances && !found && d < instances->shown_count; d++) {
			found = strcmp(instances->shown[d].uuid, uuid) == 0;
			if (found)
				*ret = (struct device_part){ (uint32_t)i,
							     instances->shown[d].held };
		}
	}
	pthread_mutex_unlock(&meter->lock);
	return found;
}

static void nvml_close(struct meter *meter)
{
	if (!meter)
		return;
	for (size_t i = 0; i < DEVICES_NVML; i++) {
		end_instances(meter, &meter->gpus[i]);
		free(meter->gpus[i].instances);
	}
	library_boards_release(&meter->boards);
	(void)pthread_mutex_destroy(&meter->lock);
	free(meter->buffer.samples);
	free(meter->buffer.processes);
	free(meter->buffer.uses);
	free(meter);
}

static int make_buffers(struct use_buffer *buffer)
{
	if (ARRAY_RESIZE(buffer->samples, PROCESSES_MAX) < 0 ||
	    ARRAY_RESIZE(buffer->processes, PROCESSES_MAX) < 0 ||
	    ARRAY_RESIZE(buffer->uses, USES_MAX) < 0)
		return -ENOMEM;
	return 0;
}

static bool nvml_is_wanted(const struct meter_options *options)
{
	const char *name = options->nvml.library;

	return name && name[0] && (strchr(name, '/') || access("/dev/nvidiactl", F_OK) == 0);
}

static int nvml_open(const struct meter_options *options, struct meter **ret)
{
	const char *name = options->nvml.library;
	struct meter *meter = calloc(1, sizeof(*meter));

	if (!meter)
		return -ENOMEM;
	(void)pthread_mutex_init(&meter->lock, NULL); /* cannot fail with default attributes */
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

static const struct option rows[] = {
	{ "meter.nvml-library", NULL, OPTION_STRING, OPTION_MEMBER(struct nvml_options, library),
	  .default_text = NVML_LIBRARY_NAME, .metavar = "FILE", .may_be_empty = true,
	  .help = "NVIDIA management library (NVML), through which NVIDIA GPUs are read. A bare "
		  "name is loaded at startup if /dev/nvidiactl exists; a path (with a slash) is "
		  "always loaded. Empty: NVIDIA GPUs are not read unless meters names nvml." },
};

const struct meter_ops nvml_meter = {
	.name = "nvml",
	.period_ns = PERIOD_NS,
	.is_wanted = nvml_is_wanted,
	.options = METER_OPTIONS(rows, nvml),
	.needs = NEED_GPU,
	.devices = { { "char-nvidia* rw", "/dev/nvidia" } },
	.open = nvml_open,
	.zone_count = nvml_zone_count,
	.zone_at = nvml_zone_at,
	.ignored = nvml_ignored,
	.remark = nvml_remark,
	.read_raw = nvml_read_raw,
	.uses = nvml_uses,
	.find_part = nvml_find_part,
	.rescan = nvml_rescan,
	.close = nvml_close,
};

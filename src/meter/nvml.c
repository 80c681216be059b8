// SPDX-License-Identifier: Apache-2.0
/*
 * NVIDIA GPUs, through the driver's library (gpu/nvml_library.h). A zone is a board, known by its
 * UUID: its number may change when the driver is loaded anew.
 *
 * Energy is the board's counter (mJ, from Volta on), else its power at that moment. What used the
 * board is read with it, so that both are of the same time: per cent of the board by process, as
 * the driver samples it; where the driver does not, its busy time by memory held.
 *
 * The library is loaded where the driver's device exists when Kepler starts, and only then: later
 * no program code can be loaded any more (service/confine.h). A driver that is loaded later is
 * found when Kepler starts again. Polled: the driver may hang.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/num.h"
#include "gpu/nvml_use.h"
#include "meter/meter.h"

#define PERIOD_NS     NSEC_PER_SEC
#define RESTART_NS    (30 * NSEC_PER_SEC) /* twice as long after each in vain */
#define RESTARTS_NS   (960 * NSEC_PER_SEC)
#define PATIENCE_NS   (5 * PERIOD_NS / 2)
#define PROCESSES_MAX 2048    /* of one board; the time of more is the board's alone */
#define AHEAD_US      5000000 /* a sample whose time is further ahead is none */

struct gpu {
	struct zone zone; /* fixed */
	nvml_device device;
	bool is_there;   /* as of the last search, and not lost since */
	uint32_t search; /* the last one that found it */
	bool has_counter;
	bool samples_processes;
	uint32_t generation;
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
	char *library_name;
	bool may_load; /* it was not tried yet */
	bool wants_holders;
	struct nvml_library library;
	bool is_loaded, is_up;
	struct diag why_not;
	struct gpu gpus[DEVICES_NVML];
	size_t count, beyond;
	uint32_t search;     /* number of the last one */
	uint64_t started_ns; /* MONOTONIC, the library */
	uint64_t restart_ns; /* how long it runs at least while a board is lost */
	struct use_buffer buffer;
	/*
	 * Of the last search, for other threads. All else, but for what is fixed of a zone that is
	 * counted here, is the poller's thread's: it calls the library without the lock.
	 */
	pthread_mutex_t lock;
	struct {
		size_t count, beyond;
		char why_not[sizeof(((struct meter_remark *)NULL)->what)];
	} found;
};

static struct gpu *find_gpu(struct meter *meter, const char *uuid)
{
	for (size_t i = 0; i < meter->count; i++) {
		if (strcmp(meter->gpus[i].zone.instance, uuid) == 0)
			return &meter->gpus[i];
	}
	return NULL;
}

static bool has_counter(const struct nvml_library *library, nvml_device device)
{
	unsigned long long energy_mj;
	int result = NVML_NOT_SUPPORTED;

	if (library->total_energy)
		result = library->total_energy(device, &energy_mj);
	return result != NVML_NOT_SUPPORTED && result != NVML_FUNCTION_NOT_FOUND;
}

static void describe(struct meter *meter, struct gpu *gpu, const char *uuid)
{
	unsigned number;

	gpu->zone = (struct zone){
		.kind = ZONE_GPU,
		.domain = { DOMAIN_DEVICE, (uint32_t)(gpu - meter->gpus) },
		.source = nvml_meter.name,
		.rank = gpu->has_counter ? RANK_BOARD_ENERGY : RANK_SENSOR_POWER,
	};
	(void)snprintf(gpu->zone.instance, sizeof(gpu->zone.instance), "%s", uuid);
	if (meter->library.device_minor &&
	    meter->library.device_minor(gpu->device, &number) == NVML_OK)
		(void)snprintf(gpu->zone.path, sizeof(gpu->zone.path), "nvidia%u", number);
	else
		(void)snprintf(gpu->zone.path, sizeof(gpu->zone.path), "%s", uuid);
}

static void take(struct meter *meter, nvml_device device, const char *uuid)
{
	struct gpu *gpu = find_gpu(meter, uuid);

	if (!gpu && (meter->count == DEVICES_NVML || strlen(uuid) >= ZONE_INSTANCE_MAX)) {
		meter->beyond++;
		return;
	}
	if (!gpu) {
		gpu = &meter->gpus[meter->count];
		gpu->device = device;
		gpu->has_counter = has_counter(&meter->library, device);
		describe(meter, gpu, uuid);
		meter->count++;
	}
	gpu->device = device;
	if (!gpu->is_there) {
		gpu->generation++; /* a driver that is loaded anew counts anew */
		gpu->samples_processes = meter->library.process_samples != NULL;
		gpu->use_ns = 0;
	}
	gpu->is_there = true;
	gpu->search = meter->search;
}

static int find_all(struct meter *meter)
{
	const struct nvml_library *library = &meter->library;
	unsigned count = 0;
	int result = library->device_count(&count);

	meter->beyond = 0;
	meter->search++;
	for (unsigned i = 0; result == NVML_OK && i < count; i++) {
		char uuid[NVML_UUID_MAX];
		nvml_device device;

		if (library->device_by_index(i, &device) == NVML_OK &&
		    library->device_uuid(device, uuid, sizeof(uuid)) == NVML_OK)
			take(meter, device, uuid);
	}
	for (size_t i = 0; i < meter->count; i++)
		meter->gpus[i].is_there &= meter->gpus[i].search == meter->search;
	return nvml_error(result);
}

static int load(struct meter *meter)
{
	struct diag diag = { "" };
	int r;

	if (!meter->may_load)
		return 0;
	meter->may_load = false;
	r = nvml_library_load(meter->library_name, &meter->library, &diag);
	meter->is_loaded = r == 0;
	meter->why_not = diag;
	return r;
}

static bool any_is_lost(const struct meter *meter)
{
	for (size_t i = 0; i < meter->count; i++) {
		if (!meter->gpus[i].is_there)
			return true;
	}
	return false;
}

/*
 * A board that was lost is seen again only after a start of the library, which may take seconds and
 * keeps the others waiting: less and less often while it is in vain.
 */
static int start(struct meter *meter)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	int r;

	if (meter->is_up && !any_is_lost(meter)) {
		meter->restart_ns = RESTART_NS;
	} else if (meter->is_up && now_ns - meter->started_ns > meter->restart_ns) {
		(void)meter->library.shut_down();
		meter->is_up = false;
		if (meter->restart_ns < RESTARTS_NS)
			meter->restart_ns *= 2;
	}
	if (meter->is_up)
		return 0;
	meter->started_ns = now_ns;
	r = meter->library.init();
	meter->is_up = r == NVML_OK;
	meter->why_not = (struct diag){ "" };
	for (size_t i = 0; r != NVML_OK && i < meter->count; i++)
		meter->gpus[i].is_there = false;
	if (r == NVML_VERSION_MISMATCH)
		return diag_set(
			&meter->why_not, -EIO,
			"%s is of another version than the driver that is loaded; it "
			"cannot be used before a reboot, or until the driver is loaded anew",
			meter->library_name);
	if (r != NVML_OK)
		return diag_set(&meter->why_not, nvml_error(r),
				"the NVIDIA driver does not answer (NVML error %d)", r);
	return 0;
}

static int nvml_rescan(struct meter *meter)
{
	int r;

	r = load(meter);
	if (r == 0 && meter->is_loaded)
		r = start(meter);
	if (r == 0 && meter->is_up)
		r = find_all(meter);
	pthread_mutex_lock(&meter->lock);
	meter->found.count = meter->count;
	meter->found.beyond = meter->beyond;
	(void)snprintf(meter->found.why_not, sizeof(meter->found.why_not), "%.*s",
		       (int)sizeof(meter->found.why_not) - 1, meter->why_not.text);
	pthread_mutex_unlock(&meter->lock);
	return r;
}

/* ---- energy ---- */

static int read_power(const struct nvml_library *library, nvml_device device, uint64_t *ret_mw)
{
	struct nvml_field field = { .id = NVML_FIELD_POWER_INSTANT };
	unsigned power_mw;
	int result;

	/* Of newer boards the other is a mean over the last second. */
	if (library->fields && library->fields(device, 1, &field) == NVML_OK &&
	    field.result == NVML_OK && field.type == NVML_VALUE_UNSIGNED) {
		*ret_mw = field.value.as_unsigned;
		return NVML_OK;
	}
	if (!library->power)
		return NVML_NOT_SUPPORTED;
	result = library->power(device, &power_mw);
	*ret_mw = power_mw;
	return result;
}

static int read_energy(struct meter *meter, struct gpu *gpu, struct raw_reading *ret)
{
	struct raw_reading raw = { .generation = gpu->generation };
	unsigned long long energy_mj = 0;
	uint64_t power_mw = 0;
	int result;

	if (gpu->has_counter) {
		result = meter->library.total_energy(gpu->device, &energy_mj);
		raw.kind = SAMPLE_TOTAL;
		raw.value = energy_mj * 1000;
	} else {
		result = read_power(&meter->library, gpu->device, &power_mw);
		raw.kind = SAMPLE_POWER;
		raw.value = power_mw * 1000;
	}
	gpu->is_there &= result != NVML_GPU_IS_LOST;
	if (result == NVML_OK)
		*ret = raw;
	return nvml_error(result);
}

/* ---- use ---- */

/* What was sampled since the last reading. NVML_NOT_FOUND: nothing was. */
static int read_samples(struct meter *meter, struct gpu *gpu, unsigned *ret_count)
{
	uint64_t latest_us = clock_ns(CLOCK_REALTIME) / NSEC_PER_USEC + AHEAD_US;
	unsigned count = PROCESSES_MAX;
	int result;

	*ret_count = 0;
	if (gpu->seen_us > latest_us) /* the clock was set back */
		gpu->seen_us = latest_us - AHEAD_US;
	result = meter->library.process_samples(gpu->device, meter->buffer.samples, &count,
						gpu->seen_us);
	if (result == NVML_OK && count > PROCESSES_MAX)
		result = NVML_TOO_SMALL;
	if (result != NVML_OK)
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
	return NVML_OK;
}

static unsigned add_processes(nvml_processes_fn *list, nvml_device device,
			      struct nvml_process *processes, unsigned have)
{
	const unsigned room = PROCESSES_MAX - have;
	unsigned count = room;

	if (!list || !room || list(device, &count, processes + have) != NVML_OK || count > room)
		return have;
	return have + count;
}

/* Its busy time; all of it where the driver does not say even that, as with MIG. */
static uint64_t read_busy_ns(struct meter *meter, struct gpu *gpu, uint64_t elapsed_ns)
{
	struct nvml_utilization utilization;

	if (!meter->library.utilization ||
	    meter->library.utilization(gpu->device, &utilization) != NVML_OK)
		return elapsed_ns;
	return muldiv_u64(elapsed_ns, utilization.gpu < 100 ? utilization.gpu : 100, 100);
}

/* What holds the board, into the buffer; a process may be there twice. */
static unsigned read_processes(struct meter *meter, struct gpu *gpu)
{
	const struct nvml_library *library = &meter->library;
	struct nvml_process *processes = meter->buffer.processes;
	unsigned count = add_processes(library->compute_processes, gpu->device, processes, 0);

	count = add_processes(library->graphics_processes, gpu->device, processes, count);
	return add_processes(library->mps_processes, gpu->device, processes, count);
}

static size_t use_by_memory(struct meter *meter, struct gpu *gpu, uint64_t elapsed_ns)
{
	unsigned count = read_processes(meter, gpu);

	return nvml_use_by_memory(meter->buffer.processes, count, gpu->zone.domain.number,
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
				(struct device_use){ .device = gpu->zone.domain.number,
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
	return result == NVML_NOT_FOUND && gpu->has_counter && gpu->was_used &&
	       now_ns - gpu->use_ns < PATIENCE_NS;
}

/* @result and @count: of read_samples(). */
static void note_use(struct meter *meter, struct gpu *gpu, int result, unsigned count,
		     uint64_t now_ns)
{
	uint64_t elapsed_ns = gpu->use_ns ? now_ns - gpu->use_ns : 0;
	struct use_buffer *buffer = &meter->buffer;

	gpu->use_ns = now_ns;
	gpu->was_used = result == NVML_OK && count > 0;
	if (!elapsed_ns)
		return; /* the first: what was before is not known to be of our time */
	if (result == NVML_OK)
		buffer->use_count = nvml_use_of_samples(
			buffer->samples, count, gpu->zone.domain.number, elapsed_ns, buffer->uses);
	else if (result != NVML_NOT_FOUND)
		buffer->use_count = use_by_memory(meter, gpu, elapsed_ns);
}

static int nvml_read_raw(struct meter *meter, size_t index, struct raw_reading *ret)
{
	struct gpu *gpu = &meter->gpus[index];
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	int result = NVML_NOT_SUPPORTED, r;
	unsigned count = 0;

	meter->buffer.use_count = 0;
	if (!gpu->is_there || !meter->is_up)
		return -ENODEV;
	if (gpu->samples_processes)
		result = read_samples(meter, gpu, &count);
	gpu->samples_processes &= result != NVML_NOT_SUPPORTED;
	if (awaits_samples(gpu, result, now_ns))
		return -EAGAIN;
	r = read_energy(meter, gpu, ret);
	if (gpu->is_there)
		note_use(meter, gpu, result, count, now_ns);
	if (gpu->is_there && meter->wants_holders)
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

static size_t nvml_zone_count(struct meter *meter)
{
	size_t count;

	pthread_mutex_lock(&meter->lock);
	count = meter->found.count;
	pthread_mutex_unlock(&meter->lock);
	return count;
}

static const struct zone *nvml_zone_at(struct meter *meter, size_t index)
{
	return &meter->gpus[index].zone;
}

static size_t nvml_ignored(struct meter *meter)
{
	size_t beyond;

	pthread_mutex_lock(&meter->lock);
	beyond = meter->found.beyond;
	pthread_mutex_unlock(&meter->lock);
	return beyond;
}

static bool nvml_remark(struct meter *meter, size_t index, struct meter_remark *ret)
{
	bool has_one;

	pthread_mutex_lock(&meter->lock);
	has_one = index == 0 && meter->found.why_not[0];
	*ret = (struct meter_remark){ .is_failure = true };
	if (has_one)
		memcpy(ret->what, meter->found.why_not, sizeof(ret->what));
	pthread_mutex_unlock(&meter->lock);
	return has_one;
}

static void nvml_close(struct meter *meter)
{
	if (!meter)
		return;
	if (meter->is_up)
		(void)meter->library.shut_down();
	(void)pthread_mutex_destroy(&meter->lock);
	free(meter->buffer.samples);
	free(meter->buffer.processes);
	free(meter->buffer.uses);
	free(meter->library_name);
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
	struct meter *meter = calloc(1, sizeof(*meter));

	if (!meter)
		return -ENOMEM;
	(void)pthread_mutex_init(&meter->lock, NULL); /* cannot fail with default attributes */
	meter->may_load = true;
	meter->wants_holders = options->wants_holders;
	meter->restart_ns = RESTART_NS;
	meter->library_name =
		strdup(options->nvml_library && options->nvml_library[0] ? options->nvml_library
									 : NVML_LIBRARY_NAME);
	if (!meter->library_name || make_buffers(&meter->buffer) < 0) {
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

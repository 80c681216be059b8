// SPDX-License-Identifier: Apache-2.0
/*
 * Instances are made and removed at any time, and an id may be used again: so all of them are
 * looked at in each reading, and one of another size is another one.
 */
#include "gpu/nvml_mig.h"

#include <math.h>
#include <string.h>

#include "base/macro.h"

#define PER_CENT_MAX 101 /* rounded; more is not valid */

/* One that was found now. */
struct found {
	uint32_t id;
	unsigned slices;          /* the GPU instance's */
	unsigned multiprocessors; /* in its compute instances, and the slices of these */
	unsigned compute_slices;
};

struct search {
	struct found found[NVML_INSTANCES_MAX];
	size_t count;
};

bool nvml_mig_is_on(const struct nvml_library *library, vendor_device board)
{
	unsigned current, pending;

	return library->mig_mode && library->mig_devices_max && library->mig_device_by_index &&
	       library->gpu_instance_id && library->attributes &&
	       library->mig_mode(board, &current, &pending) == VENDOR_OK && current == 1;
}

/* ---- the board ---- */

/* The size of its largest profile is the limit for all instances together. */
static unsigned count_multiprocessors(const struct nvml_library *library, vendor_device board)
{
	struct nvml_profile profile;
	unsigned most = 0;

	for (unsigned i = 0; library->profile && i < NVML_PROFILES_MAX; i++) {
		if (library->profile(board, i, &profile) == VENDOR_OK &&
		    profile.multiprocessors > most)
			most = profile.multiprocessors;
	}
	return most;
}

static bool supports_gpm(const struct nvml_library *library, vendor_device board)
{
	struct nvml_gpm_support support = { .version = NVML_GPM_VERSION };

	return library->gpm_support && library->gpm_sample_alloc && library->gpm_sample_free &&
	       library->gpm_mig_sample && library->gpm_metrics &&
	       library->gpm_support(board, &support) == VENDOR_OK && support.is_supported;
}

static void ask_board(const struct nvml_library *library, vendor_device board, struct nvml_mig *mig)
{
	if (mig->was_asked)
		return;
	mig->was_asked = true;
	mig->has_gpm = supports_gpm(library, board);
	mig->multiprocessors = count_multiprocessors(library, board);
}

/* ---- the search ---- */

static struct found *find(struct search *search, uint32_t id)
{
	for (size_t i = 0; i < search->count; i++) {
		if (search->found[i].id == id)
			return &search->found[i];
	}
	if (search->count == NVML_INSTANCES_MAX)
		return NULL;
	search->found[search->count] = (struct found){ .id = id };
	return &search->found[search->count++];
}

static uint32_t held_of(const struct nvml_mig *mig, unsigned slices)
{
	if (slices >= mig->slices)
		return DEVICE_WHOLE;
	return DEVICE_WHOLE / mig->slices * slices;
}

static void take_device(const struct nvml_library *library, vendor_device device,
			struct nvml_mig *mig, struct search *search)
{
	struct nvml_mig_device *entry = &mig->devices[mig->device_count];
	struct nvml_attributes attributes;
	char uuid[VENDOR_UUID_MAX];
	struct found *found;
	unsigned id;

	if (library->gpu_instance_id(device, &id) != VENDOR_OK ||
	    library->attributes(device, &attributes) != VENDOR_OK)
		return;
	found = find(search, id);
	if (!found)
		return;
	found->slices = attributes.gpu_slices;
	found->multiprocessors += attributes.multiprocessors;
	found->compute_slices += attributes.compute_slices;
	*entry = (struct nvml_mig_device){ .device = device,
					   .instance = id,
					   .held = held_of(mig, attributes.compute_slices) };
	if (library->common.device_uuid(device, uuid, sizeof(uuid)) == VENDOR_OK &&
	    strlen(uuid) < sizeof(entry->uuid))
		memcpy(entry->uuid, uuid, strlen(uuid) + 1);
	mig->device_count++;
}

static void find_devices(const struct nvml_library *library, vendor_device board,
			 struct nvml_mig *mig, struct search *search)
{
	vendor_device device;
	unsigned most = 0;

	mig->device_count = 0;
	if (library->mig_devices_max(board, &most) != VENDOR_OK || !most)
		return;
	mig->slices = most < NVML_INSTANCES_MAX ? most : NVML_INSTANCES_MAX;
	for (unsigned i = 0; i < mig->slices; i++) {
		if (library->mig_device_by_index(board, i, &device) == VENDOR_OK)
			take_device(library, device, mig, search);
	}
}

/* ---- instances ---- */

/* If compute instances do not fill it, activity still refers to all of it. */
static double part_of(const struct nvml_mig *mig, const struct found *found)
{
	double part = 0;

	if (mig->multiprocessors && found->compute_slices)
		part = (double)found->multiprocessors * found->slices / found->compute_slices /
		       mig->multiprocessors;
	else if (mig->slices)
		part = (double)found->slices / mig->slices;
	return fmin(part, 1);
}

static void forget(const struct nvml_library *library, struct nvml_instance *instance)
{
	if (instance->before)
		(void)library->gpm_sample_free(instance->before);
	if (instance->now)
		(void)library->gpm_sample_free(instance->now);
}

/* Those that are there still keep their samples. */
static void update(const struct nvml_library *library, struct nvml_mig *mig,
		   const struct search *search)
{
	struct nvml_instance known[NVML_INSTANCES_MAX];
	size_t known_count = mig->count;

	memcpy(known, mig->instances, sizeof(known));
	mig->count = search->count;
	for (size_t i = 0; i < search->count; i++) {
		const struct found *found = &search->found[i];
		struct nvml_instance *instance = &mig->instances[i];

		*instance = (struct nvml_instance){ .id = found->id,
						    .part = part_of(mig, found),
						    .held = held_of(mig, found->slices) };
		for (size_t k = 0; k < known_count; k++) {
			if (known[k].id != instance->id || known[k].held != instance->held)
				continue;
			*instance = known[k];
			known[k] = known[--known_count];
			break;
		}
		instance->activity = (double)NAN;
	}
	for (size_t k = 0; k < known_count; k++)
		forget(library, &known[k]);
}

static double activity_between(const struct nvml_library *library, nvml_gpm_sample from,
			       nvml_gpm_sample to)
{
	struct nvml_gpm_request request = {
		.version = NVML_GPM_VERSION,
		.count = ARRAY_SIZE(request.metrics),
		.from = from,
		.to = to,
		.metrics = { { .id = NVML_GPM_SM_UTIL }, { .id = NVML_GPM_GRAPHICS_UTIL } },
	};

	if (library->gpm_metrics(&request) != VENDOR_OK)
		return (double)NAN;
	for (size_t i = 0; i < ARRAY_SIZE(request.metrics); i++) {
		const struct nvml_gpm_metric *metric = &request.metrics[i];

		if (metric->result == VENDOR_OK && metric->value >= 0 &&
		    metric->value <= PER_CENT_MAX)
			return fmin(metric->value / 100, 1);
	}
	return (double)NAN;
}

static void sample(const struct nvml_library *library, vendor_device board,
		   struct nvml_instance *instance)
{
	nvml_gpm_sample now;

	if ((!instance->before && library->gpm_sample_alloc(&instance->before) != VENDOR_OK) ||
	    (!instance->now && library->gpm_sample_alloc(&instance->now) != VENDOR_OK))
		return;
	now = instance->now;
	if (library->gpm_mig_sample(board, instance->id, now) != VENDOR_OK) {
		instance->has_before = false;
		return;
	}
	if (instance->has_before)
		instance->activity = activity_between(library, instance->before, now);
	instance->now = instance->before;
	instance->before = now;
	instance->has_before = true;
}

void nvml_mig_read(const struct nvml_library *library, vendor_device board, struct nvml_mig *mig)
{
	struct search search = { .count = 0 };

	ask_board(library, board, mig);
	find_devices(library, board, mig, &search);
	update(library, mig, &search);
	for (size_t i = 0; mig->has_gpm && i < mig->count; i++)
		sample(library, board, &mig->instances[i]);
}

void nvml_mig_clear(const struct nvml_library *library, struct nvml_mig *mig)
{
	for (size_t i = 0; i < mig->count; i++)
		forget(library, &mig->instances[i]);
	*mig = (struct nvml_mig){ .count = 0 };
}

uint64_t nvml_instance_busy_ns(const struct nvml_instance *instance, uint64_t elapsed_ns,
			       uint64_t board_busy_ns, bool has_processes)
{
	if (!isnan(instance->activity))
		return (uint64_t)((double)elapsed_ns * instance->part * instance->activity);
	return has_processes ? (uint64_t)((double)board_busy_ns * instance->part) : 0;
}

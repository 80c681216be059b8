/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the kernel's data about DRM clients to the time for which each process kept the board busy.
 * Pure.
 *
 * The time of a process is the time of its busiest engine: the sum over all its clients on one
 * engine, divided by the number of such engines. A process that copies while it computes is busy
 * once. No driver reports the power of an engine, so no engine counts more than another; NVML's
 * boards are treated the same way (gpu/nvml_use.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "energy/work.h"
#include "gpu/drm_fdinfo.h"

/* One client, from one reading to the next. All 0: it has not been read yet. */
struct drm_client {
	bool is_known;
	uint64_t client_id; /* while it is known */
	/* By the engine's place in struct drm_use. */
	uint64_t busy_ns[DRM_ENGINES_MAX], cycles[DRM_ENGINES_MAX], total_cycles[DRM_ENGINES_MAX];
};

struct drm_process {
	uint32_t pid;
	uint64_t busy_ns[DRM_ENGINES_MAX];
};

/* One board, and what used it in the time between two readings of it. */
struct drm_use {
	char engines[DRM_ENGINES_MAX][DRM_ENGINE_NAME_MAX]; /* as they were first seen */
	size_t engine_count;
	uint64_t elapsed_ns;
	struct drm_process *processes;
	size_t count, size;
	struct map by_pid;
};

void drm_use_release(struct drm_use *use);
/* A reading begins, @elapsed_ns after the one before; 0: it is the first. */
void drm_use_begin(struct drm_use *use, uint64_t elapsed_ns);
/*
 * Adds the use of @client, of process @pid, since its last reading. The first time this is nothing,
 * unless it @is_new: then it was opened after the previous reading. With another client id, or a
 * counter that has fallen, counting starts again. 0 or -ENOMEM: the time is lost.
 */
int drm_use_add(struct drm_use *use, struct drm_client *client, uint32_t pid,
		const struct drm_fdinfo *info, bool is_new);
/* Writes a use for each process that was busy, drm_use::count at most; returns how many. */
size_t drm_use_list(const struct drm_use *use, uint32_t device, struct device_use *ret);

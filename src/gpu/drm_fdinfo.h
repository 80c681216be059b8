/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's data about one open DRM file in /proc/PID/fdinfo/FD (Linux:
 * Documentation/gpu/drm-usage-stats.rst). Pure.
 *
 * The driver reports how long each engine, or class of engines, has worked for the client since the
 * file was opened: in ns, or in cycles of the GPU together with all cycles of that time. A driver
 * may leave an engine out until the client has used it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DRM_ENGINES_MAX     16
#define DRM_ENGINE_NAME_MAX 32
#define DRM_DRIVER_MAX      32
#define DRM_ADDRESS_MAX     32
#define DRM_FDINFO_MAX      8192 /* of a text; xe with all memory regions has 2 KiB */

struct drm_engine {
	char name[DRM_ENGINE_NAME_MAX]; /* "render", "gfx", "rcs" */
	bool has_busy_ns;
	bool has_cycles; /* both of them */
	uint64_t busy_ns;
	uint64_t cycles, total_cycles;
	uint64_t capacity; /* how many engines of the class there are, 1 or more */
};

struct drm_fdinfo {
	char driver[DRM_DRIVER_MAX];
	char address[DRM_ADDRESS_MAX]; /* "0000:03:00.0"; "" where it is no PCI device */
	uint64_t client_id;            /* two files with the same id and address are one client */
	struct drm_engine engines[DRM_ENGINES_MAX]; /* with ns or cycles */
	size_t engine_count;
	size_t beyond; /* engines for which there is no room */
};

/*
 * 0, or -ENODATA: it is no DRM file, or its driver gives no client id, without which a copy of the
 * descriptor would count twice. Lines that are malformed are as if they were missing.
 */
int drm_fdinfo_parse(const char *text, size_t len, struct drm_fdinfo *ret);

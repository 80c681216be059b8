// SPDX-License-Identifier: Apache-2.0
/* /proc/PID/fdinfo/FD of a DRM file, twice: the use between the first half and the second. */
#include <stdlib.h>
#include <string.h>

#include "gpu/drm_fdinfo.h"
#include "gpu/drm_use.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct drm_fdinfo *info)
{
	if (info->engine_count > DRM_ENGINES_MAX || !info->driver[0])
		abort();
	for (size_t i = 0; i < info->engine_count; i++) {
		const struct drm_engine *engine = &info->engines[i];

		if (!engine->capacity || !engine->name[0] ||
		    !(engine->has_busy_ns || engine->has_cycles))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *half = text + size / 2;
	struct drm_use use = { 0 };
	struct drm_client client = { 0 };
	struct drm_fdinfo info;
	struct device_use used;

	if (drm_fdinfo_parse(text, size, &info) == 0)
		check(&info);
	drm_use_begin(&use, 1000000000);
	for (int i = 0; i < 2; i++) {
		if (drm_fdinfo_parse(i ? half : text, i ? size - size / 2 : size / 2, &info) < 0)
			continue;
		check(&info);
		(void)drm_use_add(&use, &client, 10, &info, !i);
	}
	if (drm_use_list(&use, 0, &used) > 1)
		abort();
	drm_use_release(&use);
	return 0;
}

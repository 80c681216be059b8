// SPDX-License-Identifier: Apache-2.0
#include "truth/meter_list.h"

#include <errno.h>
#include <stdio.h>

#include "base/timed_call.h"

void truth_meter_release(struct truth_meter *meter)
{
	if (meter->release)
		meter->release(meter->state);
	meter->release = NULL;
}

void truth_search_failed(struct truth *truth, const char *place, int r)
{
	(void)diag_set(&truth->failure, r, "%s: %s", place, timed_call_error(r));
	char *stalled = truth->is_searching_gpus ? truth->gpu_stalled : truth->stalled;
	if (r == -ETIMEDOUT && !*stalled)
		(void)snprintf(stalled, TRUTH_PATH_MAX, "%s", place);
}

void truth_add_meter(struct truth *truth, const char *kind, const char *path,
		     const struct truth_meter *like)
{
	struct truth_meter meter = *like;

	(void)snprintf(meter.kind, sizeof(meter.kind), "%s", kind);
	int len = snprintf(meter.path, sizeof(meter.path), "%s", path);
	if (truth->meter_count == TRUTH_METERS_MAX || (size_t)len >= sizeof(meter.path)) {
		truth_meter_release(&meter);
		truth->left_out++;
		return;
	}
	truth->meters[truth->meter_count++] = meter;
}

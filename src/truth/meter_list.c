// SPDX-License-Identifier: Apache-2.0
#include "truth/meter_list.h"

#include <stdio.h>
#include <unistd.h>

void truth_meter_release(struct truth_meter *meter)
{
	if (meter->fd >= 0)
		(void)close(meter->fd);
	if (meter->release)
		meter->release(meter->state);
	meter->fd = -1;
	meter->release = NULL;
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

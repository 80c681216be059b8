// SPDX-License-Identifier: Apache-2.0
#include "kepler/vm_picture.h"

#include <math.h>

#include "model/platform_power.h"
#include "model/vm_share.h"

static bool is_of_vm(const struct zone *zone)
{
	return zone->scope == SCOPE_VM_DYNAMIC;
}

void vm_picture_self(const struct model_meter *models, const struct estimated_meter *estimate,
		     struct snapshot_self *self)
{
	const double unknown = (double)NAN;
	struct vm_share share = { unknown, unknown, unknown, unknown };
	struct machine_facts facts;

	if (models && model_meter_count(models) && is_of_vm(model_meter_zone(models, 0)))
		model_meter_vm_share(models, 0, &share);
	else if (estimate && is_of_vm(estimated_meter_zone(estimate)))
		estimated_meter_facts(estimate, &facts, &share);
	self->vm_host_share_ratio = share.share;
	self->vm_load_low = share.load_low;
	self->vm_load_high = share.load_high;
}

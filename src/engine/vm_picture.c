// SPDX-License-Identifier: Apache-2.0
#include "engine/vm_picture.h"

#include <math.h>
#include <stdio.h>

#include "model/cpu_name.h"
#include "model/platform_power.h"
#include "model/vm_share.h"

static bool is_of_vm(const struct zone *zone)
{
	return zone->scope == SCOPE_VM_DYNAMIC;
}

const char *vm_picture_cpus_source(const struct host_info *host, bool by_model)
{
	struct cpu_name name;

	if (host->vm_host_cpus)
		return host->vm_cpus_by_type ? "instance_type" : "option";
	if (by_model)
		return "model";
	cpu_name_read(host->cpu_model, &name);
	return name.cores ? "processor" : "typical";
}

void vm_picture_self(const struct model_meter *models, const struct estimated_meter *estimate,
		     const struct host_info *host, struct snapshot_self *self)
{
	const double unknown = (double)NAN;
	struct vm_share share = { unknown, unknown, unknown, unknown };
	bool by_model =
		models && model_meter_count(models) && is_of_vm(model_meter_zone(models, 0));
	struct machine_facts facts;

	if (by_model)
		model_meter_vm_share(models, 0, &share);
	else if (estimate && is_of_vm(estimated_meter_zone(estimate)))
		estimated_meter_facts(estimate, &facts, &share);
	(void)snprintf(self->vm_host_cpus_source, sizeof(self->vm_host_cpus_source), "%s",
		       host ? vm_picture_cpus_source(host, by_model) : "");
	self->vm_host_share_ratio = share.share;
	self->vm_load_low = share.load_low;
	self->vm_load_high = share.load_high;
}

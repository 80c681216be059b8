// SPDX-License-Identifier: Apache-2.0
#include "base/macro.h"
#include "units/units.h"

#define UNIT(member) HEALTH_VALUE(struct unit_health, member)
#define UNITS        HEALTH_ARRAY(struct units_health, units, count)

static const struct health_label unit[] = { { "unit", offsetof(struct unit_health, unit) }, { 0 } };

static const struct health_metric metrics[] = {
	{ .name = "kepler_exporter_unit_pods",
	  .type = FAMILY_GAUGE,
	  .value = UNIT(pods),
	  .labels = unit,
	  .array = UNITS,
	  .help = "Pods whose counter of the unit was read in the last round." },
	{ .name = "kepler_exporter_unit_reads",
	  .type = FAMILY_COUNTER,
	  .value = UNIT(reads),
	  .labels = unit,
	  .array = UNITS,
	  .help = "Readings of the unit's counter: of each pod, or of a Prometheus." },
	{ .name = "kepler_exporter_unit_failures",
	  .type = FAMILY_COUNTER,
	  .value = UNIT(failures),
	  .labels = unit,
	  .array = UNITS,
	  .help = "Readings of the unit's counter that failed." },
	{ .name = "kepler_exporter_unit_pods_beyond",
	  .type = FAMILY_COUNTER,
	  .value = HEALTH_VALUE(struct units_health, beyond),
	  .help = "Times that a pod of a unit was left out because there were too many." },
};

static bool fill(const void *owner, void *ret)
{
	/* The owner of a part is read only, but the lock of this one is taken. */
	struct units *const *units = owner;

	if (!*units)
		return false;
	units_get_health(*units, ret);
	return true;
}

const struct health_part units_health_part = { .size = sizeof(struct units_health),
					       .fill = fill,
					       .metrics = metrics,
					       .metric_count = ARRAY_SIZE(metrics) };

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates of packages and memory in addition to the estimate of the whole machine: the component
 * model (model/component_power.h) computes the watts of the zones package and dram from the facts
 * and the utilisation of the platform's estimate.
 */
#pragma once

#include <stdint.h>

#include "estimate/zone_source.h"
#include "model/component_power.h"

/*
 * Estimates @parts, a set of COMPONENT_BIT()s, of the machine of @platform (platform_estimate.h),
 * which is borrowed and must live longer. 0 or -ENOMEM.
 */
int component_estimate_new(const struct component_model *model, const struct zone_source *platform,
			   uint32_t parts, struct zone_source **ret);
/* The estimated power of the machine, or of a VM's typical host, at @utilisation. */
void component_estimate_power(const struct zone_source *source, double utilisation,
			      struct power_estimate ret[static COMPONENT_COUNT]);

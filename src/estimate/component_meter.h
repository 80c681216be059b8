/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stand-in for packages and memory, beside that for the whole machine (meter.h): zones package
 * and dram whose watts the component model estimates of the same facts and the same utilisation.
 * It is fed, not read. In a virtual machine it is the machine's share of its typical host's
 * dynamic power, as the platform's estimate is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "energy/span.h"
#include "energy/zone.h"
#include "estimate/estimated_meter.h"
#include "estimate/model_meter.h"
#include "model/component_power.h"

struct component_meter;

/*
 * Estimates @parts, of which it has the bits, of the machine of @estimate, which is borrowed and
 * must live longer. 0 or -ENOMEM.
 */
int component_meter_new(const struct component_model *model, const struct estimated_meter *estimate,
			uint32_t parts, struct component_meter **ret);
void component_meter_free(struct component_meter *meter);
/* Zones: of the parts that were asked for; 0 of NULL. */
size_t component_meter_count(const struct component_meter *meter);
const struct zone *component_meter_zone(const struct component_meter *meter, size_t index);
/*
 * As estimated_meter_advance(), of all zones at once: @ret [component_meter_count()], without
 * their index.
 */
bool component_meter_advance(struct component_meter *meter, uint64_t now_ns, uint64_t busy_ns,
			     struct energy_span *ret);
/* Of zone @index, as estimated_meter_state(). */
void component_meter_state(const struct component_meter *meter, size_t index,
			   struct model_state *ret);
/* What the machine, or a VM's typical host, is estimated to draw at @utilisation. */
void component_meter_estimate(const struct component_meter *meter, double utilisation,
			      struct power_estimate ret[static COMPONENT_COUNT]);

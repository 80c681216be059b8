// SPDX-License-Identifier: Apache-2.0
#include "estimate/component_meter.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "meter/power_integral.h"
#include "model/vm_share.h"

struct component_zone {
	struct zone zone;
	enum component component;
	struct power_integral idle, dynamic;
	struct vm_point power; /* of the last interval: all of it, of a VM dynamic power */
	bool outside;          /* the model's population, then */
};

struct component_meter {
	const struct component_model *model;
	const struct estimated_meter *estimate;
	struct component_zone zones[COMPONENT_COUNT];
	size_t zone_count;
	bool started, has_estimate;
	uint64_t last_ns;
};

static const enum zone_kind kinds[COMPONENT_COUNT] = {
	[COMPONENT_PACKAGE] = ZONE_PACKAGE,
	[COMPONENT_DRAM] = ZONE_DRAM,
};

/* As the platform's, but for what it is of. */
static void add_zone(struct component_meter *meter, enum component component)
{
	struct component_zone *added = &meter->zones[meter->zone_count++];

	added->component = component;
	added->zone = *estimated_meter_zone(meter->estimate);
	added->zone.kind = kinds[component];
	(void)snprintf(added->zone.path, sizeof(added->zone.path), "%s", meter->model->name);
}

int component_meter_new(const struct component_model *model, const struct estimated_meter *estimate,
			uint32_t parts, struct component_meter **ret)
{
	struct component_meter *meter = calloc(1, sizeof(*meter));

	if (!meter)
		return -ENOMEM;
	meter->model = model;
	meter->estimate = estimate;
	for (enum component c = 0; c < COMPONENT_COUNT; c++) {
		if (parts & COMPONENT_BIT(c))
			add_zone(meter, c);
	}
	*ret = meter;
	return 0;
}

void component_meter_free(struct component_meter *meter)
{
	free(meter);
}

size_t component_meter_count(const struct component_meter *meter)
{
	return meter ? meter->zone_count : 0;
}

const struct zone *component_meter_zone(const struct component_meter *meter, size_t index)
{
	return &meter->zones[index].zone;
}

void component_meter_estimate(const struct component_meter *meter, double utilisation,
			      struct power_estimate ret[static COMPONENT_COUNT])
{
	struct machine_facts facts;
	struct vm_share share;

	estimated_meter_facts(meter->estimate, &facts, &share);
	if (!estimated_meter_knows_design_power(meter->estimate))
		facts.cpu.tdp_w = 0;
	component_power_estimate(meter->model->weights, estimated_meter_model(meter->estimate),
				 &facts, utilisation, ret);
}

/*
 * The machine's part of its host at each load of its neighbours, as the platform's. That of dynamic
 * power is taken to be as uncertain as all of it.
 */
static void estimate_vm(const struct component_meter *meter, double utilisation,
			struct vm_point ret[static COMPONENT_COUNT])
{
	struct vm_point points[COMPONENT_COUNT][VM_SHARE_LOADS];
	struct power_estimate host[COMPONENT_COUNT];
	struct machine_facts facts;
	struct vm_share share;

	memset(ret, 0, COMPONENT_COUNT * sizeof(*ret));
	if (!(utilisation > 0))
		return;
	estimated_meter_facts(meter->estimate, &facts, &share);
	for (size_t i = 0; i < VM_SHARE_LOADS; i++) {
		double ratio = vm_share_ratio(&share, utilisation, i);

		component_meter_estimate(meter, share.share * utilisation * ratio, host);
		for (size_t c = 0; c < COMPONENT_COUNT; c++)
			points[c][i] = (struct vm_point){ host[c].dynamic_w / ratio,
							  host[c].bound_w / ratio };
	}
	for (size_t c = 0; c < COMPONENT_COUNT; c++)
		vm_share_combine(&share, points[c], &ret[c]);
}

static void integrate(struct component_meter *meter, uint64_t dt_ns, uint64_t busy_ns,
		      struct energy_span *spans)
{
	double utilisation =
		fmin(1, (double)busy_ns / ((double)dt_ns * estimated_meter_cpus(meter->estimate)));
	struct power_estimate whole[COMPONENT_COUNT];
	struct vm_point parts[COMPONENT_COUNT];

	component_meter_estimate(meter, utilisation, whole);
	estimate_vm(meter, utilisation, parts);
	for (size_t i = 0; i < meter->zone_count; i++) {
		struct component_zone *zone = &meter->zones[i];
		const struct power_estimate *power = &whole[zone->component];
		double dynamic_w = power->dynamic_w;

		zone->outside = power->outside;
		zone->power = (struct vm_point){ power->idle_w + dynamic_w, power->bound_w };
		if (!zone->zone.knows_idle) {
			zone->power = parts[zone->component];
			dynamic_w = zone->power.watts;
		}
		spans[i].energy_uj =
			power_integral_add(&zone->dynamic, power_microwatts(dynamic_w), dt_ns);
		if (zone->zone.knows_idle)
			spans[i].idle_uj = power_integral_add(
				&zone->idle, power_microwatts(power->idle_w), dt_ns);
		spans[i].energy_uj += spans[i].idle_uj;
	}
	meter->has_estimate = true;
}

bool component_meter_advance(struct component_meter *meter, uint64_t now_ns, uint64_t busy_ns,
			     struct energy_span *ret)
{
	const struct energy_span span = {
		.known = meter->started,
		.from_ns = meter->last_ns,
		.to_ns = now_ns,
	};

	if (meter->started && now_ns <= meter->last_ns)
		return false;
	for (size_t i = 0; i < meter->zone_count; i++)
		ret[i] = span;
	if (meter->started)
		integrate(meter, now_ns - meter->last_ns, busy_ns, ret);
	meter->started = true;
	meter->last_ns = now_ns;
	return true;
}

void component_meter_state(const struct component_meter *meter, size_t index,
			   struct model_state *ret)
{
	const struct component_zone *zone = &meter->zones[index];

	*ret = (struct model_state){
		.model = meter->model->name,
		.features = "bpf_cpu_time_ms",
		.machine = "",
		.output = zone->zone.knows_idle ? "AbsPower" : "DynPower",
		.has_estimate = meter->has_estimate,
		.error_w = meter->has_estimate ? zone->power.bound_w : (double)NAN,
		.outside = zone->outside,
	};
}

// SPDX-License-Identifier: Apache-2.0
#include "estimate/component_estimate.h"

#include <errno.h>
#include <stdlib.h>

#include "estimate/platform_estimate.h"

struct component_estimate {
	struct zone_source base;
	const struct component_model *model;
	const struct zone_source *platform;
	struct component_curve curve;
	enum component component[COMPONENT_COUNT]; /* of each zone */
};

static const struct zone_source_ops component_ops;

static const enum zone_kind kinds[COMPONENT_COUNT] = {
	[COMPONENT_PACKAGE] = ZONE_PACKAGE,
	[COMPONENT_DRAM] = ZONE_DRAM,
};

static const struct component_estimate *components_of(const struct zone_source *source)
{
	return (const struct component_estimate *)source;
}

/* CPUs have changed: a virtual machine may assume another host. */
static void follow_cpus(struct zone_source *source)
{
	struct component_estimate *components = (struct component_estimate *)source;
	const struct zone_source *platform = components->platform;
	struct machine_facts facts;

	platform_estimate_facts(platform, &facts);
	if (!platform_estimate_knows_design_power(platform))
		facts.cpu.tdp_w = 0;
	component_curve_make(components->model->weights, platform_estimate_model(platform), &facts,
			     &components->curve);
}

int component_estimate_new(const struct component_model *model, const struct zone_source *platform,
			   uint32_t parts, struct zone_source **ret)
{
	struct component_estimate *components = calloc(1, sizeof(*components));

	if (!components)
		return -ENOMEM;
	zone_source_init(&components->base, &component_ops, platform->is_vm, platform->cpus);
	components->model = model;
	components->platform = platform;
	follow_cpus(&components->base);
	for (enum component c = 0; c < COMPONENT_COUNT; c++) {
		if (!(parts & COMPONENT_BIT(c)))
			continue;
		components->component[components->base.count] = c;
		(void)zone_source_add(&components->base, kinds[c], RANK_ESTIMATED, model->name);
	}
	*ret = &components->base;
	return 0;
}

static void release(struct zone_source *source)
{
	free(source);
}

void component_estimate_power(const struct zone_source *source, double utilisation,
			      struct power_estimate ret[static COMPONENT_COUNT])
{
	component_curve_at(&components_of(source)->curve, utilisation, ret);
}

static void power_at(const struct zone_source *source, size_t index, double utilisation,
		     struct zone_power *ret)
{
	struct power_estimate all[COMPONENT_COUNT], *power;

	component_estimate_power(source, utilisation, all);
	power = &all[components_of(source)->component[index]];
	*ret = (struct zone_power){ power->idle_w, power->dynamic_w, power->bound_w,
				    power->outside };
}

/* Dynamic power is assumed to be as uncertain as total power. */
static void vm_power_at(const struct zone_source *source, size_t index, const struct vm_load *load,
			struct zone_power *ret)
{
	power_at(source, index, load->share->share * load->utilisation * load->ratio, ret);
	*ret = (struct zone_power){ 0, ret->dynamic_w / load->ratio, ret->bound_w / load->ratio,
				    ret->outside };
}

static void share_of_host(const struct zone_source *source, size_t index, struct vm_share *ret)
{
	(void)index;
	zone_source_vm_share(components_of(source)->platform, 0, ret);
}

static void describe(const struct zone_source *source, size_t index, struct model_state *ret)
{
	(void)index;
	ret->model = components_of(source)->model->name;
}

static const struct zone_source_ops component_ops = {
	.power = power_at,
	.vm_power = vm_power_at,
	.vm_share = share_of_host,
	.describe = describe,
	.set_cpus = follow_cpus,
	.free = release,
};

// SPDX-License-Identifier: Apache-2.0
#include "estimate/platform_estimate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct platform_estimate {
	struct zone_source base;
	const struct power_model *model;
	struct machine_facts facts;        /* about the machine, or the VM's typical host */
	struct power_curve curve;          /* its power, by these facts */
	struct vm_hints hints;             /* about the VM's host */
	unsigned host_cores, host_sockets; /* of the VM's host; 0 unknown */
	struct vm_share share;             /* the VM's share of that host */
	bool knows_design_power;
};

static const struct zone_source_ops platform_ops;

static const struct platform_estimate *platform_of(const struct zone_source *source)
{
	return (const struct platform_estimate *)source;
}

static const char *vendor_name(const struct host_info *host)
{
	if (strcmp(host->cpu_vendor, "GenuineIntel") == 0)
		return "intel";
	if (strcmp(host->cpu_vendor, "AuthenticAMD") == 0 ||
	    strcmp(host->cpu_vendor, "HygonGenuine") == 0)
		return "amd";
	if (strcmp(host->machine, "aarch64") == 0)
		return "arm";
	return "";
}

/*
 * A VM's vCPUs as a share of a typical host with its CPU. A VM that is larger than that host is
 * assumed to have a host of its own size.
 */
static void set_vm_facts(struct platform_estimate *platform)
{
	struct machine_facts host = { .year = platform->facts.year, .cpu = platform->facts.cpu };
	unsigned cpus = platform->base.cpus;

	memcpy(host.vendor, platform->facts.vendor, sizeof(host.vendor));
	host.threads = platform->hints.host_cpus;
	host.cores = platform->host_cores;
	host.sockets = platform->host_sockets;
	power_model_complete_facts(platform->model, &host, &host);
	if (cpus > host.threads) {
		host.cores = 0;
		host.sockets = 0;
		host.memory_gib = 0;
		host.threads = cpus;
		power_model_complete_facts(platform->model, &host, &host);
	}
	platform->facts = host;
	vm_share_init(&platform->share, cpus, host.threads, &platform->hints);
}

static void set_facts(struct platform_estimate *platform, const struct host_info *host)
{
	struct machine_facts *facts = &platform->facts;

	*facts = (struct machine_facts){
		.cores = host->cores,
		.threads = host->cpus,
		.sockets = host->sockets,
		.year = host->cpu_year,
		.frequency_ghz = host->frequency_ghz,
		.memory_gib = host->memory_gib,
	};
	(void)snprintf(facts->vendor, sizeof(facts->vendor), "%s", vendor_name(host));
	cpu_name_read(host->cpu_model, &facts->cpu);
	platform->knows_design_power = facts->cpu.tdp_w > 0;
	if (host->is_vm)
		set_vm_facts(platform);
	power_curve_make(platform->model, facts, &platform->curve);
}

int platform_estimate_new(const struct power_model *model, const struct host_info *host,
			  struct zone_source **ret)
{
	struct platform_estimate *platform = calloc(1, sizeof(*platform));

	if (!platform)
		return -ENOMEM;
	zone_source_init(&platform->base, &platform_ops, host->is_vm, host->cpus);
	platform->model = model;
	platform->share = (struct vm_share){ .share = 1 };
	platform->hints =
		(struct vm_hints){ host->vm_host_cpus, host->vm_load_low, host->vm_load_high };
	platform->host_cores = host->vm_host_cores;
	platform->host_sockets = host->vm_host_sockets;
	set_facts(platform, host);
	(void)zone_source_add(&platform->base, ZONE_PLATFORM, RANK_ESTIMATED, model->name);
	*ret = &platform->base;
	return 0;
}

static void release(struct zone_source *source)
{
	free(source);
}

static void follow_cpus(struct zone_source *source)
{
	struct platform_estimate *platform = (struct platform_estimate *)source;

	if (!source->is_vm)
		return;
	set_vm_facts(platform);
	power_curve_make(platform->model, &platform->facts, &platform->curve);
}

const struct power_model *platform_estimate_model(const struct zone_source *source)
{
	return platform_of(source)->model;
}

bool platform_estimate_knows_design_power(const struct zone_source *source)
{
	return platform_of(source)->knows_design_power;
}

void platform_estimate_facts(const struct zone_source *source, struct machine_facts *ret)
{
	const struct platform_estimate *platform = platform_of(source);

	power_model_complete_facts(platform->model, &platform->facts, ret);
}

static void share_of_host(const struct zone_source *source, size_t index, struct vm_share *ret)
{
	(void)index;
	*ret = platform_of(source)->share;
}

static void power_at(const struct zone_source *source, size_t index, double utilisation,
		     struct zone_power *ret)
{
	struct power_estimate power;

	(void)index;
	power_curve_at(&platform_of(source)->curve, utilisation, &power);
	*ret = (struct zone_power){ power.idle_w, power.dynamic_w, power.bound_w, power.outside };
}

static void vm_power_at(const struct zone_source *source, size_t index, const struct vm_load *load,
			struct zone_power *ret)
{
	struct power_estimate host;

	(void)index;
	power_curve_at(&platform_of(source)->curve,
		       load->share->share * load->utilisation * load->ratio, &host);
	*ret = (struct zone_power){ 0, host.dynamic_w / load->ratio,
				    host.dynamic_bound_w / load->ratio, host.outside };
}

static void describe(const struct zone_source *source, size_t index, struct model_state *ret)
{
	(void)index;
	ret->model = platform_of(source)->model->name;
}

static const struct zone_source_ops platform_ops = {
	.power = power_at,
	.vm_power = vm_power_at,
	.vm_share = share_of_host,
	.describe = describe,
	.set_cpus = follow_cpus,
	.free = release,
};

// SPDX-License-Identifier: Apache-2.0
/*
 * The stand-in meter: the model's watts, integrated over measured time in whole µJ. Time is
 * MONOTONIC: while the machine sleeps it stands still, and no energy is invented.
 *
 * A virtual machine sees only its own CPUs, and cannot claim the host's idle power. Its estimate is
 * its part of the dynamic power of a typical host of that CPU, at all loads that its neighbours can
 * have (model/vm_share.h).
 */
#include "estimate/estimated_meter.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "meter/power_integral.h"
#include "model/vm_full.h"

struct estimated_meter {
	const struct power_model *model;
	struct zone zone;
	struct machine_facts facts;        /* of the machine, or of the VM's typical host */
	struct vm_hints hints;             /* of the VM's host */
	unsigned host_cores, host_sockets; /* likewise; 0 unknown */
	struct vm_share share;  /* of that machine's power that is ours; all of it on metal */
	struct vm_full full;    /* whether that host is full */
	struct vm_point answer; /* the last one: dynamic power of a VM */
	unsigned cpus;          /* logical CPUs that busy time is spread over */
	bool knows_design_power;
	bool started;
	uint64_t last_ns;
	struct power_integral idle;
	struct power_integral dynamic;
	struct power_estimate power; /* the last one, of the machine of `facts` */
	bool has_estimate;
};

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
 * A VM's vCPUs as a share of a typical host of its CPU; a VM that is larger than that has a host of
 * its own size.
 */
static void set_vm_facts(struct estimated_meter *meter, const struct machine_facts *facts)
{
	struct machine_facts host = { .year = facts->year, .cpu = facts->cpu };

	memcpy(host.vendor, facts->vendor, sizeof(host.vendor));
	host.threads = meter->hints.host_cpus;
	host.cores = meter->host_cores;
	host.sockets = meter->host_sockets;
	power_model_complete_facts(meter->model, &host, &host);
	if (meter->cpus > host.threads) {
		host.cores = 0;
		host.sockets = 0;
		host.memory_gib = 0;
		host.threads = meter->cpus;
		power_model_complete_facts(meter->model, &host, &host);
	}
	meter->facts = host;
	vm_share_init(&meter->share, meter->cpus, host.threads, &meter->hints);
}

static void set_facts(struct estimated_meter *meter, const struct host_info *host)
{
	struct machine_facts facts = {
		.cores = host->cores,
		.threads = host->cpus,
		.sockets = host->sockets,
		.year = host->cpu_year,
		.frequency_ghz = host->frequency_ghz,
		.memory_gib = host->memory_gib,
	};

	(void)snprintf(facts.vendor, sizeof(facts.vendor), "%s", vendor_name(host));
	cpu_name_read(host->cpu_model, &facts.cpu);
	meter->knows_design_power = facts.cpu.tdp_w > 0;
	if (host->is_vm) {
		set_vm_facts(meter, &facts);
	} else {
		meter->facts = facts;
		meter->share = (struct vm_share){ .share = 1 };
	}
}

int estimated_meter_new(const struct power_model *model, const struct host_info *host,
			struct estimated_meter **ret)
{
	struct estimated_meter *meter = calloc(1, sizeof(*meter));
	struct zone *zone;

	if (!meter)
		return -ENOMEM;
	meter->model = model;
	meter->cpus = host->cpus ? host->cpus : 1;
	meter->hints =
		(struct vm_hints){ host->vm_host_cpus, host->vm_load_low, host->vm_load_high };
	meter->host_cores = host->vm_host_cores;
	meter->host_sockets = host->vm_host_sockets;
	set_facts(meter, host);
	meter->answer.bound_w = (double)NAN;
	zone = &meter->zone;
	*zone = (struct zone){
		.kind = ZONE_PLATFORM,
		.source = "trained_power_model",
		.quality = QUALITY_ESTIMATED,
		.rank = RANK_ESTIMATED,
		.scope = host->is_vm ? SCOPE_VM_DYNAMIC : SCOPE_NODE,
		.knows_idle = !host->is_vm,
	};
	(void)snprintf(zone->path, sizeof(zone->path), "%s", model->name);
	*ret = meter;
	return 0;
}

void estimated_meter_free(struct estimated_meter *meter)
{
	free(meter);
}

const struct zone *estimated_meter_zone(const struct estimated_meter *meter)
{
	return &meter->zone;
}

void estimated_meter_set_cpus(struct estimated_meter *meter, unsigned cpus)
{
	const struct machine_facts facts = meter->facts;

	meter->cpus = cpus ? cpus : 1;
	if (meter->zone.scope == SCOPE_VM_DYNAMIC)
		set_vm_facts(meter, &facts);
}

unsigned estimated_meter_cpus(const struct estimated_meter *meter)
{
	return meter->cpus;
}

const struct power_model *estimated_meter_model(const struct estimated_meter *meter)
{
	return meter->model;
}

bool estimated_meter_knows_design_power(const struct estimated_meter *meter)
{
	return meter->knows_design_power;
}

void estimated_meter_facts(const struct estimated_meter *meter, struct machine_facts *ret_facts,
			   struct vm_share *ret_share)
{
	power_model_complete_facts(meter->model, &meter->facts, ret_facts);
	*ret_share = meter->share;
}

/* The machine's part of its host at each load of its neighbours. */
static void estimate_vm(const struct estimated_meter *meter, double utilisation,
			struct vm_point *ret)
{
	struct vm_point points[VM_SHARE_LOADS];
	struct power_estimate host;
	double ratio;

	*ret = (struct vm_point){ 0 };
	if (!(utilisation > 0))
		return;
	for (size_t i = 0; i < VM_SHARE_LOADS; i++) {
		ratio = vm_share_ratio(&meter->share, utilisation, i);
		power_model_estimate(meter->model, &meter->facts,
				     meter->share.share * utilisation * ratio, &host);
		points[i].watts = host.dynamic_w / ratio;
		points[i].bound_w = host.dynamic_bound_w / ratio;
	}
	vm_share_combine(&meter->share, points, ret);
}

static void integrate(struct estimated_meter *meter, uint64_t dt_ns, uint64_t busy_ns,
		      uint64_t waited_ns, struct energy_span *span)
{
	double utilisation = fmin(1, (double)busy_ns / ((double)dt_ns * meter->cpus));
	struct vm_waiting waiting = { dt_ns, busy_ns, waited_ns, meter->cpus, meter->share.share };
	struct power_estimate power;

	power_model_estimate(meter->model, &meter->facts, utilisation, &power);
	meter->power = power;
	meter->has_estimate = true;
	if (meter->zone.scope == SCOPE_VM_DYNAMIC) {
		meter->share.full = vm_full_add(&meter->full, &waiting);
		estimate_vm(meter, utilisation, &meter->answer);
		power.dynamic_w = meter->answer.watts;
	}
	span->energy_uj =
		power_integral_add(&meter->dynamic, power_microwatts(power.dynamic_w), dt_ns);
	if (meter->zone.knows_idle)
		span->idle_uj =
			power_integral_add(&meter->idle, power_microwatts(power.idle_w), dt_ns);
	span->energy_uj += span->idle_uj;
}

bool estimated_meter_advance(struct estimated_meter *meter, uint64_t now_ns, uint64_t busy_ns,
			     uint64_t waited_ns, struct energy_span *ret)
{
	struct energy_span span = {
		.known = meter->started,
		.from_ns = meter->last_ns,
		.to_ns = now_ns,
	};

	if (meter->started && now_ns <= meter->last_ns)
		return false;
	if (meter->started)
		integrate(meter, now_ns - meter->last_ns, busy_ns, waited_ns, &span);
	meter->started = true;
	meter->last_ns = now_ns;
	*ret = span;
	return true;
}

void estimated_meter_state(const struct estimated_meter *meter, struct model_state *ret)
{
	*ret = (struct model_state){
		.model = meter->model->name,
		.features = "bpf_cpu_time_ms",
		.machine = "",
		.output = meter->zone.knows_idle ? "AbsPower" : "DynPower",
		.has_estimate = meter->has_estimate,
		.error_w = meter->zone.scope == SCOPE_VM_DYNAMIC ? meter->answer.bound_w
			   : meter->has_estimate                 ? meter->power.bound_w
								 : (double)NAN,
		.outside = meter->power.outside,
	};
}

// SPDX-License-Identifier: Apache-2.0
/*
 * The stand-in meter: the model's watts, integrated over measured time in whole µJ. What does not
 * make a µJ is carried in µW·ns, so nothing drifts however short the intervals are. Time is
 * MONOTONIC: while the machine sleeps it stands still, and no energy is invented.
 *
 * A virtual machine sees only its own CPUs, and the host's idle power is not its to claim. Its
 * estimate is the dynamic power of a typical host of that CPU at the machine's own utilisation,
 * times the share of the host's logical CPUs that it has: as if all of the host did what this
 * machine does, so that the machines on a host add up to it.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "host/host.h"
#include "meter/meter.h"
#include "model/platform_power.h"

/* µW integrated over ns into µJ. */
struct integral {
	uint64_t energy_uj;
	uint64_t carry_uw_ns; /* < NSEC_PER_SEC */
};

struct estimated_meter {
	const struct power_model *model;
	struct zone zone;
	struct machine_facts facts; /* of the machine, or of the VM's typical host */
	double share;               /* of that machine's power that is ours */
	unsigned cpus;              /* logical CPUs that busy time is spread over */
	bool started;
	uint64_t last_ns;
	struct integral idle;
	struct integral dynamic;
	struct zone_reading reading;
};

static void integrate(struct integral *integral, double power_w, uint64_t dt_ns)
{
	uint64_t power_uw = (uint64_t)llround(power_w * 1e6);
	unsigned __int128 sum = (unsigned __int128)power_uw * dt_ns + integral->carry_uw_ns;

	integral->energy_uj += (uint64_t)(sum / NSEC_PER_SEC);
	integral->carry_uw_ns = (uint64_t)(sum % NSEC_PER_SEC);
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
 * A VM's vCPUs as a share of a typical host of its CPU; a VM that is larger than that has a host of
 * its own size.
 */
static void set_vm_facts(struct estimated_meter *meter, const struct machine_facts *facts)
{
	struct machine_facts host = { .year = facts->year };

	memcpy(host.vendor, facts->vendor, sizeof(host.vendor));
	power_model_complete_facts(meter->model, &host, &host);
	if (meter->cpus > host.threads) {
		host.cores = 0;
		host.sockets = 0;
		host.memory_gib = 0;
		host.threads = meter->cpus;
		power_model_complete_facts(meter->model, &host, &host);
	}
	meter->facts = host;
	meter->share = (double)meter->cpus / host.threads;
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
	if (host->is_vm) {
		set_vm_facts(meter, &facts);
	} else {
		meter->facts = facts;
		meter->share = 1;
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
	set_facts(meter, host);
	zone = &meter->zone;
	*zone = (struct zone){
		.kind = ZONE_PLATFORM,
		.source = "trained_power_model",
		.quality = QUALITY_ESTIMATED,
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

void estimated_meter_facts(const struct estimated_meter *meter, struct machine_facts *ret_facts,
			   double *ret_share)
{
	power_model_complete_facts(meter->model, &meter->facts, ret_facts);
	*ret_share = meter->share;
}

static void advance(struct estimated_meter *meter, uint64_t dt_ns, uint64_t busy_ns)
{
	double utilisation = (double)busy_ns / ((double)dt_ns * meter->cpus);
	struct power_estimate power;

	power_model_estimate(meter->model, &meter->facts, utilisation, &power);
	integrate(&meter->dynamic, power.dynamic_w * meter->share, dt_ns);
	if (meter->zone.knows_idle)
		integrate(&meter->idle, power.idle_w, dt_ns);
}

void estimated_meter_advance(struct estimated_meter *meter, uint64_t now_ns, uint64_t busy_ns,
			     struct zone_reading *ret)
{
	struct zone_reading *reading = &meter->reading;

	if (meter->started && now_ns > meter->last_ns)
		advance(meter, now_ns - meter->last_ns, busy_ns);
	if (!meter->started || now_ns > meter->last_ns)
		meter->last_ns = now_ns;
	meter->started = true;
	reading->state = ZONE_UP;
	reading->reads++;
	reading->time_ns = meter->last_ns;
	reading->idle_energy_uj = meter->idle.energy_uj;
	reading->energy_uj = meter->idle.energy_uj + meter->dynamic.energy_uj;
	*ret = *reading;
}

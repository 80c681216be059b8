// SPDX-License-Identifier: Apache-2.0
#include "estimate/zone_source.h"

#include <math.h>
#include <string.h>

void zone_source_init(struct zone_source *source, const struct zone_source_ops *ops, bool is_vm,
		      unsigned cpus)
{
	source->ops = ops;
	source->is_vm = is_vm;
	source->cpus = cpus ? cpus : 1;
}

struct estimated_zone *zone_source_add(struct zone_source *source, enum zone_kind kind,
				       uint8_t rank, const char *path)
{
	struct estimated_zone *added = &source->zones[source->count++];

	*added = (struct estimated_zone){
		.number = SIZE_MAX,
		.zone = { .kind = kind,
			  .source = "trained_power_model",
			  .quality = QUALITY_ESTIMATED,
			  .rank = rank,
			  .scope = source->is_vm ? SCOPE_VM_DYNAMIC : SCOPE_NODE,
			  .knows_idle = !source->is_vm },
	};
	memcpy(added->zone.path, path, strnlen(path, ZONE_PATH_MAX - 1));
	return added;
}

void zone_source_free(struct zone_source *source)
{
	if (source)
		source->ops->free(source);
}

size_t zone_source_count(const struct zone_source *source)
{
	return source ? source->count : 0;
}

const struct zone *zone_source_zone(const struct zone_source *source, size_t index)
{
	return &source->zones[index].zone;
}

void zone_source_set_cpus(struct zone_source *source, unsigned cpus)
{
	source->cpus = cpus ? cpus : 1;
	if (source->ops->set_cpus)
		source->ops->set_cpus(source);
}

uint32_t zone_source_signals(const struct zone_source *source)
{
	uint32_t signals = 0;

	for (size_t i = 0; i < source->count; i++)
		signals |= source->zones[i].needed;
	return signals;
}

/* The first zone's share of the host is taken: CPUs wait as a machine, not per zone. */
static void look_for_full_host(struct zone_source *source)
{
	struct vm_waiting waiting = { source->dt_ns, source->work.busy_ns, source->work.waited_ns,
				      source->cpus, 1 };
	struct vm_share share;

	if (source->count) {
		source->ops->vm_share(source, 0, &share);
		waiting.share = share.share;
	}
	source->full_probability = vm_full_add(&source->full, &waiting);
}

void zone_source_feed(struct zone_source *source, const struct node_work *work)
{
	bool is_later = !source->is_fed || work->time_ns > source->fed_ns;

	source->dt_ns = source->is_fed && is_later ? work->time_ns - source->fed_ns : 0;
	if (is_later)
		source->fed_ns = work->time_ns;
	source->is_fed = true;
	source->work = *work;
	if (source->is_vm && source->dt_ns)
		look_for_full_host(source);
	if (source->ops->take_work)
		source->ops->take_work(source);
}

static double utilisation_of(const struct zone_source *source)
{
	return fmin(1, (double)source->work.busy_ns / ((double)source->dt_ns * source->cpus));
}

void zone_source_vm_share(const struct zone_source *source, size_t index, struct vm_share *ret)
{
	source->ops->vm_share(source, index, ret);
	ret->full = source->full_probability;
}

/* At each load that the neighbours can have; idle power is the host's. */
static void estimate_vm(const struct zone_source *source, size_t index, double utilisation,
			struct zone_power *ret)
{
	struct vm_point points[VM_SHARE_LOADS], part;
	struct vm_share share;

	*ret = (struct zone_power){ 0 };
	if (!(utilisation > 0))
		return;
	zone_source_vm_share(source, index, &share);
	for (size_t i = 0; i < VM_SHARE_LOADS; i++) {
		const struct vm_load load = { &share, utilisation,
					      vm_share_ratio(&share, utilisation, i) };
		struct zone_power power;

		source->ops->vm_power(source, index, &load, &power);
		points[i] = (struct vm_point){ power.dynamic_w, power.bound_w };
		ret->outside = i == VM_SHARE_LOADS / 2 ? power.outside : ret->outside;
	}
	vm_share_combine(&share, points, &part);
	ret->dynamic_w = part.watts;
	ret->bound_w = part.bound_w;
}

static void integrate(struct zone_source *source, size_t index, struct energy_span *span)
{
	struct estimated_zone *zone = &source->zones[index];
	double utilisation = utilisation_of(source);
	uint64_t dt_ns = span->to_ns - span->from_ns;

	if (source->is_vm)
		estimate_vm(source, index, utilisation, &zone->power);
	else
		source->ops->power(source, index, utilisation, &zone->power);
	zone->has_estimate = true;
	span->idle_uj =
		power_integral_add(&zone->idle, power_microwatts(zone->power.idle_w), dt_ns);
	span->energy_uj =
		span->idle_uj +
		power_integral_add(&zone->dynamic, power_microwatts(zone->power.dynamic_w), dt_ns);
}

bool zone_source_advance(struct zone_source *source, size_t index, struct energy_span *ret)
{
	struct estimated_zone *zone = &source->zones[index];
	struct energy_span span = {
		.known = zone->started,
		.from_ns = zone->last_ns,
		.to_ns = source->fed_ns,
	};

	if (zone->started && (!source->dt_ns || zone->needed & ~source->work.signals))
		return false;
	/* An estimate from one interval does not apply to many before it. */
	span.known &= span.to_ns - span.from_ns <= POWER_BRIDGE_PERIODS * source->dt_ns;
	if (span.known)
		integrate(source, index, &span);
	zone->started = true;
	zone->last_ns = source->fed_ns;
	*ret = span;
	return true;
}

void zone_source_state(const struct zone_source *source, size_t index, struct model_state *ret)
{
	const struct estimated_zone *zone = &source->zones[index];

	*ret = (struct model_state){
		.features = "bpf_cpu_time_ms",
		.machine = "",
		.reason = "",
		.output = source->is_vm ? "DynPower" : "AbsPower",
		.has_estimate = zone->has_estimate,
		.error_w = zone->has_estimate ? zone->power.bound_w : (double)NAN,
		.outside = zone->has_estimate && zone->power.outside,
	};
	source->ops->describe(source, index, ret);
}

// SPDX-License-Identifier: Apache-2.0
#include "engine/devices/device_allocations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "engine/owner.h"
#include "service/privileges.h"

void device_allocations_init(struct device_allocations *allocations, const char *socket,
			     struct directory *directory)
{
	*allocations = (struct device_allocations){ .directory = directory };
	(void)snprintf(allocations->socket, sizeof(allocations->socket), "%s",
		       socket ? socket : "");
}

void device_allocations_release(struct device_allocations *allocations)
{
	pod_resources_stop(allocations->source);
	pod_devices_release(&allocations->list);
	free(allocations->part);
	free(allocations->row);
	*allocations = (struct device_allocations){ 0 };
}

/* ---- the kubelet's list ---- */

static bool has_device(const struct zone *const *zones, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (zones[i]->domain.kind == DOMAIN_DEVICE)
			return true;
	}
	return false;
}

static void start(struct device_allocations *allocations)
{
	const struct pod_resources_options options = { .socket = allocations->socket,
						       .start_thread = privileges_drop_thread };
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct diag diag = { "" };

	if (allocations->was_tried && now_ns - allocations->tried_ns < DEVICE_ALLOCATIONS_RETRY_NS)
		return;
	allocations->was_tried = true;
	allocations->tried_ns = now_ns;
	allocations->error[0] = '\0';
	if (pod_resources_start(&options, allocations->directory, &allocations->source, &diag) < 0)
		(void)snprintf(allocations->error, sizeof(allocations->error), "%.255s", diag.text);
}

static struct device_part find_part(const struct device_ref *ref, const struct meter_table *meters,
				    const struct zone *const *zones, size_t count)
{
	struct device_part part = { DEVICE_REF_NONE, DEVICE_WHOLE };

	if (ref->kind == DEVICE_PART)
		(void)meter_table_find_device(meters, ref->text, &part);
	else
		part.device = device_ref_find(ref, zones, count);
	return part;
}

/* Without memory nothing is held. */
static void find_devices(struct device_allocations *allocations, const struct meter_table *meters,
			 const struct zone *const *zones, size_t count)
{
	struct pod_devices *list = &allocations->list;

	allocations->zones_known = count;
	allocations->unknown = list->unknown;
	if (ARRAY_RESERVE(allocations->part, allocations->part_size, list->device_count) < 0 ||
	    ARRAY_RESERVE(allocations->row, allocations->row_size, list->container_count) < 0)
		pod_devices_clear(list);
	for (size_t i = 0; i < list->device_count; i++) {
		allocations->part[i] = find_part(&list->devices[i].ref, meters, zones, count);
		if (allocations->part[i].device == DEVICE_REF_NONE)
			allocations->unknown += list->devices[i].ids;
	}
}

/* ---- its containers ---- */

/* Prefers the running one of the containers with one name; makes a row if it has none. */
static uint32_t find_row(const struct pod_container *container,
			 struct identity_resolver *identities, struct ledger *ledger)
{
	for (size_t i = 0; i < container->id_count; i++) {
		const struct identity *identity = identity_find(identities, container->ids[i]);
		struct ledger_owner owner;

		if (!identity || !identity_cgroup_exists(identities, container->ids[i]))
			continue;
		owner = ledger_owner_of(identity);
		return ledger_container(ledger, &owner);
	}
	return LEDGER_NONE;
}

static void allocate(struct device_allocations *allocations, struct device_parties *parties)
{
	const struct pod_devices *list = &allocations->list;

	for (size_t i = 0; i < list->device_count; i++) {
		const struct pod_device *device = &list->devices[i];
		const struct device_part *part = &allocations->part[i];
		uint32_t row = allocations->row[device->container];
		uint64_t held = device->ids * part->held;

		if (part->device == DEVICE_REF_NONE)
			continue;
		allocations->held += device->ids;
		if (row != LEDGER_NONE &&
		    device_parties_allocate(parties, part->device, row, held) == 0)
			continue;
		allocations->nameless += device->ids;
		if (row == LEDGER_NONE)
			device_parties_allocate_nameless(parties, part->device, held);
	}
}

void device_allocations_enter(struct device_allocations *allocations,
			      const struct meter_table *meters, const struct zone *const *zones,
			      size_t zone_count, struct identity_resolver *identities,
			      struct ledger *ledger, struct device_parties *parties)
{
	allocations->held = allocations->nameless = 0;
	if (!allocations->socket[0] || !has_device(zones, zone_count))
		return;
	if (!allocations->source)
		start(allocations);
	if (!allocations->source)
		return;
	if (pod_resources_take(allocations->source, &allocations->list) ||
	    allocations->zones_known != zone_count)
		find_devices(allocations, meters, zones, zone_count);
	for (size_t i = 0; i < allocations->list.container_count; i++)
		allocations->row[i] =
			find_row(&allocations->list.containers[i], identities, ledger);
	allocate(allocations, parties);
}

/* ---- the log ---- */

void device_allocations_report(struct device_allocations *allocations)
{
	struct pod_resources_stats stats = { 0 };
	bool is_away;

	if (allocations->source)
		pod_resources_get_stats(allocations->source, &stats);
	else
		(void)snprintf(stats.last_error, sizeof(stats.last_error), "%s",
			       allocations->error);
	is_away = !stats.reachable && stats.last_error[0]; /* else it has not been asked yet */
	if (is_away == allocations->is_away)
		return;
	allocations->is_away = is_away;
	if (is_away)
		log_warn("the kubelet does not report which containers hold GPUs: %s; retrying. "
			 "Until it responds, %s",
			 stats.last_error,
			 allocations->list.device_count
				 ? "its last known holders are charged for idle energy"
				 : "all processes that have a GPU open are charged for its idle "
				   "energy");
	else
		log_info("the kubelet reports again which containers hold GPUs");
}

static bool fill_health(const void *owner, void *ret)
{
	const struct device_allocations *allocations = owner;
	struct pod_resources_stats stats = { 0 };

	if (!allocations->source)
		return allocations->was_tried;
	pod_resources_get_stats(allocations->source, &stats);
	*(struct device_allocations_health *)ret = (struct device_allocations_health){
		.is_up = stats.reachable,
		.requests = stats.requests,
		.failures = stats.failures,
		.bad = stats.bad,
		.held = allocations->held - allocations->nameless,
		.nameless = allocations->nameless,
		.unknown = allocations->unknown,
		.beyond = stats.beyond,
	};
	return true;
}

static const struct health_variant ids[] = {
	{ "held", HEALTH_VALUE(struct device_allocations_health, held) },
	{ "nameless", HEALTH_VALUE(struct device_allocations_health, nameless) },
	{ "unknown", HEALTH_VALUE(struct device_allocations_health, unknown) },
	{ "beyond", HEALTH_VALUE(struct device_allocations_health, beyond) },
	{ 0 },
};

static const struct health_metric metrics[] = {
	{ .name = "kepler_exporter_pod_resources_up",
	  .type = FAMILY_GAUGE,
	  .help = "1 if the kubelet reports which containers hold devices, otherwise 0.",
	  .value = HEALTH_VALUE(struct device_allocations_health, is_up) },
	{ .name = "kepler_exporter_pod_resources_requests",
	  .type = FAMILY_COUNTER,
	  .help = "Calls of the kubelet's PodResources API that reached the kubelet.",
	  .value = HEALTH_VALUE(struct device_allocations_health, requests) },
	{ .name = "kepler_exporter_pod_resources_failures",
	  .type = FAMILY_COUNTER,
	  .help = "Calls of the kubelet's PodResources API that failed.",
	  .value = HEALTH_VALUE(struct device_allocations_health, failures) },
	{ .name = "kepler_exporter_pod_resources_bad",
	  .type = FAMILY_COUNTER,
	  .help = "Pods, containers and devices skipped because the kubelet's description was "
		  "invalid.",
	  .value = HEALTH_VALUE(struct device_allocations_health, bad) },
	{ .name = "kepler_exporter_pod_resources_ids",
	  .type = FAMILY_GAUGE,
	  .help = "Ids of GPUs that the kubelet has allocated. held: by a container that runs "
		  "here; nameless: the container is unknown here or not running; unknown: no zone "
		  "is that GPU (for example part of one, with MIG); beyond: the table is full.",
	  .variant_label = "result",
	  .variants = ids },
};

const struct health_part device_allocations_health_part = {
	.size = sizeof(struct device_allocations_health),
	.fill = fill_health,
	.metrics = metrics,
	.metric_count = ARRAY_SIZE(metrics),
};

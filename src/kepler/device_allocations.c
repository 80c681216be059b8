// SPDX-License-Identifier: Apache-2.0
#include "kepler/device_allocations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "kepler/owner.h"
#include "service/privileges.h"
#include "snapshot/snapshot.h"

void device_allocations_init(struct device_allocations *holders, const char *socket,
			 struct directory *directory)
{
	*holders = (struct device_allocations){ .directory = directory };
	(void)snprintf(holders->socket, sizeof(holders->socket), "%s", socket ? socket : "");
}

void device_allocations_release(struct device_allocations *holders)
{
	pod_resources_stop(holders->source);
	pod_devices_release(&holders->list);
	free(holders->device);
	free(holders->row);
	*holders = (struct device_allocations){ 0 };
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

static void start(struct device_allocations *holders)
{
	const struct pod_resources_options options = { .socket = holders->socket,
						       .start_thread = privileges_drop_thread };
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct diag diag = { "" };

	if (holders->was_tried && now_ns - holders->tried_ns < DEVICE_ALLOCATIONS_RETRY_NS)
		return;
	holders->was_tried = true;
	holders->tried_ns = now_ns;
	holders->error[0] = '\0';
	if (pod_resources_start(&options, holders->directory, &holders->source, &diag) < 0)
		(void)snprintf(holders->error, sizeof(holders->error), "%.255s", diag.text);
}

/* Without memory nothing is held. */
static void find_devices(struct device_allocations *holders, const struct zone *const *zones,
			 size_t count)
{
	struct pod_devices *list = &holders->list;

	holders->zones_known = count;
	holders->unknown = list->unknown;
	if (ARRAY_RESERVE(holders->device, holders->device_size, list->device_count) < 0 ||
	    ARRAY_RESERVE(holders->row, holders->row_size, list->container_count) < 0)
		pod_devices_clear(list);
	for (size_t i = 0; i < list->device_count; i++) {
		holders->device[i] = device_ref_find(&list->devices[i].ref, zones, count);
		if (holders->device[i] == DEVICE_REF_NONE)
			holders->unknown += list->devices[i].ids;
	}
}

/* ---- its containers ---- */

/* Of those of one name the one that runs; a row is made where it has none. */
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

static void allocate(struct device_allocations *holders, struct device_parties *parties)
{
	const struct pod_devices *list = &holders->list;

	for (size_t i = 0; i < list->device_count; i++) {
		const struct pod_device *device = &list->devices[i];
		uint32_t row = holders->row[device->container];

		if (holders->device[i] == DEVICE_REF_NONE)
			continue;
		holders->held += device->ids;
		if (row != LEDGER_NONE &&
		    device_parties_allocate(parties, holders->device[i], row, device->ids) == 0)
			continue;
		holders->nameless += device->ids;
		if (row == LEDGER_NONE)
			device_parties_allocate_nameless(parties, holders->device[i], device->ids);
	}
}

void device_allocations_enter(struct device_allocations *holders, const struct zone *const *zones,
			  size_t zone_count, struct identity_resolver *identities,
			  struct ledger *ledger, struct device_parties *parties)
{
	holders->held = holders->nameless = 0;
	if (!holders->socket[0] || !has_device(zones, zone_count))
		return;
	if (!holders->source)
		start(holders);
	if (!holders->source)
		return;
	if (pod_resources_take(holders->source, &holders->list) ||
	    holders->zones_known != zone_count)
		find_devices(holders, zones, zone_count);
	for (size_t i = 0; i < holders->list.container_count; i++)
		holders->row[i] = find_row(&holders->list.containers[i], identities, ledger);
	allocate(holders, parties);
}

/* ---- what is said of it ---- */

void device_allocations_tell(struct device_allocations *holders)
{
	struct pod_resources_stats stats = { 0 };
	bool is_away;

	if (holders->source)
		pod_resources_get_stats(holders->source, &stats);
	else
		(void)snprintf(stats.last_error, sizeof(stats.last_error), "%s", holders->error);
	is_away = !stats.reachable && stats.last_error[0]; /* else it has not been asked yet */
	if (is_away == holders->is_away)
		return;
	holders->is_away = is_away;
	if (is_away)
		log_warn("the kubelet does not say which containers hold a GPU: %s; retrying. "
			 "Until it answers %s",
			 stats.last_error,
			 holders->list.device_count
				 ? "those that it named last bear its idle energy"
				 : "all processes that have it open bear its idle energy");
	else
		log_info("the kubelet says again which containers hold a GPU");
}

void device_allocations_describe(const struct device_allocations *holders, struct snapshot_self *self)
{
	struct pod_resources_stats stats = { 0 };

	self->pod_resources = (struct snapshot_pod_resources){ .is_asked = holders->was_tried };
	if (!holders->source)
		return;
	pod_resources_get_stats(holders->source, &stats);
	self->pod_resources = (struct snapshot_pod_resources){
		.is_asked = true,
		.up = stats.reachable,
		.requests = stats.requests,
		.failures = stats.failures,
		.bad = stats.bad,
		.held = holders->held - holders->nameless,
		.nameless = holders->nameless,
		.unknown = holders->unknown,
		.beyond = stats.beyond,
	};
}

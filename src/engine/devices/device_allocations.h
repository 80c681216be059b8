/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which containers hold devices, from the kubelet's word to the rows that are charged by it.
 *
 * The kubelet is asked only where that decides anything: with --gpu.idle=holder, and from the first
 * zone of a device on. A container that is not known here, or has no cgroup any more, is nameless:
 * its part of a device goes to no other container.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/device_parties.h"
#include "attribution/ledger.h"
#include "base/health.h"
#include "energy/zone.h"
#include "kube/pods/pod_devices.h"
#include "kube/pods/pod_resources.h"
#include "meter/meter_table.h"
#include "net/http_unix.h"
#include "workload/identity.h"

#define DEVICE_ALLOCATIONS_RETRY_NS (10ULL * 1000000000)

struct directory;

/* How the kubelet responds, and ids of devices as of the last interval. */
struct device_allocations_health {
	bool is_up;
	uint64_t requests, failures, bad;
	uint64_t held, nameless, unknown, beyond;
};
extern const struct health_part device_allocations_health_part; /* of a struct device_allocations */

struct device_allocations {
	char socket[HTTP_UNIX_PATH_MAX + 1]; /* "": the kubelet is not asked */
	struct directory *directory;         /* borrowed */
	struct pod_resources *source;        /* NULL: not started yet */
	char error[256];                     /* why it was not started; "" none */
	bool was_tried;
	bool is_away;      /* the kubelet, as reported last */
	uint64_t tried_ns; /* MONOTONIC, the last start */
	struct pod_devices list;
	struct device_part *part; /* [list.device_count]: its device, or DEVICE_REF_NONE */
	size_t part_size;
	size_t zones_known; /* when they were found */
	uint32_t *row;      /* [list.container_count]: in the ledger, or LEDGER_NONE */
	size_t row_size;
	/* In the last interval: all ids that are held, and those held by nameless containers. */
	uint64_t held, nameless, unknown;
};

/* Nothing is opened yet. @socket is copied; NULL: the kubelet is not asked. */
void device_allocations_init(struct device_allocations *allocations, const char *socket,
			     struct directory *directory);
void device_allocations_release(struct device_allocations *allocations);
/* Between device_parties_begin() and the booking. @zones: all that there are, of @meters. */
void device_allocations_enter(struct device_allocations *allocations,
			      const struct meter_table *meters, const struct zone *const *zones,
			      size_t zone_count, struct identity_resolver *identities,
			      struct ledger *ledger, struct device_parties *parties);
/* Once an interval: logs when and why the kubelet does not answer, and when it does again. */
void device_allocations_report(struct device_allocations *allocations);

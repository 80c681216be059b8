/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The energy of a device is split among the processes that used it in an interval, by the time for
 * which they kept it busy. Most processes use no device, and most devices have few users: so these
 * are lists, one after the other in the order of devices, and cost nothing without use.
 *
 * Idle energy of a device is shared among its users, by use or equally, or among its holders, by
 * how much of it each holds. A process that neither uses nor holds it gets no part. If no holders
 * are known, use decides.
 *
 * Containers to which a device was allocated are its only holders. They share in proportion to how
 * much of it each got (replicas of one device count as a device each), and the processes of a
 * container that have the device open share its part equally; if none has, the container itself is
 * charged.
 */
#pragma once

#include "attribution/parties.h"
#include "energy/work.h"

struct device_entry {
	uint32_t device;
	struct party party;
	uint64_t busy_ns;
	uint32_t held; /* of DEVICE_WHOLE */
};

struct device_allocation {
	uint32_t device;
	uint32_t container; /* ledger row */
	uint64_t held;      /* of DEVICE_WHOLE, for each id */
	uint64_t members;   /* of its entries, those that hold the device */
	uint64_t served;    /* of them, those that have their weight */
};

struct device_parties {
	struct device_entry *entries; /* as they were added */
	size_t count, size;
	struct device_allocation *allocations; /* in order of device and container once closed */
	size_t allocation_count, allocation_size;
	uint64_t allocated[DEVICES_MAX];  /* to containers, of DEVICE_WHOLE for each id */
	uint64_t nameless[DEVICES_MAX];   /* to containers that are not known */
	struct parties sorted;            /* by device */
	uint32_t first[DEVICES_MAX + 1];  /* of each device, in @sorted; the last is the end */
	uint64_t dropped_ns[DEVICES_MAX]; /* time of users that cannot be named any more */
	uint64_t unseen_ns[DEVICES_MAX];  /* time that no process is known for */
	uint32_t holders[DEVICES_MAX];    /* entries that hold it */
	enum idle_share share;            /* as asked for in device_parties_close() */
};

/* A new interval. */
void device_parties_begin(struct device_parties *parties);
/* @device < DEVICES_MAX. 0 or -ENOMEM: its time is dropped then. */
int device_parties_add(struct device_parties *parties, uint32_t device, uint32_t process,
		       uint32_t container, uint64_t busy_ns, uint32_t held);
void device_parties_add_dropped(struct device_parties *parties, uint32_t device, uint64_t busy_ns);
void device_parties_add_unseen(struct device_parties *parties, uint32_t device, uint64_t busy_ns);
/*
 * @held of the device, DEVICE_WHOLE for each replica, was allocated to @container, a row of the
 * ledger; several calls add up. 0 or -ENOMEM: it counts as nameless then.
 */
int device_parties_allocate(struct device_parties *parties, uint32_t device, uint32_t container,
			    uint64_t held);
/* The same, to a container that is not known. */
void device_parties_allocate_nameless(struct device_parties *parties, uint32_t device,
				      uint64_t held);
/*
 * When all has been added, before device_parties_work(). 0 or -ENOMEM: all time is dropped then.
 */
int device_parties_close(struct device_parties *parties, enum idle_share share);
struct domain_work device_parties_work(const struct device_parties *parties, uint32_t device);
void device_parties_release(struct device_parties *parties);

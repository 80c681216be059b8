/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Among what is the energy of a device split? What used it in an interval, with the time for which
 * it kept the device busy. Most processes use no device, and most devices are used by few: so these
 * are lists, one after the other in the order of devices, and cost nothing where nothing is used.
 *
 * Idle energy of a device is shared among what used it, by use or equally, or among what holds it,
 * by how much of it that is.
 * What does neither has no part of it. Where nothing is known to hold a device, use decides.
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

struct device_parties {
	struct device_entry *entries; /* as they were added */
	size_t count, size;
	struct parties sorted;            /* by device */
	uint32_t first[DEVICES_MAX + 1];  /* of each device, in @sorted; the last is the end */
	uint64_t dropped_ns[DEVICES_MAX]; /* time of what cannot be named any more */
	uint64_t unseen_ns[DEVICES_MAX];  /* time that no process is known for */
	uint32_t holders[DEVICES_MAX];    /* entries that hold it */
};

/* The work of one device: weights for a split, and what they belong to. */
struct device_work {
	const struct party *party;   /* [count] */
	const uint64_t *busy_ns;     /* [count] */
	const uint64_t *idle_weight; /* [count] */
	uint64_t *parts[MODE_COUNT]; /* [count], room for the splitting */
	size_t count;
	uint64_t dropped_ns, unseen_ns;
	bool has_holders;
};

/* A new interval. */
void device_parties_begin(struct device_parties *parties);
/* @device < DEVICES_MAX. 0 or -ENOMEM: its time is dropped then. */
int device_parties_add(struct device_parties *parties, uint32_t device, uint32_t process,
		       uint32_t container, uint64_t busy_ns, uint32_t held);
void device_parties_add_dropped(struct device_parties *parties, uint32_t device, uint64_t busy_ns);
void device_parties_add_unseen(struct device_parties *parties, uint32_t device, uint64_t busy_ns);
/*
 * When all has been added, before device_parties_work(). 0 or -ENOMEM: all time is dropped then.
 */
int device_parties_close(struct device_parties *parties, enum idle_share share);
void device_parties_work(const struct device_parties *parties, uint32_t device,
			 struct device_work *ret);
/* For how long the device was busy, as far as is known. */
uint64_t device_parties_busy_ns(const struct device_parties *parties, uint32_t device);
void device_parties_release(struct device_parties *parties);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Meters report the use of devices by pid; here it gets the rows to which it is charged. The use by
 * a virtual machine is charged to the process that runs it, as soon as that is known. A process
 * that used a device may not have run on a CPU meanwhile: the reader of activity finds it among all
 * living processes, and it gets a row like any other.
 *
 * The time of a process that is not found any more is dropped; time without a process is unseen.
 */
#pragma once

#include "activity/activity.h"
#include "attribution/device_parties.h"
#include "base/map.h"
#include "meter/device_uses.h"
#include "workload/identity.h"

struct device_user {
	bool found;
	struct activity_sample sample; /* pid alone is set until it is found */
};

/* Most processes use no device: one bit is looked at for each, by its pid. */
#define DEVICE_USERS_BITS 16384

struct device_users {
	struct map by_pid;
	uint64_t some[DEVICE_USERS_BITS / 64]; /* some pid with this remainder is looked for */
	struct device_user *users;
	size_t count, size;
};

void device_users_init(struct device_users *users);
/* Which processes used devices, after the pass. */
void device_users_find(struct device_users *users, const struct device_uses *uses,
		       const struct identity_resolver *identities, const struct activity *activity,
		       struct activity_reader *reader);
/* Before owners are asked for (workload/identity.h). */
void device_users_announce(const struct device_users *users, struct identity_resolver *identities);
/* Between ledger_begin() and the booking, after what ran has been entered: begins @ret. */
void device_users_enter(struct device_users *users, const struct device_uses *uses,
			struct identity_resolver *identities, struct ledger *ledger,
			struct device_parties *ret);
void device_users_release(struct device_users *users);

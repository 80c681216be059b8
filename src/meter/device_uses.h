/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The users of devices, from their readings to the pass that shares their energy: a sum for each
 * device and process, or virtual machine, however many readings that takes. Bounded: of others
 * beyond the limit, or without memory, the time is kept by device, without the process.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "energy/work.h"

#define DEVICE_USES_MAX 16384

struct device_uses {
	struct device_use *use; /* one a device and process or machine */
	size_t count, size;
	struct map known; /* by device and pid or machine, where in @use */
	bool any_nameless;
	uint64_t nameless_ns[DEVICES_MAX]; /* beyond the list; all 0 without any_nameless */
};

/*
 * Uses of a device >= DEVICES_MAX are left out, and also uses without time that do not hold the
 * device. The greatest part that any reading reports as held is kept.
 */
void device_uses_add(struct device_uses *uses, const struct device_use *use, size_t count);
/* Adds all of @from to @to, and clears @from. */
void device_uses_move(struct device_uses *from, struct device_uses *to);
void device_uses_clear(struct device_uses *uses);
void device_uses_release(struct device_uses *uses);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work: the CPU time, or a device's busy time, that was used in an interval, in ns. The energy of a
 * zone follows the work of its domain: the whole machine, one package, or one device. Domains have
 * places here: amounts by package are kept in arrays by place, from 0 up. Devices come after the
 * packages and have lists of their users, because most processes use none.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text/uuid.h"
#include "energy/zone.h"

#define PLACES_MAX  16
#define DEVICES_MAX 128
/*
 * A device's number is its source's to give: NVML's boards are first, then DRM's, then HLML's; the
 * last one is all accelerators of a node together.
 */
#define DEVICES_NVML 80
#define DEVICES_DRM  32
#define DEVICES_HLML 15
#define DEVICE_ALL   (DEVICES_MAX - 1)
#define PLACE_NONE   UINT32_MAX                 /* the whole machine's */
#define PLACE_PARTS  (PLACES_MAX + DEVICES_MAX) /* what has used the parts' energy */

struct work_places {
	uint32_t count;               /* packages that are told apart; 0: none */
	uint32_t package[PLACES_MAX]; /* struct domain has the same number */
	uint32_t cpus[PLACES_MAX];    /* online, in each */
};

/* The work of an interval in addition to that of rows: in ns, as a sum over all CPUs. */
struct work_sums {
	uint64_t busy_ns;    /* all of it; the idle task's is not in it */
	uint64_t dropped_ns; /* of it, what no process can be named for */
	uint64_t unseen_ns;  /* and what was not seen, but the machine counts */
};

/*
 * The held part of a device, in units of the whole: each of up to eight slices is a whole number.
 */
#define DEVICE_WHOLE 840000

/* For how long one process kept a device busy since the reading before, and how much it holds. */
struct device_use {
	uint32_t device; /* its number in struct domain */
	uint32_t pid;    /* in the initial pid namespace; 0: not known */
	uint64_t busy_ns;
	uint32_t held; /* of DEVICE_WHOLE: what it has open, busy or not; where that is asked for */
	struct uuid vm; /* without a pid: the virtual machine, where that is known */
};

static inline uint32_t work_device_place(uint32_t device)
{
	return PLACES_MAX + device;
}

/* Does @place belong to a device? Then @ret_device gets its number. */
static inline bool work_place_is_device(uint32_t place, uint32_t *ret_device)
{
	if (place < PLACES_MAX || place >= PLACES_MAX + DEVICES_MAX)
		return false;
	*ret_device = place - PLACES_MAX;
	return true;
}

/* The place that a zone of @domain is charged by, or PLACE_NONE. */
uint32_t work_place(const struct work_places *places, const struct domain *domain);

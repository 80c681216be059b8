/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "attribution/attribute.h"
#include "attribution/learning/idle.h"
#include "base/text/named_amount.h"

#define IDLE_WATTS_MAX 16

/* --gpu.idle: what bears the idle power of a device. */
enum device_idle {
	DEVICE_IDLE_AUTO, /* what bears that of the rest, as far as it used the device */
	DEVICE_IDLE_NODE,
	DEVICE_IDLE_USERS,
	DEVICE_IDLE_HOLDER,
};

/* --idle.…: how idle power is known, and what bears it. */
struct idle_options {
	enum idle_mode mode;   /* learned */
	enum idle_share share; /* node */
	enum device_idle device;
	/* With IDLE_MODE_FIXED; "package", "package-0": zone name, optionally its number. */
	struct named_amount watts[IDLE_WATTS_MAX];
	size_t watts_count;
};

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "attribution/attribute.h"
#include "attribution/learning/idle.h"
#include "base/text/named_amount.h"

#define IDLE_WATTS_MAX 16

/* --gpu.idle: the rows that are charged for the idle power of a device. */
enum device_idle {
	DEVICE_IDLE_AUTO, /* as --idle.share, among those that used the device */
	DEVICE_IDLE_NODE,
	DEVICE_IDLE_USERS,
	DEVICE_IDLE_HOLDER,
};

/* --idle.…: how idle power is determined, and the rows that are charged for it. */
struct idle_options {
	enum idle_mode mode;   /* learned */
	enum idle_share share; /* node */
	enum device_idle device;
	/* With IDLE_MODE_FIXED; "package", "package-0": zone name, optionally its number. */
	struct named_amount watts[IDLE_WATTS_MAX];
	size_t watts_count;
};

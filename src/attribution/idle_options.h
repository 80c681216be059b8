/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "attribution/attribute.h"
#include "attribution/idle.h"
#include "base/named_amount.h"

#define IDLE_WATTS_MAX 16

/* --idle.…: how idle power is known, and what bears it. */
struct idle_options {
	enum idle_mode mode;   /* learned */
	enum idle_share share; /* node */
	/* With IDLE_MODE_FIXED; "package", "package-0": zone name, optionally its number. */
	struct named_amount watts[IDLE_WATTS_MAX];
	size_t watts_count;
};

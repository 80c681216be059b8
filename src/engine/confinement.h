/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives up, step by step and for good, the rights that the process does not need for measuring.
 * These steps come after device_holders_start(), for a process that keeps the rights it needs, and
 * file_limits_enter(). A step that fails is logged, and the process continues with more rights.
 */
#pragma once

#include "base/health.h"
#include "config/config.h"
#include "engine/sources.h"

struct confinement_health {
	uint32_t landlock_abi; /* the version in force; 0: files are not limited */
	uint64_t denied_calls; /* system calls that the filter denied */
};
extern const struct health_part confinement_health_part; /* of an int, the version of Landlock */

/* Between sources_open_processes() and sources_open_meters(): capabilities. */
void confinement_drop_privileges(const struct config *config, const struct sources *sources);
/* After sources_open_meters(): system calls. Clients' sockets are connected before, or allowed. */
void confinement_filter_calls(const struct config *config, const struct sources *sources);

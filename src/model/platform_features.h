/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine's facts as the numbers that the platform model's weights are for. Pure.
 */
#pragma once

#include <stdbool.h>

#include "model/platform_power_weights.h"
#include "model/processor/cpu_name.h"

/* All known; those that a model must not extrapolate are within its population. */
struct platform_machine {
	bool amd, arm;
	double year, cores, sockets, memory_gib, frequency_ghz, tdp_w;
	double cores_per_socket, memory_gib_per_core;
	enum cpu_segment segment;
	bool low_power;
};

void platform_features(const struct platform_machine *machine,
		       double ret[static POWER_FEATURE_COUNT]);
/* Positions among the centres, divided by @reach; if that is 0, all machines are at 0. */
void platform_place(const struct platform_machine *machine,
		    const double reach[static POWER_BUMP_COUNT],
		    double ret[static POWER_BUMP_COUNT]);
/* For the design power, which itself is not used. */
void platform_tdp_features(const struct platform_machine *machine,
			   double ret[static POWER_TDP_COUNT]);

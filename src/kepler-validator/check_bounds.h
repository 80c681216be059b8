/* SPDX-License-Identifier: Apache-2.0 */
/* The thresholds of a run. */
#pragma once

struct check_bounds {
	double max_error;        /* of the node's zones, a ratio */
	double max_effect_error; /* of the energy of the load, and of CPU time */
	double max_lag_s;
	unsigned required_levels; /* bits of enum energy_level that an exporter must show */
};

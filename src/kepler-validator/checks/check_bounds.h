/* SPDX-License-Identifier: Apache-2.0 */
/* The thresholds of a run. */
#pragma once

struct check_bounds {
	double max_error;        /* of the node's zones, a ratio */
	double max_effect_error; /* of the energy of the load, and of CPU time */
	double max_lag_s;
	double max_coverage_error; /* by how much less a bound may hold than it says */
	double max_regression;     /* of an exporter compared with the first one of its kind */
	double max_estimate_error; /* of zones that the validator's own Kepler estimates */
	unsigned required_levels;  /* bits of enum energy_level that an exporter must show */
};

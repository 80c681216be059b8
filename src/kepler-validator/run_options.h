/* SPDX-License-Identifier: Apache-2.0 */
/* The options of "kepler-validator run", and how those that depend on each other are read. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/pages/energy_metric.h"
#include "kepler-validator/checks/observation.h"
#include "kepler-validator/guest_flags.h"
#include "kepler-validator/prometheus_flags.h"
#include "options/option_set.h"

struct run_config {
	struct option_values options;
	char *exporters[EXPORTERS_MAX];
	size_t exporter_count;
	char *estimates[EXPORTERS_MAX];
	size_t estimate_count;
	char *kepler;
	char *scenario;
	const struct scenario *chosen;
	char *load_command, *gpu_load, *nvml, *vm, *guest;
	int source, load_cgroup;
	bool quick, full;
	char *sysfs, *procfs, *file, *law, *output;
	struct {
		char *url, *user, *password_file, *token_file, *ca_file;
		bool insecure;
	} redfish;
	uint64_t duration_ns, step_ns, timeout_ns, max_lag_ns;
	char *max_error, *max_effect_error, *max_coverage_error, *max_estimate_error,
		*max_regression;
	char *required[ENERGY_LEVELS];
	size_t required_count;
	struct prometheus_flags prometheus;
	struct guest_flags vm_flags;
};

extern const struct option_set run_command_options;

/* True if the option @name was given, and not left to its default. */
bool run_option_is_given(const struct run_config *config, const char *name);
/*
 * Once, after the options are loaded: what --full and the commands of loads stand for. @config then
 * has the chosen scenario; NULL: they are to be listed.
 */
void run_options_use_presets(struct run_config *config);

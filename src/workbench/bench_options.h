/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the command bench, and the phases that --from names. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "modelling/settings.h"
#include "options/option_set.h"
#include "workbench/stress_plan.h"

enum bench_phase {
	PHASE_STRESS,
	PHASE_COLLECT,
	PHASE_EXTRACT,
	PHASE_ISOLATE,
	PHASE_TRAIN,
	PHASE_REPORT,
	PHASE_COUNT,
	PHASE_NONE = PHASE_COUNT,
};

struct bench_config {
	struct settings settings;
	char *output, *benchmark, *server, *exporter, *recordings, *match, *ca_file, *token_file,
		*user;
	char *password_file, *instances, *frequencies, *program, *sysfs, *source, *trainers;
	char *feature_group;
	char *loads[STRESS_LOADS_MAX];
	size_t load_count;
	uint64_t step_ns, load_ns, pause_ns, idle_ns, budget_ns;
	uint32_t folds;
	int from, level;
	bool insecure, dry_run;
};

extern const struct option_set bench_options;
/* Short names such as "-o"; a NULL name ends them. */
extern const struct short_flag bench_short_flags[];

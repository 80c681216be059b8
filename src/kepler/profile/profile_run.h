/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures and samples at the same time: until a command ends, for a duration, or until a signal.
 * One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "kepler/profile/perf_sampler.h"
#include "kepler/profile/profile_energy.h"
#include "kepler/profile/traced_processes.h"
#include "profile/profile.h"

struct profile_request {
	const struct config *config;
	char *const *command; /* NULL: none */
	uint32_t pid;         /* 0: all that the filter passes */
	struct energy_filter filter;
	bool with_idle;
	uint64_t duration_ns; /* without a command */
	uint32_t frequency_hz;
};

struct profile_result {
	struct profile_energy energy;
	struct traced_stats traced;
	struct perf_sampler_stats sampler;
	uint64_t elapsed_ns;
	int status; /* the command's */
};

/* 0, or -errno with a diagnosis; if a command was not executed, its status is in @ret. */
int profile_run(const struct profile_request *request, struct profile *profile,
		struct profile_result *ret, struct diag *diag);

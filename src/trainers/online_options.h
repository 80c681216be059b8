/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the online trainer. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "modelling/security_options.h"
#include "modelling/settings.h"
#include "net/server/web_options.h"

struct online_config {
	struct settings settings;
	struct web_values web;
	struct security_values security;
	/* ---- the Prometheus, as collect has it ---- */
	char *server, *match, *step, *ca_file, *token_file, *user, *password_file;
	bool insecure, only_idle;
	uint64_t timeout_ns;
	/* ---- training ---- */
	char *state_dir, *machines, *pipeline, *source, *group, *trainers;
	uint64_t interval_ns, history_ns, retrain_ns, deadline_ns;
	uint32_t memory_mib;
};

extern const struct option_set online_options;

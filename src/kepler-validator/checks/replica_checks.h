/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a scenario with replicas, up and down again: the power that each replica adds to the
 * machine, and to the load's container as the exporter says. Each step is an A-B-A bracket: the
 * level below on the way up, the level itself, and the level below on the way down.
 *
 * Power is a mean without the first quarter of each phase, in which replicas start and exporters
 * are late; an exporter's is taken between the times of its pages.
 */
#pragma once

#include "judging/result.h"
#include "kepler-validator/checks/check_bounds.h"
#include "kepler-validator/checks/observation.h"

#define REPLICA_LEVELS_MAX 8

/* Adds "replicas/ZONE" for each zone of the truth, with its table. 0, -ENOMEM or -ENOSPC. */
int check_replicas(const struct observation *observation, size_t exporter,
		   const struct check_bounds *bounds, struct result_list *ret);

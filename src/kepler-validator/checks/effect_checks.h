/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The energy that an exporter charges to the validator's own load, compared with what the machine
 * drew more while it ran than before and after it.
 *
 * With a neighbour that computes the same, the load's part of the effect is its part of both their
 * CPU time. With one that does something else, a second of CPU time of each counts as much as it
 * took in the phase in which the load, or its neighbour, ran alone.
 *
 * A load that got less than 90 % of the CPU time that it wanted had to share its CPUs, so that the
 * effect is less than its energy; and other work that changed with the load has an effect of its
 * own. Both are inconclusive.
 */
#pragma once

#include "judging/result.h"
#include "kepler-validator/checks/check_bounds.h"
#include "kepler-validator/checks/observation.h"

int check_effects(const struct observation *observation, size_t exporter,
		  const struct check_bounds *bounds, struct result_list *ret);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checks of an observation: correctness, conservation and accuracy of each exporter.
 */
#pragma once

#include "judging/result.h"
#include "kepler-validator/checks/check_bounds.h"
#include "kepler-validator/checks/observation.h"

/* Adds the results to @ret. 0, -ENOMEM or -ENOSPC. */
int check_observation(struct observation *observation, const struct check_bounds *bounds,
		      struct result_list *ret);

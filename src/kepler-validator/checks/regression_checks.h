/* SPDX-License-Identifier: Apache-2.0 */
/* Two versions of one exporter side by side: is the later one no worse than the first one? */
#pragma once

#include "judging/result.h"
#include "kepler-validator/checks/check_bounds.h"
#include "kepler-validator/checks/observation.h"

/*
 * Adds regression/ZONE for each zone with a meter and each exporter that is of the same kind as an
 * earlier one; the first one of the kind is what it is compared with. 0, -ENOMEM or -ENOSPC.
 */
int check_regressions(const struct observation *observation, const struct check_bounds *bounds,
		      struct result_list *ret);

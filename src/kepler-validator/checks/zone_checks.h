/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An exporter's zones compared with what the machine is: numbers that have stopped while the truth
 * rises, and zones that are shown as measured although nothing here measures them.
 */
#pragma once

#include "judging/result.h"
#include "kepler-validator/checks/check_bounds.h"
#include "kepler-validator/checks/observation.h"

/*
 * True if the exporter's numbers have stood still for more than three times the permitted lag while
 * the truth counted energy: @result has failed then.
 */
bool check_frozen(const struct exporter *exporter, const struct truth_zone *truth,
		  const struct check_bounds *bounds, struct result *result);
/* Adds correctness/invented-zones. 0, -ENOMEM or -ENOSPC. */
int check_invented_zones(const struct observation *observation, const struct exporter *exporter,
			 struct result_list *ret);

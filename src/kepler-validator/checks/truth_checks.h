/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks whether the truth itself is reliable: a meter that could not be read for more than a tenth
 * of the run, or that stood still, decides nothing.
 */
#pragma once

#include "judging/result.h"
#include "kepler-validator/checks/observation.h"

/*
 * Sets truth_zone.doubt of each zone and device, and adds a result truth/ZONE for each zone that
 * has one, and truth/size if meters were left out. 0, -ENOMEM or -ENOSPC.
 */
int check_truth(struct observation *observation, struct result_list *ret);
/* A verdict by a doubtful truth becomes "inconclusive", with the reason. */
void truth_doubt_apply(const struct truth_zone *zone, struct result *result);

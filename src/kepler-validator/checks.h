/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is judged of an observation: correctness, conservation and accuracy of each exporter.
 *
 * Energies decide, over the whole time and over each phase. A truth and an exporter that are not
 * read at the same moment differ in shape by that alone; so the bound of the shape is widened by
 * the time between two readings of the truth as a part of the exporter's interval.
 */
#pragma once

#include "judging/result.h"
#include "kepler-validator/check_bounds.h"
#include "kepler-validator/observation.h"

/* Adds the results to @ret. 0, -ENOMEM or -ENOSPC. */
int check_observation(struct observation *observation, const struct check_bounds *bounds,
		      struct result_list *ret);

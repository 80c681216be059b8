/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Energies decide, over the whole time and over each phase. A truth and an exporter that are not
 * read at the same moment differ in shape by that alone; so the bound of the shape is widened by
 * the time between two readings of the truth as a part of the exporter's interval.
 */
#pragma once

#include "kepler-validator/checks/checking.h"

/*
 * Judges @predicted by @truth, as far as both last, and adds @result, which has its threshold. 0,
 * -ENOMEM or -ENOSPC.
 */
int comparison_judge(const struct checking *checking, struct result *result,
		     const struct truth_zone *truth, const struct series *predicted);

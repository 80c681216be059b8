/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a series that was read as a counter one? A counter goes down when its source restarts or it
 * wraps, which is rare; a power that was taken for a counter goes down in every second step, and
 * its increases are no energy at all.
 */
#pragma once

#include "judging/result.h"

/*
 * Sets the verdict of @result if one of its series goes down in more than 10 % of its steps, and at
 * least 4 times: fail for the predicted series, with the cause `scale` if its values are near the
 * actual power, else `shape`; inconclusive for the actual series. False: neither does.
 */
bool counter_form_judge(struct result *result);

/* SPDX-License-Identifier: Apache-2.0 */
/* For people: a meter of the whole machine that counts less than the meters of its parts. */
#pragma once

#include <stdbool.h>

#include "energy/zone.h"

#define ZONE_COVERAGE_TEXT_MAX 256

/*
 * Returns true if @coverage of @zone (remainder_coverage()) is lower than the difference of two
 * good meters explains; NaN is not. Then @ret says what was seen, and *@ret_remedy, which is
 * static, what to do.
 */
bool zone_coverage_is_short(const struct zone *zone, double coverage,
			    char ret[static ZONE_COVERAGE_TEXT_MAX], const char **ret_remedy);

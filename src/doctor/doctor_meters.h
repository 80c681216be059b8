/* SPDX-License-Identifier: Apache-2.0 */
/* What doctor says of meters that were not found, give no value, or cannot be read. */
#pragma once

#include "doctor/findings.h"
#include "engine/sources.h"

/* Why there is none. Where --meters left sources out, these are opened to see what they have. */
void doctor_examine_no_meter(struct findings *findings, const struct sources *sources,
			     const struct config *config);
/* Zones that were found and never read: they are not counted, and have no series. */
void doctor_examine_silent(struct findings *findings, const struct meter_table *meters);
/* What to do about a zone that cannot be read, or whose readings are refused; NULL: nothing. */
const char *doctor_zone_remedy(const struct zone *zone, const struct zone_status *status);
const char *doctor_zone_failure(const struct zone_status *status);

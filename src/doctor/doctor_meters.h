/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about meters that were not found, give no value, or cannot be read. */
#pragma once

#include "doctor/findings.h"
#include "engine/sources.h"

/* Why there is no meter. Sources that --meters leaves out are opened to see what they have. */
void doctor_examine_no_meter(struct findings *findings, const struct sources *sources,
			     const struct config *config);
/* Zones that were found and never read: they are not counted, and have no series. */
void doctor_examine_silent(struct findings *findings, const struct meter_table *meters);
/* The remedy for a zone that cannot be read, or has refused readings; NULL: none. */
const char *doctor_zone_remedy(const struct zone *zone, const struct zone_status *status);
const char *doctor_zone_failure(const struct zone_status *status);

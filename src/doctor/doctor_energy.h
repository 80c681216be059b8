/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about each zone: where it is read from, or why it is not read. */
#pragma once

#include "doctor/findings.h"
#include "engine/interval.h"
#include "engine/sources.h"

/* @engine has measured for a second. Without meters the findings describe the estimate. */
void doctor_examine_energy(struct findings *findings, const struct sources *sources,
			   const struct config *config, const struct interval_engine *engine);

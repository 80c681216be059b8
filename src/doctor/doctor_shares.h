/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about how energy is shared: the idle power of zones, the rule of each kind. */
#pragma once

#include "config/config.h"
#include "doctor/findings.h"
#include "engine/interval.h"

void doctor_examine_shares(struct findings *findings, const struct interval_engine *engine,
			   const struct config *config);

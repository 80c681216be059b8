/* SPDX-License-Identifier: Apache-2.0 */
/* What doctor says of how energy is shared: each zone's idle power, each kind's rule. */
#pragma once

#include "config/config.h"
#include "doctor/findings.h"
#include "engine/interval.h"

void doctor_examine_shares(struct findings *findings, const struct interval_engine *engine,
			   const struct config *config);

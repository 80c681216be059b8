/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about the owners of processes and devices: how they are recognised and named. */
#pragma once

#include "config/config.h"
#include "doctor/findings.h"
#include "engine/sources.h"

void doctor_examine_owners(struct findings *findings, const struct sources *sources,
			   const struct config *config);

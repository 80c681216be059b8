/* SPDX-License-Identifier: Apache-2.0 */
/* What doctor says of each zone: from where it is read, and why another one is not. */
#pragma once

#include "doctor/findings.h"
#include "engine/interval.h"
#include "engine/sources.h"

/* @engine has measured for a second. Without meters it says what is estimated in their place. */
void doctor_examine_energy(struct findings *findings, const struct sources *sources,
			   const struct config *config, const struct interval_engine *engine);

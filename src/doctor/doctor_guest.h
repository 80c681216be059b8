/* SPDX-License-Identifier: Apache-2.0 */
/* Findings in a virtual machine: does its host report its energy, and if not, how could it? */
#pragma once

#include "doctor/findings.h"
#include "engine/sources.h"

void doctor_examine_guest(struct findings *findings, const struct sources *sources,
			  const struct config *config);

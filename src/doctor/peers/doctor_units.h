/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about each unit of work: in which pods it is counted, or why not. docs/units.md. */
#pragma once

#include "config/config.h"
#include "doctor/findings.h"
#include "units/units.h"

/*
 * Reads the counters for a few seconds at most, in the pods of @ledger. @units: those that @config
 * asks for, or NULL: none is configured.
 */
void doctor_examine_units(struct findings *findings, const struct config *config,
			  struct units *units, const struct ledger *ledger);

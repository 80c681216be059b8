/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about each rate: its value, source and age, and why it is absent. docs/rates.md. */
#pragma once

#include "config/config.h"
#include "doctor/findings.h"
#include "rates/rates.h"

/*
 * Waits for the first reading of feeds, for a few seconds at most. @rates: those of @config, or
 * NULL: none is configured.
 */
void doctor_examine_rates(struct findings *findings, const struct config *config,
			  struct rates *rates);

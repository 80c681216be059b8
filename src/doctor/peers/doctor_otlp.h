/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about the receiver of OpenTelemetry to which energy is sent: does it accept requests? */
#pragma once

#include "config/config.h"
#include "doctor/findings.h"

/* Waits for the receiver, for a few seconds at most. */
void doctor_examine_otlp(struct findings *findings, const struct config *config);

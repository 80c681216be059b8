/* SPDX-License-Identifier: Apache-2.0 */
/* What doctor says of energy that is estimated: by which model, for what machine, how well. */
#pragma once

#include "doctor/findings.h"
#include "engine/sources.h"

/* Where there is no meter: why not, and what the built-in models put in its place. */
void doctor_examine_estimate(struct findings *findings, const struct sources *sources,
			     const struct config *config);
/* Trained models, and why one is not used. */
void doctor_examine_models(struct findings *findings, const struct sources *sources);
/* What --model.url gives. */
void doctor_examine_fetch(struct findings *findings, const struct sources *sources,
			  const struct config *config);

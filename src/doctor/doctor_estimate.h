/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about estimated energy: the model, its machine, and its error. */
#pragma once

#include "doctor/findings.h"
#include "engine/sources.h"

/* Without a meter: the reason, and the estimate by the built-in models. */
void doctor_examine_estimate(struct findings *findings, const struct sources *sources,
			     const struct config *config);
/* Trained models, and why one is not used. */
void doctor_examine_models(struct findings *findings, const struct sources *sources);
/* The model of --model.url. */
void doctor_examine_fetch(struct findings *findings, const struct sources *sources,
			  const struct config *config);

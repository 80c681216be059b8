/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice among several trained models: for each component, the model with the smallest expected
 * error on this machine (model/selection.h).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "estimate/model_estimate.h"
#include "host/host.h"
#include "model/trained_model.h"

/* @host as models name machines; for a virtual machine its host, as far as that is known. */
void model_choice_machine(const struct host_info *host, struct machine_spec *ret);
/*
 * parts[i] has bit c for each component c of models[i] that is to be used: components that no other
 * model has, and the best of the others. Models without components (all zero) have none. @meter is
 * a model estimate, for the features that are counted here; a component that no model can estimate
 * stays with each of them, so that the estimate reports the reason. @reasons gets the reasons of a
 * choice, or "" without one.
 */
void model_choice_make(const struct trained_model *models, size_t count,
		       const struct host_info *host, const struct zone_source *meter,
		       uint32_t *parts, struct diag *reasons);

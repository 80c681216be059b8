/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of several trained models estimates what: for each component the one with the least
 * expected error on this machine (model/selection.h).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "estimate/model_estimate.h"
#include "host/host.h"
#include "model/trained_model.h"

/* @host as models name machines; of a virtual machine its own host, as far as that is known. */
void model_choice_machine(const struct host_info *host, struct machine_spec *ret);
/*
 * parts[i] has bit c for each component c of models[i] that is to be used: all of those that no
 * other model has, and of others the best. Models without components (all zero) have none. @meter
 * says what is counted here; a component that no model can give is left with each, so that the
 * meter says why. @reasons gets why, where there was a choice, else "".
 */
void model_choice_make(const struct trained_model *models, size_t count,
		       const struct host_info *host, const struct zone_source *meter,
		       uint32_t *parts, struct diag *reasons);

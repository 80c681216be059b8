/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the validator's own Kepler estimates with the model that it was given. */
#pragma once

#include "kepler-validator/checks/checking.h"

/*
 * False: another model has estimated the zone, in part at least. True if @model is NULL, or built
 * in. */
bool model_has_zone(const struct exporter *exporter, const struct model_exporter *model,
		    const char *zone);
/*
 * Adds node/model if no zone is estimated by the model: fail if the Kepler refused it. Otherwise
 * node/ZONE, not applicable, for each zone that another model estimates and that has a meter.
 * 0, -ENOMEM or -ENOSPC.
 */
int check_model(const struct checking *checking);

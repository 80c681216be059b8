/* SPDX-License-Identifier: Apache-2.0 */
/* What doctor says where no meter of the machine or its parts was found. */
#pragma once

#include "kepler/findings.h"
#include "kepler/sources.h"

/* Why there is none. Where --meters left sources out, these are opened to see what they have. */
void doctor_examine_no_meter(struct findings *findings, const struct sources *sources,
			     const struct config *config);

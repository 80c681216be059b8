/* SPDX-License-Identifier: Apache-2.0 */
/* What doctor says of scrapes: from where Kepler can be reached, and by which names. */
#pragma once

#include "config/config.h"
#include "doctor/findings.h"
#include "service/name_finder.h"

/* @finder: started a while ago, or not; what it has found by now is shown. */
void doctor_examine_web(struct findings *findings, const struct config *config,
			struct name_finder *finder);

/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about scrapes: where Kepler can be reached from, and by which names. */
#pragma once

#include "config/config.h"
#include "doctor/findings.h"
#include "service/name_finder.h"

/* @finder may have been started; the names that it has found so far are shown. */
void doctor_examine_web(struct findings *findings, const struct config *config,
			struct name_finder *finder);

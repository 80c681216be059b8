/* SPDX-License-Identifier: Apache-2.0 */
/* What doctor says of the exporter as a service: what it keeps, shows, and may write. */
#pragma once

#include "config/config.h"
#include "doctor/findings.h"

/* Its state directory, its recordings, how its series begin, and the limits on its files. */
void doctor_examine_service(struct findings *findings, const struct config *config);

/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about the exporter as a service: the files that it keeps and may write. */
#pragma once

#include "config/config.h"
#include "doctor/findings.h"
#include "host/host.h"

/* The state directory and its file, recordings, the start of series, and the limits on files. */
void doctor_examine_service(struct findings *findings, const struct config *config,
			    const struct host_info *host);

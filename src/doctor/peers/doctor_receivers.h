/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings about the receivers of pushed data: what the running exporter has sent to each, what was
 * lost and why; and whether those of --remote-write.url that it does not have accept requests.
 */
#pragma once

#include "config/config.h"
#include "doctor/findings.h"

/* Waits for each receiver and the exporter, for a few seconds at most. */
void doctor_examine_receivers(struct findings *findings, const struct config *config);
/* Adds what @page, an answer of /api/v1/receivers, reports. Pure. 0, or -EINVAL: it is not one. */
int doctor_receivers_read(struct findings *findings, const char *page, size_t len);

/* SPDX-License-Identifier: Apache-2.0 */
/* Does a receiver of remote write accept requests? It gets one without series: `kepler doctor`. */
#pragma once

#include "base/diag.h"
#include "export/remote-write/remote_write_options.h"

#define WRITE_PROBE_NS (3 * NSEC_PER_SEC) /* its deadline */

/* 0 if @url accepted it, by 2.0 or 1.0 as configured; else -errno with a diagnosis. */
int write_probe(const struct remote_write_options *options, const char *url, struct diag *diag);

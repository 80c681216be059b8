/* SPDX-License-Identifier: Apache-2.0 */
/* Does a receiver of OTLP accept requests? One without data is sent, for `kepler doctor`. */
#pragma once

#include <stddef.h>

#include "base/diag.h"
#include "export/otlp/otlp_options.h"

#define OTLP_PROBE_NS (3 * NSEC_PER_SEC) /* its deadline */

/*
 * 0 if it was accepted; else -errno with a diagnosis. *ret_site, which is always written, is the
 * receiver's scheme and host; "" if nothing is to be sent.
 */
int otlp_probe(const struct otlp_options *options, char *ret_site, size_t size, struct diag *diag);

/* SPDX-License-Identifier: Apache-2.0 */
/* Every source of names on this host, in the order of precedence. */
#pragma once

#include "runtimes/scan.h"

/* Updates the directory: new, changed and removed containers, and whether any runtime exists. */
void scan_sources_run(struct scan *scan, uint64_t now_ns);
/* Ends a scan_init(), and frees what the sources kept between runs. */
void scan_sources_release(struct scan *scan);

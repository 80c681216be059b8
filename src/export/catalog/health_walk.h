/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over the metrics that the parts of the program report about themselves. */
#pragma once

#include "base/health.h"
#include "export/catalog/catalog.h"
#include "export/sink.h"

/* The metric as a family of the catalog, which borrows its texts. */
struct family health_family(const struct health_metric *metric);
/* Feeds @sink with all parts of the snapshot. Families are valid until the next one begins. */
void health_walk(const struct catalog_view *view, struct sink *sink);

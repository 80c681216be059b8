/* SPDX-License-Identifier: Apache-2.0 */
/* One walk over the catalog: reads a snapshot by it and hands each point to a sink. */
#pragma once

#include "export/catalog/catalog.h"
#include "export/sink.h"

/* @schemas: enum metrics_schema, as bits; SCHEMA_OPENTELEMETRY alone. */
void catalog_walk(const struct catalog_view *view, unsigned schemas, struct sink *sink);

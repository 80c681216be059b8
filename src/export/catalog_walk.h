/* SPDX-License-Identifier: Apache-2.0 */
/* One walk over the catalog: reads a snapshot by it and hands each point to a sink. */
#pragma once

#include "export/catalog.h"
#include "export/label_cache.h"
#include "export/sink.h"
#include "net/http_server.h"
#include "snapshot/snapshot.h"

enum row_kind { ROWS_LIVING, ROWS_RETIRED };

/* What a page is made of. */
struct catalog_view {
	const struct snapshot *snapshot;
	const struct http_stats *http; /* may be NULL */
	struct row_view rows[LEVEL_COUNT][2];
	int64_t start_ms; /* realtime of the program's start: when its own counters were born */
};

/* @schemas: enum metrics_schema, as bits. */
void catalog_walk(const struct catalog_view *view, unsigned schemas, struct sink *sink);

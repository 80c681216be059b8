/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot as Prometheus reads it: text format 0.0.4 and 1.0.0, OpenMetrics 1.0 and 2.0, and the
 * protobuf exposition, with the names of classic Kepler, of the current schema, or both.
 *
 * Every family is in one catalog (catalog.h) with type, unit, help and labels; one walk over it
 * feeds the sink of a format (sink.h), and the tool that writes docs/metrics.md reads it, too. A
 * row's labels are rendered once and cached (label_cache.h). A body is rendered at most once per
 * snapshot, format and encoding, on first demand (page_cache.h).
 */
#pragma once

#include "export/page_cache.h"

/* Text 1.0.0 is the page of 0.0.4: they differ only in names that we do not have. */
enum exposition {
	EXPOSITION_TEXT,
	EXPOSITION_OPENMETRICS,
	EXPOSITION_OPENMETRICS_2,
	EXPOSITION_PROTOBUF,
};

extern const struct page_formats prometheus_pages; /* in the order of enum exposition */

/* Pure: the format that an Accept header asks for; text 0.0.4 when in doubt. */
enum exposition prometheus_negotiate(const char *accept, const char **ret_content_type);

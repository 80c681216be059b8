/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot as an ExportMetricsServiceRequest of OTLP (opentelemetry-proto, package
 * opentelemetry.proto.collector.metrics.v1): a resource for the machine, and one for each row.
 *
 * The walk goes from family to family, and a request from resource to resource. So the sink notes
 * the columns that a table's rows have, and writes the rows when the walk has ended: first the
 * metrics of one row with gaps for start and value, and then, for each row, its resource, a copy of
 * that, and the gaps. docs/design/otlp.md gives reasons and figures.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "export/catalog/catalog_walk.h"
#include "export/otlp/otlp_memory.h"

struct otlp_target {
	/* Fields of a Resource: what all resources have in common, without service.instance.id. */
	struct strbuf resource;
	/* The machine's service.instance.id; those of rows begin with it. */
	char instance[128];
	const char *version; /* of this program */
	bool is_delta;
};

/*
 * Replaces the contents of @out by a request with the rows of view->levels, which is not 0, and
 * stages what is in it. *ret_points: its data points. 0 or -ENOMEM.
 */
int otlp_render(const struct otlp_target *target, const struct catalog_view *view,
		struct otlp_memory *memory, struct strbuf *out, uint64_t *ret_points);

/* SPDX-License-Identifier: Apache-2.0 */
/* The words in which catalog.c and catalog_rows.c write their tables, and the tables themselves. */
#pragma once

#include <stddef.h>

#include "export/catalog/catalog.h"

/* The families of processes, containers, pods, VMs and namespaces. From any thread. */
const struct family *catalog_rows(size_t *ret_count);
const struct family *catalog_rows_current(size_t *ret_count);

/* clang-format off */
#define COUNTER FAMILY_COUNTER
#define GAUGE   FAMILY_GAUGE
#define INFO    FAMILY_INFO

#define CLASSIC SCHEMA_CLASSIC
#define CURRENT SCHEMA_CURRENT
#define BOTH    SCHEMA_BOTH
#define ALONE   SCHEMA_CURRENT_ALONE
#define OPENTELEMETRY SCHEMA_OPENTELEMETRY

#define DYNAMIC (1U << MODE_DYNAMIC)
#define IDLE    (1U << MODE_IDLE)
#define TOTAL   (DYNAMIC | IDLE)

/* The type of the field itself, or of an array's elements. */
#define TYPE_OF(type_, field)                                                                      \
	_Generic(((type_ *)0)->field,                                                              \
		uint64_t: AS_U64,                                                                  \
		int64_t: AS_I64,                                                                   \
		bool: AS_BOOL,                                                                     \
		double: AS_DOUBLE,                                                                 \
		uint64_t *: AS_U64,                                                                \
		uint64_t(*)[UNATTRIBUTED_REASON_COUNT]: AS_U64,                                    \
		double *: AS_DOUBLE)
#define SUM(type_, field, decimals_, modes_)                                                       \
	{ .offset = offsetof(type_, field), .type = TYPE_OF(type_, field),                         \
	  .decimals = (decimals_), .modes = (modes_) }
#define AT(type_, field, decimals)      SUM(type_, field, decimals, 0)
#define PART(field, decimals, modes)    SUM(struct snapshot_zone, field, decimals, modes)
#define NODE(field, decimals)           AT(struct snapshot, node.field, decimals)
#define ZONE(field, decimals)           AT(struct snapshot_zone, field, decimals)
#define HTTP(field)                     AT(struct http_stats, field, 0)
#define COUNT(field)                    AT(struct snapshot_column, field, 0)
#define ZONE_IS_UP                                                                                 \
	{ .offset = offsetof(struct snapshot_zone, state), .type = AS_ZONE_STATE }
#define MICROJOULES                     { .type = AS_U64, .decimals = 6 } /* the walk's value */
#define WATTS                           { .type = AS_DOUBLE } /* as above */
#define COUNTED                         { .type = AS_U64 } /* as above */
#define ONE                             { .type = AS_ONE }
#define VARIANTS                        ONE /* each has a value of its own */

#define LABELS(...)          ((const enum point_label[]){ __VA_ARGS__, POINT_LABELS_END })
#define L_NONE               NULL
#define L_ZONE               LABELS(POINT_ZONE, POINT_PACKAGE, POINT_SOURCE)
#define L_MODE               LABELS(POINT_PACKAGE, POINT_MODE, POINT_SOURCE)
#define L_ROW                LABELS(POINT_ROW_PACKAGE, POINT_MODE, POINT_SOURCE)
#define L_ROW_ZONE           LABELS(POINT_ZONE, POINT_ROW_PACKAGE, POINT_MODE, POINT_SOURCE)
#define L_TOTAL              LABELS(POINT_MODE, POINT_SOURCE)
#define L_UNIT_ENERGY        LABELS(POINT_MODE, POINT_SOURCE, POINT_UNIT)
#define L_UNIT               LABELS(POINT_UNIT)
#define L_CPU                LABELS(POINT_ACTIVITY_SOURCE)
#define L_NODE               LABELS(POINT_NODE_NAME)
#define L_CUT                LABELS(POINT_CUT_REASON)
#define L_CUR_ZONE           LABELS(POINT_ZONE, POINT_PATH, POINT_NODE_NAME)
#define L_CUR_ROW            LABELS(POINT_ZONE, POINT_ROW_PATH, POINT_NODE_NAME)
#define L_CUR_STATE          LABELS(POINT_STATE, POINT_ZONE, POINT_ROW_PATH, POINT_NODE_NAME)
#define L_GPU                LABELS(POINT_GPU, POINT_GPU_UUID, POINT_NODE_NAME)
#define L_GPU_ROW            LABELS(POINT_ROW_GPU, POINT_ROW_GPU_UUID, POINT_ROW_PATH,          \
                                    POINT_NODE_NAME)
#define L_GPU_STATE          LABELS(POINT_STATE, POINT_ROW_GPU, POINT_ROW_GPU_UUID,             \
                                    POINT_ROW_PATH, POINT_NODE_NAME)

/* So that increase() counts it from its start: docs/design/publication.md */
#define SETTLES              " A new series shows 0 at first (--metrics.settle)."
/* clang-format on */

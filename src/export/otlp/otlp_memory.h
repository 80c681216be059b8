/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the last request that a receiver took, and their values. From these follow the rows
 * that have ended since, and the energy that was added since (delta temporality). A request
 * that is on its way is staged; only what is delivered counts, so that nothing is lost with a
 * request that is not.
 *
 * It holds no snapshot: a receiver that is away for days must not keep the labels of all rows that
 * ended meanwhile. Bounded by the rows of two snapshots. Of one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/strbuf.h"
#include "snapshot/snapshot.h"

/* A row that is sent. */
struct otlp_entry {
	uint64_t serial;                    /* of its labels */
	uint32_t resource_at, resource_len; /* in the generation's texts */
	uint32_t table;                     /* which of the snapshot's tables: the caller's */
	int64_t created_ms;
	size_t values_at; /* in the generation's values */
	bool is_seen;     /* of a delivered one: it is in the staged request, too */
};

struct otlp_generation {
	struct otlp_entry *entries;
	size_t count, size;
	struct strbuf texts;
	uint64_t *values; /* of rows, and then of points */
	size_t value_count, value_size;
	uint32_t columns; /* values a row has; 0: none are remembered */
	struct otlp_point {
		uint64_t key, value;
	} * points; /* counters that are not of rows */
	size_t point_count, point_size;
	int64_t time_ms; /* of the snapshot */
};

struct otlp_memory {
	struct otlp_generation delivered, staged;
	struct map delivered_rows; /* table and serial → entry */
	bool failed;               /* without memory: the request must not be sent */
};

void otlp_memory_release(struct otlp_memory *memory);
/* Empties the stage for a request of a snapshot of @time_ms; @columns: as in the generation. */
void otlp_memory_begin(struct otlp_memory *memory, int64_t time_ms, uint32_t columns);
/* The delivered entry of the row, which is marked as seen; NULL: none. */
struct otlp_entry *otlp_memory_find(struct otlp_memory *memory, uint32_t table, uint64_t serial);
/* The delivered value of a column of @entry, which may be NULL; 0: none. */
uint64_t otlp_memory_value(const struct otlp_memory *memory, const struct otlp_entry *entry,
			   uint32_t column);
/* Stages a row with the bytes of its resource; where to write its values, or NULL: none. */
uint64_t *otlp_memory_stage(struct otlp_memory *memory, const struct otlp_entry *entry,
			    const char *resource);
/*
 * Stages a counter that is not of a row, under @key. True if the receiver has it, *ret_delivered
 * is its value there; else 0.
 */
bool otlp_memory_point(struct otlp_memory *memory, uint64_t key, uint64_t value,
		       uint64_t *ret_delivered);
/* The staged request was taken. Without memory nothing is known of it any more. */
void otlp_memory_deliver(struct otlp_memory *memory);

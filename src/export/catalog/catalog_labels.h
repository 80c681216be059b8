/* SPDX-License-Identifier: Apache-2.0 */
/* Where the walk stands, and what each label says there. */
#pragma once

#include "export/catalog/catalog.h"
#include "export/sink.h"

#define PACKAGE_LABEL_MAX (ZONE_INSTANCE_MAX + 16)

struct cursor {
	const struct catalog_view *view;
	const struct family *family;
	const void *base; /* what where.offset counts from */
	size_t index;     /* of the element, where that is an array */
	uint32_t zone_index;
	const struct snapshot_zone *zone; /* NULL outside zones; of an account, its first */
	uint32_t account_index;
	enum energy_mode mode;
	enum unattributed_reason reason;
	enum level level;
	bool ended; /* the row has */
	const struct variant *variant;
	const struct snapshot_cpu *cpu;
	const struct snapshot_row *row;
	const struct snapshot_unit *unit;
	bool has_namesake[ZONES_MAX]; /* another zone before it has its kind, instance and source */
	char package[PACKAGE_LABEL_MAX];
	char hw_id[ZONE_ID_MAX + 16];
	char activity_source[16]; /* "bpf", "procfs" */
	char cpu_number[3][11];   /* texts of *cpu */
	char device[11];
};

const char *label_name(enum point_label key);
/* To be called once, before labels are asked for: it compares all zones with each other. */
void cursor_find_namesakes(struct cursor *cursor);
/*
 * The texts of @keys, borrowed from the cursor and the snapshot; their number. Keys that say
 * nothing here are left out.
 */
size_t cursor_labels(struct cursor *cursor, const enum point_label *keys,
		     struct label_pair ret[POINT_LABELS_MAX]);

/* SPDX-License-Identifier: Apache-2.0 */
/* What the two passes of an extraction (extraction.c) gather, and rows are made of. */
#pragma once

#include "base/map.h"
#include "samples/extraction.h"
#include "samples/power_accounts.h"
#include "samples/sample_grid.h"

#define EXTRACT_SERIES_MAX   (1U << 21)
#define EXTRACT_OWNERS_MAX   (1U << 20)
#define EXTRACT_NODES_MAX    16
#define EXTRACT_MEMORY_MAX   (1024U * 1024 * 1024) /* of rows by owner */
#define EXTRACT_PACKAGES_MAX 64

/* A column of rates, or of a level's mean. */
struct feature_column {
	char name[METRIC_FEATURE_MAX];
	uint8_t rank;
	enum points_kind kind;
	int64_t step_us;    /* the shortest time between two points of a series */
	double *amounts[2]; /* by step; of the background */
	double *covered;    /* of a mean over series: how many series each step has */
};

struct tracked_series {
	struct counter_points points;
	enum metric_subject subject;
	uint32_t place; /* account, column, or package of a ratio */
	uint32_t cover, owner;
	double factor;
	bool background;
};

struct extract_owner {
	size_t name_at; /* in owners */
	bool background;
	double **amounts; /* [EXTRACT_FEATURES_MAX], each by step or NULL; with by_owner */
};

struct extract_work {
	const struct extract_options *options;
	struct extraction *result;
	struct diag *diag;
	struct sample_grid grid;
	int64_t step_us;
	struct power_accounts power;
	struct feature_column columns[EXTRACT_FEATURES_MAX];
	size_t column_count;
	struct feature_column frequency, node_type, steal; /* of the node, whatever the level */
	double *ratios[EXTRACT_PACKAGES_MAX];
	struct map by_labels, by_cover, by_owner;
	struct tracked_series *series;
	size_t series_count, series_size;
	struct grid_cover *covers;
	size_t cover_count, cover_size;
	struct extract_owner *owners;
	size_t owner_count, owner_size;
	size_t memory; /* bytes of rows by owner */
	/* The step before had power; its counters stood still, and had not before. */
	bool was_counted, stood_still;
	/* The first pass. */
	char nodes[EXTRACT_NODES_MAX][SAMPLE_NAME_MAX];
	size_t node_count;
	char seen_sources[8][SAMPLE_NAME_MAX];
	size_t seen_source_count;
	uint32_t current; /* series whose points come */
	bool has_current;
};

/* Makes the rows: 0, -ENOMEM, -ENOSPC. */
int extract_rows(struct extract_work *work);

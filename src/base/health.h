/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state that a part of the program reports about itself: a struct of the part's own, and the
 * metrics that show its members, as data. Both are next to the part's code:
 *
 *	struct foo_health {
 *		bool is_up;
 *		uint64_t requests;
 *	};
 *	extern const struct health_part foo_health_part;
 *
 *	static const struct health_metric metrics[] = {
 *		{ .name = "kepler_exporter_foo_up",
 *		  .type = FAMILY_GAUGE,
 *		  .value = HEALTH_VALUE(struct foo_health, is_up),
 *		  .help = "1 if foo responds, otherwise 0." },
 *		…
 *
 * One row in the program's table of parts (src/kepler/health_table.c) does the rest: each snapshot
 * then contains a filled struct, each format of the page shows it, and docs/metrics.md lists it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum family_type { FAMILY_COUNTER, FAMILY_GAUGE, FAMILY_INFO, FAMILY_HISTOGRAM };

enum value_type { AS_ONE, AS_U64, AS_U32, AS_I64, AS_BOOL, AS_DOUBLE };

/* Where a value is in its struct. A double that is NaN is unknown and has no point. */
struct health_value {
	uint16_t offset;
	uint8_t type; /* enum value_type; AS_ONE, which is 0: always 1 */
};

/* The type is the member's own; of an array of numbers, its elements'. */
#define HEALTH_VALUE(struct_, member)                                                              \
	{                                                                                          \
		.offset = offsetof(struct_, member),                                               \
		.type = _Generic(((struct_ *)0)->member, uint64_t                                  \
				 : AS_U64, uint32_t                                                \
				 : AS_U32, int64_t                                                 \
				 : AS_I64, bool                                                    \
				 : AS_BOOL, double                                                 \
				 : AS_DOUBLE)                                                      \
	}

/* A label; its value is an array of char in the same struct. */
struct health_label {
	const char *name;
	uint16_t offset;
};
#define HEALTH_LABELS_MAX 4

/* One of several points of a metric, with a fixed text as the value of its label. */
struct health_variant {
	const char *text; /* NULL ends the list */
	struct health_value value;
};

/* A metric that has points for each element of an array: its offsets are those in an element. */
struct health_array {
	uint16_t offset, element_size;
	uint16_t count_offset; /* of a uint32_t: the elements in use */
};

#define HEALTH_ARRAY(struct_, member, count_)                                                      \
	(&(const struct health_array){ .offset = offsetof(struct_, member),                        \
				       .element_size = sizeof(*((struct_ *)0)->member),            \
				       .count_offset = offsetof(struct_, count_) })

#define HEALTH_BUCKETS_MAX 12

struct health_histogram {
	uint64_t counts[HEALTH_BUCKETS_MAX]; /* one a bound, not cumulative */
	uint64_t count;                      /* includes values above the last bound */
	double sum;
};

/* @bounds: ascending, unused ones at the end are 0. */
void health_histogram_add(struct health_histogram *histogram,
			  const double bounds[HEALTH_BUCKETS_MAX], double value);

struct health_metric {
	const char *name; /* without _total and _info, which follow from the type */
	enum family_type type;
	const char *unit; /* the end of the name; NULL: none */
	const char *help;
	struct health_value value; /* of a histogram: where its struct health_histogram is */
	const struct health_label *labels; /* ends with one without a name; NULL: none */
	const char *variant_label;
	const struct health_variant *variants; /* NULL: one value */
	const struct health_array *array;      /* NULL: members of the part's struct */
	const double *bounds;                  /* [HEALTH_BUCKETS_MAX], of a histogram */
};

struct health_part {
	size_t size; /* of its struct */
	/*
	 * Fills the struct at @ret, which is zeroed, from the part @owner, for one snapshot and on
	 * the loop's thread. False: the part is not configured, and its metrics have no point.
	 */
	bool (*fill)(const void *owner, void *ret);
	const struct health_metric *metrics;
	size_t metric_count;
};

/* A part of the running program. @owner NULL: it does not exist here. */
struct health_source {
	const struct health_part *part;
	const void *owner;
};

/* The health of a part in a snapshot. @data NULL: its metrics have no point. */
struct health_block {
	const struct health_part *part;
	const void *data;
};

/* The memory that health_fill() needs. */
size_t health_size(const struct health_source *sources, size_t count);
/* Fills @memory, which is aligned for a uint64_t, with the blocks of all @sources. */
const struct health_block *health_fill(const struct health_source *sources, size_t count,
				       void *memory);
